"""Conversations in plain Python, from the semantics alone (G, C1, C3-C6, N): what the tables about turns must hold.

Reads the source files itself, row by row. Only what a pair of messages means is asked of the detector's own functions.
"""

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.columns.similarity import load_model, similarities
from dagster_project.systems.conversations.implicit import detect
from dagster_project.systems.conversations.refers_back import refers_back

Row = dict[str, Any]
GAP = timedelta(minutes=30)
NUMBERS = ("turn_number", "timestamp", "quality_score", "feedback_confidence")
IDS = ("user_id", "session_id", "rejection_detected_in", "id")
REWRITTEN = ("user_feedback_status", "feedback_confidence", "rejection_detected_in", "quality_score")
STATUSES = ("rejected", "accepted", "neutral")
BASES = {"approve": Fraction(1, 2), "revise": Fraction(3, 10), "retry": Fraction(1, 10), "fail": Fraction(-1, 2)}


@dataclass
class Verdict:
    """What the pipeline must say at `as_of`."""

    as_of: datetime
    turns: dict[str, Row]
    daily: dict[str, Row]
    signals: dict[str, Row]
    machine: dict[str, tuple[str, str]]  # message -> (turn before it, kind), where the message does not point back
    refused: int
    copies: int = 0
    pointing: set[str] = field(default_factory=set)


def judge(files: Sequence[Path], as_of: datetime | None = None, threshold: float = 0.8) -> Verdict:
    kept: dict[str, dict[str, Row]] = {"turns": {}, "turn_index": {}}
    refused = copies = 0
    for table, rows_kept in kept.items():
        valid: dict[str, list[Row]] = defaultdict(list)
        for order, path in enumerate(files):
            for row in read(path, table):
                if row["is_bad"]:
                    refused += 1
                else:
                    valid[row["turn_key"]].append(row | {"order": order})
        for key, rows in valid.items():
            # F3: rows that agree are one; of others the latest counts, then the later file
            rows.sort(key=lambda row: (row["at"], row["order"], row["rowid"]), reverse=True)
            contents = [content(row) for row in rows]
            distinct = {text: place for place, text in reversed(list(enumerate(contents)))}
            rows_kept[key] = rows[0]
            refused += len(distinct) - 1
            copies += len(rows) - len(distinct)
    turns = list(kept["turns"].values())
    turns += [
        row for row in kept["turn_index"].values() if not any(is_copy(row, new) for new in kept["turns"].values())
    ]
    newest = max((row["at"].date() for row in turns), default=datetime.now(UTC).date())
    as_of = as_of or datetime.combine(newest + timedelta(days=1), datetime.min.time(), UTC)
    turns = [row for row in turns if row["at"] < as_of]
    judged = with_feedback(turns, as_of, threshold)
    found = {row["turn_key"]: row for row in judged}
    pointing = {row["turn_key"] for row, back in zip(judged, refers_back(texts(judged, "query")), strict=True) if back}
    return Verdict(as_of, found, daily(judged), signals(judged), machine(judged, pointing), refused, copies, pointing)


# --- reading ---------------------------------------------------------------------------------------------------------------


def read(path: Path, table: str) -> Iterable[Row]:
    """Every row of a table, typed or `is_bad`, with its texts."""
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        if not database.execute("select 1 from sqlite_master where name = ?", [table]).fetchone():
            return
        cursor = database.execute(f"select rowid as rowid_, * from {table}")
        names = [column[0] for column in cursor.description]
        has_both = database.execute(
            "select count(*) from sqlite_master where name in ('turns', 'turn_index')"
        ).fetchone() == (2,)
        stored = [dict(zip(names, values, strict=True)) for values in cursor]
    numbers = [row.get("turn_number") for row in stored]
    for values in stored:
        row, is_bad = typed(values)
        row |= {"rowid": values["rowid_"], "file": path.name, "is_bad": is_bad}
        row.setdefault("timestamp", row.get("created_at"))
        for name in ("user_id", "query", "response", "feedback_confidence", "doc_path"):
            row.setdefault(name, None)
        if not is_bad:
            find_texts(row, path.parent, numbers.count(values["turn_number"]) > 1)
            row["at"] = instant(row["timestamp"])
            row["is_bad"] = row["at"] is None or row["turn_number"] is None
        if not row["is_bad"]:
            row["user"], row["session"] = known(row["user_id"]), known(row["session_id"])
            nobody = f"{path.name}:turn_index" if has_both and table == "turn_index" else path.name
            row["turn_key"] = f"{row['user'] or nobody}/{row['turn_number']}"
        yield row


