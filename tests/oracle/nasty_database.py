"""Small feedback databases, made by rule from a seed, in which everything that can go wrong does.

The pools are small on purpose: the same people, prompts and answers meet again and again, so that changed minds, double
clicks, contested and condemned answers, votes on pairs, copies and conflicts are common. Some rows come without texts, as
the API sends them, and find them in `responses`, or not. Left out is only what the documents do not decide (three rows of
one id, trailing line breaks of comments, a real 1.0 in an untyped INTEGER column).
"""

import math
import random
import sqlite3
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.oracle.feedback_source import COLUMNS, RESPONSE_COLUMNS, SCALES
from tests.oracle.unseen_texts import UNSEEN

FIRST_DAY = datetime(2026, 1, 8, tzinfo=UTC)
DAYS = 9
KINDS = ("rating", "rating", "rating", "correction", "correction", "preference", "flag")
DROPPABLE = (
    "user_id",
    "response_timestamp",
    "comparison_basis",
    "flag_details",
    "conversation_context",
    "domain",
    "response_confidence",
    "escalated_to_claude",
    "processed",
    "training_format",
    "quality_weight",
    "processed_at",
    "created_at",
    "what_was_wrong",
    "correction_type",
)
PROMPTS = (
    "How do I centre a div?",
    "What is the capital of Österreich?",
    "Explain RAID 5\tplease",
    "İstanbul nüfusu kaç?",
    "Write a haiku about Straße and tea",
    "1+1",
    "ΟΔΟΣ ΑΣ ǅ Ω\u2126 \u1e9b\u0323 ﬁ",
    "",
)
CODE = "Try this:\n```\nif x:\n    y = 1\n```\nor  that:\n\n    z = 2\n"
ANSWERS = (
    "Use flexbox.",
    "Wien, naturally:\nthe café city.",
    "x = 1\n  y = 2",
    "It's 'quoted' and \"doubled\" \u2028 here\u0085and\u2029there \\\u2028",
    "2",
    "A much longer answer " + "that goes on " * 12,
    "ä" * 100,
    CODE,
    UNSEEN[1],
)
FIXES = ("é" * 100, "é" * 101, "ü" * 29, "ü" * 30, "ü" * 31, UNSEEN[0])
CONTEXTS = (None, None, None, "", "Earlier: hello", "EARLIER:   hello", "Earlier: bye")
USERS = ("u1", "u2", "u3", "Ü4", "default", "", None)
SESSIONS = ("s1", "s2", "s3", "S1", "default")
DOMAINS = ("code", "factual", "general", " Code ", "PLANNING", "cooking", "", None)
CORRECTION_TYPES = (
    None,
    "",
    "full_replacement",
    "FULL_REPLACEMENT ",
    "clarification",
    "partial_fix",
    "addition",
    "rewrite",
    "  ",
)
WRONGS = (
    None,
    "",
    "  ",
    "It was incomplete",
    "It was incomplete.",
    " Wrong? ",
    "Too long!",
    "é" * 50,
    "é" * 51,
    "Only one method was mentioned, and the other one, which is better, was not",
)
HARMFUL, FLAGS = ("harmful", " Harmful "), ("incorrect", "off_topic", "INCORRECT", "spam", "unhelpful")
COMMENTS = ("great!", "this is useless", "c" * 80, "c" * 81, "two\nlines", "two\r\nlines of it", "ß" * 80)


class BadText(bytes):
    """Bytes to be stored as TEXT though they are no UTF-8."""


