"""Made-up databases of reactions in which every hazard of sources.md occurs, and some more."""

import random
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.systems.reactions.reaction_database import (
    ABSENT,
    DECLARED,
    FORMS,
    Row,
    insert,
    iso,
    message,
    numbered,
    reaction,
    turn_log,
)

AS_OF = datetime(2026, 2, 1, tzinfo=UTC)
USERS = ("ann", "bob", "a:b/c d@é", "", "default", None)
TEXTS: tuple[Any, ...] = (
    "good",
    'it\'s "fine"',
    "",
    "   ",
    "\u00a0",
    "line\nbreak",
    "Ünï 😀",
    None,
    ": None",
    "{'a': None}",
    "back\\slash",
    "nul\0byte",
    5,
    True,
    ["x"],
    ABSENT,
)
REACTIONS: tuple[Any, ...] = ("ok", "not_ok", "neutral", None, " OK ", "Not_OK", "great", "", 1, False, ABSENT)
ORIGINS: tuple[Any, ...] = ("user", "machine", "User ", "MACHINE", "", None, "robot", 7, ABSENT)
CONFIDENCES: tuple[Any, ...] = (
    0.7,
    0.69999999,
    0.9,
    1,
    1.0,
    0,
    0.5,
    None,
    1.5,
    -0.1,
    "0.9",
    True,
    float("nan"),
    10**30,
    ABSENT,
)
TEXT_FORMS = (
    "not json at all",
    "",
    "[turn.log.reaction]",
    "[turn.log.reaction] [1, 2]",
    '"a text"',
    '{"reaction": "ok",}',
    "{'reaction': 'ok', 'origin': 'user', 'text': b'x'}",
    "{'reaction': __import__('os')}",
    '{"text": "\\ud83d"}',
    "{} junk",
    "[turn.log.reaction]{}",
    "null",
    '{"reaction": {"reaction": "ok"}, "payload": {"reaction": {"reaction": "not_ok"}}}',
    '{"payload": 3, "reaction": "ok", "origin": "user"}',
    '{"meta": {"origin": "machine"}, "confidence": 0.8, "text": "m"}',
    '{"meta": {"origin": 3}, "reaction": "ok"}',
    '{"meta": {"origin": null, "rn": ""}, "payload": {"meta": {"origin": "user"}}}',
)
TIMES: tuple[Any, ...] = (
    None,
    "yesterday",
    "1999-12-31T23:59:59.999999Z",
    "2000-01-01",
    "2099-12-31T23:59:59Z",
    "2100-01-01T00:00:00Z",
    "2090-05-05 05:05:05",
    1.7e12,
    1_769_000_000,
    1_769_000_000.123456,
    "2026-01-31T23:59:59.999999+00:00",
    "2026-02-01T00:00:00Z",
    "2026-02-01T01:00:00+02:00",
    -5,
    b"\xff",
    "2020-02-02T02:02:02Z",
)


def rows(seed: int, count: int = 400) -> list[Row]:
    """The same for the same seed."""
    chance = random.Random(seed)
    made: list[Row] = []
    for _ in range(count):
        kind = chance.random()
        turn = f"t{chance.randrange(6)}"
        common: Row = {
            "conversation_id": f"c{chance.randrange(6)}",
            "turn_id": turn,
            "user_id": chance.choice(USERS[: chance.choice((1, 3, 6))]),
            "ts": iso(
                AS_OF - timedelta(days=chance.choice((0.001, 1, 2.5, 9, 29.999, 30, 31)), seconds=chance.randrange(3))
            ),
            "ttl_days": chance.choice((365, 365, 30, 9, 0, None)),
            "message_id": chance.choice((f"m{chance.randrange(99)}", None)),
        }
        if kind < 0.08:
            made.append(message(**common, tags=chance.choice((["chat:user"], [], ["artifact:turn.log.reaction"]))))
        elif kind < 0.25:
            made.append(turn_log(**common, **chance.choice(({}, {}, {"role": "assistant"}))))
        elif kind < 0.30 and made:
            made.append(dict(chance.choice(made)))  # word for word
        else:
            made.append(_damaged(chance, _reaction(chance, common)))
    return made


def _reaction(chance: random.Random, common: Row) -> Row:
    if chance.random() < 0.06:
        return reaction(**common) | {"text": chance.choice(TEXT_FORMS)}
    is_tidy = chance.random() < 0.75
    tidy = 3 if is_tidy else 100
    fields = {
        "text_": chance.choice(TEXTS[:tidy]),
        "reaction_": chance.choice(REACTIONS[: 4 if is_tidy else 100]),
        "origin_": chance.choice(ORIGINS[: 2 if is_tidy else 100]),
        "confidence_": chance.choice(CONFIDENCES[: 8 if is_tidy else 100]),
    }
    form = chance.choice(FORMS)
    if form == "repr":  # what no repr of these would be read back as
        fields = {name: None if value != value or isinstance(value, list) else value for name, value in fields.items()}  # noqa: PLR0124
    meta = chance.choice(
        (None, None, {"rn": f"ef:{chance.randrange(9)}"}, {"origin": chance.choice(("machine", "user", "bot", ""))})
    )
    tag = chance.choice(("artifact:turn.log.reaction", "kind:turn.log.reaction"))
    row = reaction(form, meta, tag, **common, **fields)
    if chance.random() < 0.3:
        row["tags"] = [
            *row["tags"],
            chance.choice(("origin:user", "origin:machine", "origin:", "origin:bot", "track:A")),
        ]
    return row


def _damaged(chance: random.Random, row: Row) -> Row:
    damage = chance.random()
    if damage < 0.08:
        row = row | {"ts": chance.choice(TIMES)}
    elif damage < 0.16:
        name = chance.choice(
            ("turn_id", "turn_id", "conversation_id", "text", "ttl_days", "role", "message_id", "user_id")
        )
        values: dict[str, tuple[Any, ...]] = {
            "text": (None, b"\xff\xfe", "nul\0byte"),
            "ttl_days": ("soon", 1.5, -3, 10**15),
            "role": (" Artifact", "user", None),
            "turn_id": (None, "", 12, "nul\0"),
            "conversation_id": (None, "", 17, b"\xff"),
            "message_id": (b"\xff", 5),
            "user_id": (12,),
        }
        row = row | {name: chance.choice(values[name])}
    elif damage < 0.20:
        row = row | {
            "tags": chance.choice(
                (
                    ["artifact:turn.log.reaction"],
                    ["artifact:turn.log.reaction", "turn:"],
                    ["kind:turn.log.reaction", "turn:tag é"],
                    ["artifact:turn.log.reaction.other", "turn:x"],
                    ["artifact:turn.log", "kind:turn.log.reaction"],
                )
            ),
            "turn_id": chance.choice((row["turn_id"], None)),
        }
    return row


def write(path: Path, seed: int, count: int = 400) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    chance = random.Random(f"ids {seed}")
    made = numbered(rows(seed, count))
    ids = sorted(chance.sample(range(1, 10 * count), len(made)))
    made = [row | {"id": number} for row, number in zip(made, ids, strict=True)]
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table conv_messages ({DECLARED})")
        for row in made:
            insert(database, [row])
            raw = [name for name, value in row.items() if isinstance(value, bytes) and value != b"\x00\xff"]
            for name in raw if chance.random() < 0.5 else ():  # bytes that pretend to be text
                database.execute(f"update conv_messages set {name} = cast({name} as text) where id = ?", [row["id"]])
        database.commit()
    return path