def typed(values: Row) -> tuple[Row, bool]:
    """G5: '' is null in this system; a wrong type, bad text or a number that is none refuses the row."""
    row: Row = {}
    is_bad = False
    for name, stored in values.items():
        value = stored
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError:
                is_bad = True
                value = None
            if isinstance(value, str) and "\0" in value:
                is_bad = True
        if value == "":
            value = None
        if value is None or name == "rowid_":
            pass
        elif name == "turn_number":
            is_bad |= not isinstance(value, int)
        elif name in NUMBERS:
            is_bad |= isinstance(value, str)
        elif name == "created_at":
            if isinstance(value, str):
                value = seconds_of(value)
                is_bad |= value is None
        elif name in IDS:
            is_bad |= isinstance(value, float)
            value = str(value)
        else:
            is_bad |= not isinstance(value, str)
        row[name] = value
    return row, is_bad


def seconds_of(text: str) -> float | None:
    if re.fullmatch(r"-?\d+(\.\d*)?", text):
        return float(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def instant(seconds: float | None) -> datetime | None:
    """G1."""
    if seconds is None:
        return None
    seconds = seconds / 1000 if 1e11 <= seconds < 1e14 else seconds
    if not 946_684_800 <= seconds < 4_102_444_800:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def known(value: str | None) -> str | None:
    return None if value in ("", "default", None) else value


def find_texts(row: Row, folder: Path, is_shared: bool) -> None:
    """sources.md: column, transcript, folder, topic. A folder is the user's own, or everyone's if nobody shares the number."""
    number = row["turn_number"]
    places = [folder / "users" / str(row["user_id"]) / "turns" / f"turn_{number:06}"] if number is not None else []
    if number is not None and not is_shared:
        places.append(folder / f"turn_{number:06}")
    place = next((place for place in places if place.is_dir()), None)
    metadata: Row = {}
    if place and (place / "metadata.json").exists():
        metadata = json.loads((place / "metadata.json").read_text())
    if row["timestamp"] is None:
        said = metadata.get("timestamp")
        row["timestamp"] = seconds_of(said) if isinstance(said, str) else said
    for name in ("validation_outcome", "quality_score"):
        row[name] = row[name] if row[name] is not None else metadata.get(name)
    for name in (
        "quality_score",
        "feedback_confidence",
    ):  # what is no fraction is nothing, and nothing stands in for it
        row[name] = row[name] if row[name] is None or 0 <= row[name] <= 1 else None
    row["user_feedback_status"] = row["user_feedback_status"] or (metadata.get("user_feedback") or {}).get("status")
    sources = [
        ("column", row["query"]),
        ("transcript", transcribed(row, folder)),
        ("folder", context(place)),
        ("topic", row["topic"]),
    ]
    row["query_source"], row["query"] = next(((name, text) for name, text in sources if text), (None, None))
    answers = [("column", row["response"]), ("folder", answer(place))]
    row["response_source"], row["response"] = next(((name, text) for name, text in answers if text), (None, None))


def transcribed(row: Row, folder: Path) -> str | None:
    """The line of the row's number, session and time; the generator writes no other."""
    for path in sorted((folder / "transcripts").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue
            key = (said["turn_number"], known(said["session_id"]), said["timestamp"])
            if key == (row["turn_number"], known(row["session_id"]), row["timestamp"]):
                return said["query"]
    return None


def context(place: Path | None) -> str | None:
    if place is None or not (place / "context.md").exists():
        return None
    found = re.search(
        r"^## 0\. User Query$(.*?)(?=^## \d+\.|\Z)", (place / "context.md").read_text(), re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else None


def answer(place: Path | None) -> str | None:
    return (place / "response.md").read_text().strip() if place and (place / "response.md").exists() else None


def content(row: Row) -> str:
    """F3: what two copies of a row must agree in."""
    ignored = (*REWRITTEN, "rowid", "rowid_", "file", "order", "at")
    return repr(sorted((name, value) for name, value in row.items() if name not in ignored))


def is_copy(old: Row, new: Row) -> bool:
    """One turn is one row: the older table has it under the same key, or of the same file, number, session and time."""
    if old["turn_key"] == new["turn_key"]:
        return True
    same = all(old[name] == new[name] for name in ("file", "turn_number", "session"))
    return same and old["user"] in (None, new["user"]) and abs((old["at"].date() - new["at"].date()).days) <= 1


# --- C1 to C5 ----------------------------------------------------------------------------------------------------------------


def with_feedback(turns: list[Row], as_of: datetime, threshold: float) -> list[Row]:
    threads: dict[tuple[str, str | None], list[Row]] = defaultdict(list)
    for row in turns:
        threads[f"user {row['user']}" if row["user"] else f"file {row['file']}", row["session"]].append(row)
    following: dict[str, Row] = {}
    for thread in threads.values():
        thread.sort(key=lambda row: (row["at"], row["turn_number"], row["turn_key"]))
        following |= {one["turn_key"]: two for one, two in pairwise(thread) if two["at"] - one["at"] <= GAP}
    told = [(row, following[row["turn_key"]]) for row in turns if has_text(following.get(row["turn_key"]))]
    verdicts = dict(zip((row["turn_key"] for row, _ in told), detected(told, threshold), strict=True))
    verdicts |= elsewhere(threads.values(), verdicts)
    for row in turns:
        after = following.get(row["turn_key"])
        silence = "no_text" if after else "open" if as_of - row["at"] < GAP else "session_end"
        nothing = {
            "feedback_status": "neutral",
            "feedback_confidence_": 0.5,
            "nominal_confidence": 0.5,
            "confidence_low": 0.0,
            "correction_type": None,
            "reason": silence,
            "similarity": None,
        }
        row.update(verdicts.get(row["turn_key"], nothing))
        row["after"] = after
        stored = (row["user_feedback_status"] or "").strip().lower()
        row["source_status"] = stored if stored in STATUSES else None
        row["is_disputed"] = None if row["source_status"] is None else row["source_status"] != row["feedback_status"]
        score(row)
    for number, thread in enumerate(threads.values()):
        in_a_row = 0
        for row in thread:
            in_a_row = in_a_row + 1 if row["feedback_status"] == "rejected" else 0
            row["consecutive_rejections"], row["thread"] = in_a_row, number
            row["user_said"] = row["after"]["query"] if in_a_row else None
            row["planner_note"] = planner_note(row) if in_a_row else None
    return turns


def planner_note(row: Row) -> str:
    """C8: seed 1's block, from what is known."""
    turns = [f"Turn {one['turn_number']}" for one in (row, row["after"])]
    said, strategy = (
        " ".join(re.split(r"[\t\n\v\f\r ]+", text or "")).strip()
        for text in (row["user_said"], row["strategy_summary"])
    )
    lines = ["### Previous Response Feedback", "**Status:** REJECTED"]
    lines += [f"**Detected:** {turns[1]} detected that {turns[0]} was rejected"]
    lines += [f'**User said:** "{said[:300]}"'] if said else []
    lines += [f"**Previous strategy:** {strategy}"] if strategy else []
    lines += ["", "**Instruction for Planner:**", f"- Do NOT reuse the strategy from {turns[0]}"]
    if (n := row["consecutive_rejections"]) >= 2:
        lines += [f"- {n} responses in a row were rejected: be more careful, consider asking back"]
    return "\n".join(lines)


def elsewhere(threads: Iterable[list[Row]], verdicts: dict[str, Row]) -> dict[str, Row]:
    """C6: what is said of a turn by a message that means an earlier one is not about it, if there is an earlier one."""
    found = {}
    for thread in threads:
        for (one, two), back in zip(pairwise(thread), refers_back(texts(thread[1:], "query")), strict=True):
            before = [row["at"] for row in thread if two["at"] - timedelta(days=365) <= row["at"] < two["at"]]
            said = verdicts.get(one["turn_key"])
            if (
                back
                and said
                and said["feedback_status"] != "neutral"
                and two["at"] - one["at"] <= GAP
                and len(before) > 1
            ):
                about_another = {"feedback_status": "neutral", "feedback_confidence_": 0.5, "nominal_confidence": 0.5}
                about_another |= {"confidence_low": 0.0, "correction_type": None}
                found[one["turn_key"]] = said | about_another | {"reason": "refers_back"}
    return found


def has_text(row: Row | None) -> bool:
    return row is not None and bool((row["query"] or "").strip())


def texts(rows: Iterable[Row], name: str) -> pl.Series:
    return pl.Series(name, [row[name] for row in rows], dtype=pl.String)


def detected(pairs: Sequence[tuple[Row, Row]], threshold: float) -> list[Row]:
    """C2 is the detector's; a query that is missing is an empty one to it, and alike to nothing."""
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    alike = similarities(texts(first, "query"), texts(second, "query"), load_model("wordllama"))
    asked = pl.DataFrame(
        {
            "prev_query": texts(first, "query").fill_null(""),
            "prev_response": texts(first, "response"),
            "next_message": texts(second, "query"),
            "similarity": alike.cast(pl.Float64),
            "prev_intent": texts(first, "intent"),
            "next_intent": texts(second, "intent"),
        }
    )
    said = detect(asked, threshold).rename({"feedback_confidence": "feedback_confidence_"})
    return said.with_columns(alike.alias("similarity")).to_dicts()


def score(row: Row) -> None:
    """C4, in exact arithmetic."""
    status, base = row["feedback_status"], BASES.get((row["validation_outcome"] or "").strip().lower())
    satisfaction = {
        "rejected": Fraction(-1),
        "accepted": min((base or Fraction(0)) + Fraction(1, 2), Fraction(1)),
        "neutral": base,
    }[status]
    weight = {"rejected": Fraction(-1), "accepted": Fraction(1, 2), "neutral": Fraction(0)}[status]
    row["satisfaction_score"] = satisfaction
    row["ranking_score"] = Fraction(3, 5) * Fraction(row["quality_score"] or 0) + Fraction(2, 5) * weight
    row["is_reusable"] = status != "rejected"


# --- what is made of it --------------------------------------------------------------------------------------------------------


def daily(turns: Iterable[Row]) -> dict[str, Row]:
    days: dict[str, list[Row]] = defaultdict(list)
    for row in turns:
        days[str(row["at"].date())].append(row)
    found = {}
    for day, rows in days.items():
        scores = [row["satisfaction_score"] for row in rows if row["satisfaction_score"] is not None]
        stored = [row for row in rows if row["source_status"]]
        disputed = sum(bool(row["is_disputed"]) for row in rows)
        counts = {f"{status}_count": sum(row["feedback_status"] == status for row in rows) for status in STATUSES}
        types = ("explicit", "rephrased", "abandonment")
        counts |= {f"{kind}_count": sum(row["correction_type"] == kind for row in rows) for kind in types}
        found[day] = counts | {
            "turn_count": len(rows),
            "session_count": len({row["thread"] for row in rows}),
            "rejected_rate": Fraction(counts["rejected_count"], len(rows)),
            "accepted_rate": Fraction(counts["accepted_count"], len(rows)),
            "mean_satisfaction": sum(scores, Fraction(0)) / len(scores) if scores else None,
            "satisfaction_count": len(scores),
            "repeated_rejection_sessions": len({row["thread"] for row in rows if row["consecutive_rejections"] >= 2}),
            "source_status_count": len(stored),
            "disputed_count": disputed,
            "disputed_rate": Fraction(disputed, len(stored)) if stored else None,
        }
    return found


def signals(turns: Iterable[Row]) -> dict[str, Row]:
    """N."""
    return {
        f"conversations:{row['turn_key']}": {
            "system": "conversations",
            "kind": row["feedback_status"],
            "subject_id": row["turn_key"],
            "answer_ref": row["turn_key"],
            "session_id": row["session"],
            "user_id": row["user"],
            "occurred_at": row["after"]["at"],
            "polarity": "negative" if row["feedback_status"] == "rejected" else "positive",
            "is_explicit": False,
            "confidence": row["feedback_confidence_"],
            "weight": row["feedback_confidence_"],
        }
        for row in turns
        if row["feedback_status"] != "neutral"
    }


def machine(turns: Iterable[Row], pointing: set[str]) -> dict[str, tuple[str, str]]:
    """C6's gate, for messages that do not point back: the target is the turn before them."""
    return {
        row["after"]["turn_key"]: (row["turn_key"], row["feedback_status"])
        for row in turns
        if row["feedback_status"] != "neutral"
        and row["feedback_confidence_"] >= 0.70
        and row["confidence_low"] >= 0.60
        and row["after"]["turn_key"] not in pointing
    }