BAD_TEXTS = (BadText(b"ab\xff"), BadText(b"\xed\xa0\x80"), BadText(b"\xc0\x80"), "nul\x00byte", b"\xff\xfe", b"a\x00b")
BAD_TIMES = (
    None,
    "2026-01-10",
    "soon",
    b"12",
    math.inf,
    -math.inf,
    0,
    -5.5,
    946684799.9,
    4102444800,
    4102444800.5,
    1e10,
    99999999999.0,
    1e14,
    1e18,
    2**63 - 1,
    -(2**63),
    1e11,
    1e300,
    BadText(b"\xff"),
)
BAD_VALUES: dict[str, tuple[Any, ...]] = {
    "timestamp": BAD_TIMES,
    "rating": (0, 2, 6, -1, 3, 1.5, "up", b"1", 2**63 - 1, -(2**63), math.inf, 1e300, None),
    "response_confidence": (1.5, -0.1, 2, "high", math.inf, b"0.5", 1.0000001, None, 2**62),
    "escalated_to_claude": (2, -1, 0.5, "yes", b"\x01", 2**63 - 1, None, math.inf),
    "processed": ("done", 0.25, b"x", None),
    "quality_weight": ("heavy", math.inf, b"1", None, 7, -1e300),
    "response_timestamp": ("then", math.inf, b"1", None, 1768000000123, 1e11, 99999999999.5, 2**63 - 1, -1.0),
    "processed_at": ("then", -math.inf, b"1", None, 1768000000123.5, 1e14, 0),
    "created_at": ("then", math.inf, b"1", None, 1768000000123, 3e11),
    "feedback_type": (
        None,
        "",
        "  ",
        "thumb",
        "RATING",
        " Flag",
        "preference\n",
        "\u00a0correction ",
        b"rating",
        5,
        *BAD_TEXTS,
    ),
    "feedback_id": (None, "", b"", 17, 1.25, *BAD_TEXTS),
    "response_id": (None, "", b"", b"r1", 17, 1.25, "r-unknown", "R1", "r1 ", *BAD_TEXTS),
    "session_id": (None, "", b"s1", 17, *BAD_TEXTS),
    "user_id": (None, "", b"u1", 17, *BAD_TEXTS),
}
BROKEN_RESPONSES: dict[str, tuple[Any, ...]] = {
    "timestamp": ("noon", math.inf, 0, 4102444800, 1e300, 4000000000.0),
    "confidence": (1.5, -0.1, "high", math.inf),
    "escalated": (2, -1, 0.5, "yes"),
    "query": (None, "", "  ", 17, *BAD_TEXTS),
    "response": (None, "", "\u3000", 2.5, *BAD_TEXTS),
    "session_id": (None, "", 17, *BAD_TEXTS),
}
BLANKS = ("", " ", "\n\t", "\u00a0", "\u3000\u2003", "\x1f", "\u200b")
TEXT_PROBLEMS = (None, *BLANKS, b"as a blob \xc3\xa9", 17, 2.5, *BAD_TEXTS)


@dataclass
class NastyFile:
    """One database file: its columns and rows, and a `responses` table or none."""

    columns: list[str]
    typed: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    responses: list[dict[str, Any]] | None = None


