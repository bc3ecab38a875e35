"""Writes a made-up source of reactions, `reactions.db`: chat messages, turn logs and what users and the machine say of turns."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from dagster_project.demo.database import NewDatabase
from dagster_project.demo.dirt import RawText
from dagster_project.demo.followed_turn import FollowedTurn
from dagster_project.demo.incident import Incident
from dagster_project.demo.reactions.hazards import HAZARDS
from dagster_project.demo.timeline import LAST_DAY, start_times

FILE = "reactions.db"
DAYS = 90
BATCH_ROWS = 20_000
FEWEST_REACTIONS = 300  # below that nothing dirty is planted
HAZARD_EVERY = 35
MOST_IN_BENCH = 5  # of each hazard: a dirty row costs its whole stretch a careful reading
COLUMNS = tuple(
    """
    id user_id bundle_id agent_id conversation_id message_id role text hosted_uri ts ttl_days user_type tags
    embedding turn_id anchors_text search_tsv track_id
""".split()
)
GOOD = (
    "Great explanation!",
    "Ah, the previous diagram also worked fine. It was my issue.",
    "Exactly what I needed.",
    "That's it, thanks :)",
    "Works now.",
    "Clear and short, just how I like it.",
    "Danke, perfekt!",
    "",
    "",
)
BAD = (
    "This doesn't compile.",
    'It still says "permission denied".',
    "Wrong customer, I meant the one in Graz.",
    "You ignored the second half of my question.",
    "The link is dead.",
    "No, that's the old price list.",
    "",
)
MIXED = ("Fine, I suppose.", "Half of it is useful.", "Too long; didn't read all of it.", "", "ok…")
SAID = {"ok": GOOD, "not_ok": BAD, "neutral": MIXED, None: MIXED}
QUESTIONS = (
    "How do I rotate the API key?",
    "Draw the login flow as a diagram.",
    "Summarise the call with Meyer.",
    "What changed since Monday?",
)
ANSWERS = (
    "Open Settings, then Keys, and press Rotate.",
    "Here is the diagram you asked for.",
    "They want a quote until Friday.",
)
# What happens on a turn, how often, and how many reactions that makes.
PATTERNS = {
    "user": (62, 1),
    "machine": (17, 1),
    "unsure_machine": (4, 1),
    "silent_machine": (2, 1),
    "machine_copy": (2, 2),
    "changed_mind": (4, 2),
    "changed_mind_twice": (1, 3),
    "cleared": (2, 2),
    "both": (4, 2),
    "unknown_origin": (1, 1),
    "machine_says_nothing": (1, 1),
}

Row = dict[str, Any]
Plan = tuple[float, str | None, str | None, float | None, str | None]  # delay, reaction, origin, confidence, comment


def write_reactions(
    folder: Path, reactions: int, seed: int, *, turns: Sequence[FollowedTurn] = (), is_bench: bool = False
) -> dict[str, int]:
    """Write `reactions.db` with exactly `reactions` reactions and say how often each thing was planted.

    With `turns` of `conversations.db`, as many of them are about those. With `is_bench` chat messages are few.
    """
    maker = _Maker(reactions, seed, is_bench, sorted(turns, key=lambda turn: turn.asked_at)[:reactions])
    with closing(NewDatabase(folder / FILE, "reactions/tables.sql")) as file:
        for rows in maker.batches():
            file.insert("conv_messages", rows, len(COLUMNS))
        for number in maker.raw_texts:
            file.execute("update conv_messages set text = cast(text as text) where id = ?", (number,))
    return dict(maker.planted)


class _Maker:
    def __init__(self, reactions: int, seed: int, is_bench: bool, linked: list[FollowedTurn]) -> None:
        self.chance = Random(f"reactions {seed}")
        self.incident = Incident(LAST_DAY)
        self.is_bench = is_bench
        self.linked = linked
        self.planted: Counter[str] = Counter()
        self.raw_texts: list[int] = []
        self.wanted = reactions - len(linked)
        self.users = [_user_id(number, self.chance) for number in range(max(5, reactions // 40))]
        self.next_id = 1
        self.reaction_number = 0
        self.waiting: list[tuple[Any, ...]] = []

    def batches(self) -> Iterator[list[tuple[Any, ...]]]:
        patterns = list(self._patterns())
        times = start_times(len(patterns), DAYS, LAST_DAY, self.chance)
        linked = iter(self.linked)
        following = next(linked, None)
        left, conversation, user = 0, "", ""
        for number, (pattern, when) in enumerate(zip(patterns, times, strict=True)):
            while following is not None and following.asked_at < when:
                self._linked_turn(following)
                following = next(linked, None)
            if left == 0:
                left = self.chance.randrange(1, 6)
                conversation, user = f"{self.chance.getrandbits(64):016x}-{number:06x}", self.chance.choice(self.users)
            left -= 1
            self._turn(number / len(patterns), pattern, when, conversation, user)
            if len(self.waiting) >= BATCH_ROWS:
                yield self.waiting
                self.waiting = []
        while following is not None:
            self._linked_turn(following)
            following = next(linked, None)
        self.planted["reactions"] = self.reaction_number
        self.planted["rows"] = self.next_id - 1
        yield self.waiting

    def _patterns(self) -> Iterator[str]:
        names, weights = list(PATTERNS), [weight for weight, _ in PATTERNS.values()]
        left = self.wanted
        while left > 0:
            for name in self.chance.choices(names, weights, k=1000):
                size = PATTERNS[name][1]
                if size > left:
                    continue
                yield name
                self.planted[name] += 1
                left -= size
                if left == 0:
                    return

    def _linked_turn(self, turn: FollowedTurn) -> None:
        """Most people press what they say next; who is content does so more reliably."""
        common: Row = {"user_id": turn.user_id, "conversation_id": turn.session_id, "turn_id": turn.turn_id}
        self._log(common, turn.asked_at + 5)
        agrees = self.chance.random() < (0.9 if turn.is_rejected else 0.95)
        reaction = "not_ok" if turn.is_rejected == agrees else "ok"
        self._reaction(0.9, common, turn.asked_at + 60, reaction, "user")
        self.planted["about_a_turn_of_conversations"] += 1

    def _turn(self, age: float, pattern: str, when: float, conversation: str, user: str) -> None:
        turn_id = f"turn_{int(when * 1000)}_{self.chance.getrandbits(30):06x}"
        common: Row = {"user_id": user, "conversation_id": conversation, "turn_id": turn_id}
        if not self.is_bench or self.chance.random() < 0.05:
            self._message(common, when, "user", self.chance.choice(QUESTIONS))
            self._message(common, when + 4, "assistant", self.chance.choice(ANSWERS))
        if self.chance.random() < 0.03:
            self.planted["orphan_turn"] += 1
        else:
            self._log(common, when + 5)
        after = when + 10 + self.chance.random() * 600
        bad_model = self.incident.share(when)
        choice = self.chance.choices(("ok", "not_ok", "neutral"), (6.5 - 3 * bad_model, 2.5 + 3 * bad_model, 1))[0]
        plan = self._users_plan(pattern, choice) + self._machines_plan(pattern, choice)
        for delay, reaction, origin, confidence, text in plan:
            self._reaction(age, common, after + delay, reaction, origin, confidence, text)

    def _users_plan(self, pattern: str, choice: str) -> list[Plan]:
        """What a user says of a turn, and when: each replaces what was said before, though its row is still there."""
        words = ("ok", "not_ok", "neutral")
        if pattern.startswith("changed_mind"):
            first = self.chance.randrange(3)
            return [(60 * n, words[(first + n) % 3], "user", None, None) for n in range(PATTERNS[pattern][1])]
        if pattern == "cleared":
            return [(0, choice, "user", None, None), (30, None, "user", None, None)]
        return [(0, choice, "user", None, None)] if pattern in ("user", "both") else []

    def _machines_plan(self, pattern: str, choice: str) -> list[Plan]:
        sure, unsure = round(0.7 + 0.3 * self.chance.random(), 3), round(0.69 * self.chance.random(), 3)
        text = self.chance.choice([text for text in SAID[choice] if text])
        plans: dict[str, list[Plan]] = {
            "machine": [(0, choice, "machine", sure, text)],
            "both": [(90, choice, "machine", sure, text)],
            "unsure_machine": [(0, choice, "machine", unsure, text)],
            "silent_machine": [(0, choice, "machine", sure, " ")],
            "machine_copy": [(0, choice, "machine", sure, text)] * 2,
            "machine_says_nothing": [(0, None, "machine", sure, text)],
            "unknown_origin": [(0, choice, None, None, None)],
        }
        return plans.get(pattern, [])

    # --- rows ----------------------------------------------------------------------------------------------------

    def _message(self, common: Row, when: float, role: str, text: str) -> None:
        tags = [f"chat:{role}", f"turn:{common['turn_id']}"]
        self._add({**common, "role": role, "text": text, "ts": _iso(when), "tags": tags, "embedding": b"\x00\x3f" * 8})

    def _log(self, common: Row, when: float) -> None:
        tags = ["kind:turn.log", "artifact:turn.log", f"turn:{common['turn_id']}"]
        self._add({**common, "role": "artifact", "text": "# Turn log", "ts": _iso(when), "tags": tags})

    def _reaction(
        self,
        age: float,
        common: Row,
        when: float,
        reaction: str | None,
        origin: str | None,
        confidence: float | None = None,
        text: str | None = None,
    ) -> None:
        chance, turn_id, number = self.chance, common["turn_id"], self.reaction_number
        self.reaction_number += 1
        draw = chance.random()
        said: Row = {
            "turn_id": turn_id,
            "text": chance.choice(SAID[reaction]) if text is None else text,
            "confidence": 1.0 if confidence is None else confidence,
            "ts": _iso(when),
            "reaction": reaction,
        }
        tags = ["artifact:turn.log.reaction", f"turn:{turn_id}"]
        if age < 0.3 and draw < 0.2:
            tags[0] = "kind:turn.log.reaction"
            self.planted["historical_tag"] += 1
        meta: Row = {}
        if origin is not None:
            place = "field" if draw < 0.94 else "meta" if draw < 0.97 and age >= 0.3 else "tag"
            if place == "field":
                said["origin"] = origin
            elif place == "meta":
                meta["origin"] = origin
            tags.append(f"origin:{origin}")
            if place != "field":
                self.planted[f"origin_in_{place}"] += 1
        row: Row = {**common, "role": "artifact", "ts": _iso(when), "tags": [*tags, "track:A"]}
        row["message_id"] = f"artifact-{row['ts'][:19].replace(':', '-')}-{number:x}"
        if 0.5 < draw < 0.52:
            row["turn_id"] = None
            self.planted["no_turn_column"] += 1
        if 0.6 < draw < 0.64:
            row["ttl_days"] = (7, 30)[number % 2]
            self.planted["short_lived"] += 1
        if age >= 0.8 and draw > 0.5 and origin is not None:
            where = f"{quote(common['user_id'], safe='')}:{common['conversation_id']}:{turn_id}"
            meta["rn"] = f"ef:demo:assistant:chatbot:message:{where}:artifact:{row['message_id']}"
        self._damage(row, said)
        row.setdefault("text", self._text(age, draw, said, meta))
        self._add(row)

    def _text(self, age: float, draw: float, said: Row, meta: Row) -> str:
        if meta:
            self.planted["text_nested"] += 1
            whole = {"reaction": said, "meta": meta, "bundle_id": "with.codegen"}
            return json.dumps({"payload": whole} if draw > 0.9 else whole, ensure_ascii=False)
        if age < 0.3:
            self.planted["text_repr"] += 1
            return f"[turn.log.reaction] {said!r}"
        form = "text_json" if age < 0.7 else "text_bare"
        self.planted[form] += 1
        return ("[turn.log.reaction] " if form == "text_json" else "") + json.dumps(said, ensure_ascii=False)

    def _damage(self, row: Row, said: Row) -> None:
        number, names = self.reaction_number, list(HAZARDS)
        if self.wanted < FEWEST_REACTIONS or number % HAZARD_EVERY:
            return
        name = names[number // HAZARD_EVERY % len(names)]
        if self.is_bench and self.planted[name] >= MOST_IN_BENCH:
            return
        damage: Callable[[Row, Row], None] = HAZARDS[name]
        damage(row, said)
        self.planted[name] += 1

    def _add(self, row: Row) -> None:
        number = self.next_id
        self.next_id += 1
        text = row["text"]
        if type(text) is RawText:
            text = bytes(text)
            self.raw_texts.append(number)
        self.waiting.append(
            (
                number,
                row["user_id"],
                "with.codegen",
                None,
                row["conversation_id"],
                row.get("message_id", f"m-{number:x}"),
                row["role"],
                text,
                None,
                row["ts"],
                row.get("ttl_days", 365),
                "registered",
                json.dumps(row["tags"]),
                row.get("embedding"),
                row["turn_id"],
                None,
                None,
                "A",
            )
        )


def _user_id(number: int, chance: Random) -> str:
    if number % 9 == 4:
        return "default" if number == 4 else f"auth0|{chance.getrandbits(40):010x}"
    return f"person{number}@example.com" if number % 7 == 3 else f"{chance.getrandbits(64):016x}"


def _iso(when: float) -> str:
    return datetime.fromtimestamp(round(when, 3), UTC).isoformat().replace("+00:00", "Z")