@dataclass
class NastyDatabase:
    """One to two files with the settings to read them with."""

    seed: int
    scale: str
    min_weight: float
    low_tier: str
    as_of: datetime | None
    split_key: str
    files: list[NastyFile]

    def write(self, folder: Path) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for number, file in enumerate(self.files):
            path = folder / f"feedback_{number}.db"
            write_file(file, path)
            paths.append(path)
        return paths


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Insert a row, invalid text included; one with a key that is taken is left out."""
    holders = ", ".join("cast(? as text)" if isinstance(v, BadText) else "?" for v in row.values())
    names = ", ".join(f'"{name}"' for name in row)
    values = [bytes(v) if isinstance(v, BadText) else v for v in row.values()]
    connection.execute(f"insert or ignore into {table} ({names}) values ({holders})", values)


def write_file(file: NastyFile, path: Path) -> None:
    kinds = {**COLUMNS, "feedback_id": "text primary key"} if file.typed else {}
    declared = ", ".join(f'"{name}" {kinds.get(name, "")}' for name in file.columns)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"create table feedback ({declared})")
        for row in file.rows:
            insert(connection, "feedback", {name: row.get(name) for name in file.columns})
        if file.responses is not None:
            kinds = RESPONSE_COLUMNS if file.typed else dict.fromkeys(RESPONSE_COLUMNS, "")
            connection.execute(
                f"create table responses ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})"
            )
            for row in file.responses:
                insert(connection, "responses", row)
    connection.close()


class Maker:
    """Makes the rows of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.scale = self.random.choice(("thumbs", "thumbs", "five"))
        self.ids = [f"r{n}" for n in range(1, self.random.choice((10, 40)))]
        self.about = {
            r: (self.random.choice(PROMPTS), self.random.choice(ANSWERS), self.random.choice(CONTEXTS))
            for r in self.ids
        }
        self.number = 0
        self.api_share, self.harmful_share = self.random.choice((0.0, 0.1, 0.4)), self.random.choice((0.0, 0.05, 0.3))
        self.kinds = self.random.choice((KINDS, KINDS, ("rating",) * 9 + KINDS))

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def restyle(self, prompt: str) -> str:
        """The same prompt in other clothes (G10), or nearly."""
        change = self.random.choice(
            (
                str,
                str,
                str,
                str.upper,
                str.lower,
                lambda t: t.replace(" ", " \u00a0 "),
                lambda t: f"\n{t} ",
                lambda t: unicodedata.normalize("NFD", t),
                lambda t: t.replace(" ", "\u200b "),
                str.swapcase,
            )
        )
        return change(prompt)

    def retouch(self, answer: str) -> str:
        """The same answer by G10, or one that differs by case or inner space only."""
        if answer in UNSEEN:
            return answer  # whether it still talks of an attempt would be another question
        change = self.random.choice(
            (
                str,
                str,
                str,
                str,
                lambda t: t + " ",
                lambda t: t.replace("\n", "\r\n"),
                lambda t: f"\t{t}\u00a0",
                lambda t: unicodedata.normalize("NFD", t),
                str.upper,
                lambda t: t.replace(" ", "  "),
                lambda t: t.replace("\n", "\r"),
                lambda t: t.replace("or  that", "or that"),
                lambda t: t.replace("    ", "     "),
            )
        )
        return change(answer)

    def time(self) -> Any:
        day = FIRST_DAY + timedelta(days=self.random.randrange(DAYS))
        seconds = day.timestamp()
        return self.random.choice(
            (
                seconds + 3600 * self.random.randrange(24),
                seconds + 43200,
                seconds + 43200,
                seconds + 43200.5,
                seconds + self.random.random() * 86400,
                seconds + 86399.999999,
                seconds + 86399.9999998,
                seconds + 0.0000004,
                seconds,
                int(seconds) + 5,
                (seconds + 3600) * 1000,
                int(seconds + 7200) * 1000 + 123,
            )
        )

    def row(self) -> dict[str, Any]:
        pick = self.random.choice
        self.number += 1
        response = pick(self.ids)
        prompt, answer, context = self.about[response]
        if self.chance(0.2):
            prompt, answer, context = pick(PROMPTS), pick(ANSWERS), pick(CONTEXTS)
        if self.chance(0.04):
            answer = pick(BLANKS)
        kind = pick(self.kinds)
        at = self.time()
        stars = SCALES[self.scale]
        row: dict[str, Any] = {
            "feedback_id": f"f{self.random.randrange(1000):03}-{self.number}",
            "response_id": response,
            "session_id": pick(SESSIONS),
            "user_id": pick(USERS),
            "timestamp": at,
            "response_timestamp": pick((None, 1767000000.25, 1767000000123)),
            "feedback_type": kind,
            "rating": pick(stars) if kind == "rating" or self.chance(0.3) else pick((1, 1, None)),
            "original_query": self.restyle(prompt),
            "original_response": self.retouch(answer),
            "conversation_context": context,
            "domain": pick(DOMAINS),
            "response_confidence": pick((None, 0, 1, 0.5, 0.8, 0.80001, 0.9, 0.333333)),
            "escalated_to_claude": pick((0, 0, 1, None)),
            "processed": pick((0, 0, 1, None)),
            "training_format": pick((None, "correction_analysis", "preference")),
            "quality_weight": pick((None, 0.5, 0.7)),
            "processed_at": pick((None, None, 1769000000.0)),
            "created_at": at,
            "mood": pick((None, 3, "good", 0.5)),
        }
        getattr(self, f"fill_{kind}")(row, answer)
        if self.chance(self.api_share):
            self.take_texts(row)
        return row

    def take_texts(self, row: dict[str, Any]) -> None:
        """What the API sends: a response_id and no texts."""
        for column in self.random.choice((("original_query", "original_response"),) * 3 + (("original_response",),)):
            row[column] = self.random.choice(("", "", "", " \n", None))
        if self.chance(0.7):
            row["conversation_context"] = row["response_timestamp"] = row["response_confidence"] = None

    def fill_rating(self, row: dict[str, Any], answer: str) -> None:
        if self.chance(0.05):
            row["correction"] = "stray"

    def fill_flag(self, row: dict[str, Any], answer: str) -> None:
        row["flag_type"] = self.random.choice(HARMFUL if self.chance(self.harmful_share) else FLAGS)
        row["flag_details"] = self.random.choice((None, "", "look"))

    def fill_preference(self, row: dict[str, Any], answer: str) -> None:
        row["preferred_response"] = self.retouch(self.random.choice((*ANSWERS, answer)))
        row["comparison_basis"] = self.random.choice((None, "", "tone", "b" * 30, "b" * 31))

    def fill_correction(self, row: dict[str, Any], answer: str) -> None:
        pick = self.random.choice
        if self.chance(0.4):
            row["correction"], row["correction_type"], row["what_was_wrong"] = (
                pick(COMMENTS),
                pick((None, "", " ")),
                pick((None, "")),
            )
            return
        row["correction"] = self.retouch(pick((*ANSWERS, answer, *FIXES)))
        row["correction_type"], row["what_was_wrong"] = pick(CORRECTION_TYPES), pick(WRONGS)

    def again(self, old: dict[str, Any]) -> dict[str, Any]:
        """A double click or a changed mind of the same voter."""
        self.number += 1
        row = {**old, "feedback_id": f"f{self.random.randrange(1000):03}-{self.number}"}
        if self.chance(0.6):
            row["timestamp"] = row["created_at"] = self.time()
        if self.chance(0.4):
            row["rating"] = self.random.choice(SCALES[self.scale])
        if self.chance(0.2):
            row["feedback_type"] = row["feedback_type"].upper() + " "
        if self.chance(0.2):
            row["domain"] = self.random.choice(DOMAINS)
        return row

    def reversed(self, old: dict[str, Any]) -> dict[str, Any]:
        """A preference that says the opposite, from somebody else."""
        self.number += 1
        better = old["preferred_response"] if old["feedback_type"] == "preference" else old["correction"]
        return {
            **old,
            "feedback_id": f"f{self.random.randrange(1000):03}-{self.number}",
            "user_id": self.random.choice(USERS),
            "feedback_type": "preference",
            "original_response": better,
            "preferred_response": self.retouch(old["original_response"]),
        }

    def seconded(self, old: dict[str, Any]) -> dict[str, Any]:
        """The same said by somebody else, elsewhere, or of another response."""
        self.number += 1
        row = {**old, "feedback_id": f"f{self.random.randrange(1000):03}-{self.number}"}
        row["user_id"], row["timestamp"] = self.random.choice(USERS), self.time()
        row["response_id"] = self.random.choice((old["response_id"], self.random.choice(self.ids)))
        return row

    def spoil(self, row: dict[str, Any]) -> None:
        column = self.random.choice(list(COLUMNS))
        row[column] = self.random.choice(BAD_VALUES.get(column, TEXT_PROBLEMS))
        if column == "timestamp" and self.chance(0.3):
            row["timestamp"] = datetime(2090, 5, self.random.randrange(1, 9), tzinfo=UTC).timestamp()

    def rows(self, count: int) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for _ in range(count):
            old = self.random.choice(made) if made else None
            if old and self.chance(0.2):
                made.append(self.again(old))
            elif (
                old
                and old["feedback_type"] in ("preference", "correction")
                and old["original_response"]
                and self.chance(0.4)
            ):
                made.append(self.reversed(old))
            elif old and self.chance(0.15):
                made.append(self.seconded(old))
            else:
                made.append(self.row())
        for row in made:
            for _ in range(self.random.choice((1, 1, 3)) if self.chance(0.12) else 0):
                self.spoil(row)
        return made

    def second_file(self, first: list[dict[str, Any]], count: int, shared: set[str]) -> list[dict[str, Any]]:
        """New rows, and copies of and conflicts with those of the first file."""
        made = self.rows(count)
        ids = [row for row in first if isinstance(row["feedback_id"], str) and len(row["feedback_id"]) > 4]
        for row in self.random.sample(ids, min(len(ids), count // 2)):
            twin = {
                **row,
                "processed": self.random.choice((0, 1, None)),
                "quality_weight": 0.125,
                "processed_at": 1769000000.0,
            }
            if self.chance(0.5):
                column = self.random.choice(("rating", "timestamp", "domain", "original_response", "user_id"))
                if column in shared:
                    changed = {
                        "rating": self.random.choice(SCALES[self.scale]),
                        "timestamp": self.time(),
                        "domain": "creative",
                        "original_response": "another",
                        "user_id": "u9",
                    }
                    twin[column] = changed[column]
            made.append(twin)
        self.random.shuffle(made)
        return made


def make(seed: int) -> NastyDatabase:
    """The nasty database of a seed."""
    maker = Maker(seed)
    pick = maker.random.choice
    columns = list(COLUMNS)
    if maker.chance(0.4):
        for name in maker.random.sample(DROPPABLE, maker.random.randrange(1, 4)):
            columns.remove(name)
    if maker.chance(0.4):
        columns += ["mood", "a b"]
    if maker.chance(0.3):
        maker.random.shuffle(columns)
    files = [NastyFile(columns, maker.chance(0.75), maker.rows(maker.random.randrange(50, 300)))]
    if maker.chance(0.5):
        fewer = [c for c in columns if c != "flag_details"] if maker.chance(0.3) else columns
        rows = maker.second_file(files[0].rows, maker.random.randrange(10, 100), set(fewer))
        files.append(NastyFile(list(fewer), maker.chance(0.75), rows))
    if maker.chance(0.5):
        for file in files:
            file.responses = make_responses(maker)
    # One plainly valid row on the last day, so that the newest day is beyond doubt.
    last = (FIRST_DAY + timedelta(days=DAYS, hours=-2)).timestamp()
    files[0].rows.append(
        {
            "feedback_id": "last",
            "response_id": "r1",
            "session_id": "s1",
            "timestamp": last,
            "feedback_type": "flag",
            "flag_type": "other",
            "original_query": "q",
            "original_response": "a",
            "created_at": last,
        }
    )
    as_of = pick(
        (
            None,
            None,
            FIRST_DAY + timedelta(days=DAYS),
            FIRST_DAY + timedelta(days=DAYS - 2, hours=12),
            FIRST_DAY + timedelta(days=DAYS + 60),
            FIRST_DAY + timedelta(days=DAYS + 300, microseconds=1),
        )
    )
    low_tier = pick(("augmentation", "augmentation", "train", "exclude"))
    least = pick((0.3, 0.3, 0.55, 0.9, 0.0))
    return NastyDatabase(seed, maker.scale, least, low_tier, as_of, pick(("gristmill", "k:ü")), files)


def make_responses(maker: Maker) -> list[dict[str, Any]]:
    """Most of the answers that were rated; the rest are orphans. Some rows are broken, or there twice."""
    left_out = maker.ids[maker.seed % len(maker.ids)]
    rows = []
    for n, key in enumerate(r for r in maker.ids if r != left_out or r == "r1"):
        query, response, _ = maker.about[key]
        row = {
            "response_id": key,
            "session_id": ("s1", "s2", "default", "s7", "s3")[n % 5],
            "query": query,
            "response": response,
            "timestamp": maker.random.choice((1767000000.0, 1767000000.0, 1767000000123, None)),
            "confidence": maker.random.choice((0.5, 0.95, None)),
            "escalated": maker.random.choice((0, 1, None)),
        }
        if maker.chance(0.25):
            column = maker.random.choice(list(BROKEN_RESPONSES))
            row[column] = maker.random.choice(BROKEN_RESPONSES[column])
        rows += [row, {**row, "query": "Another question?"}] if maker.chance(0.1) else [row]
    return rows + ([{"response_id": "", "query": "whose?"}] if maker.chance(0.3) else [])
