"""Which reactions are refused, which count and what they add up to, written from semantics R and sources.md alone.

Reads SQLite with the standard library and knows nothing of the pipeline: plain loops over plain rows.
"""

import ast
import json
import math
import re
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

Row = dict[str, Any]
TAGS = {"artifact:turn.log.reaction", "kind:turn.log.reaction"}
INTEGERS, IDS = ("id", "ttl_days"), ("user_id", "conversation_id", "message_id", "turn_id", "bundle_id", "track_id")
TEXTS = ("role", "text", "hosted_uri", "user_type", "tags")
FIRST, END = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


@dataclass
class Answers:
    """Refused rows by rowid, kept ones, and what is said of those before as_of."""

    read: int = 0
    refused: dict[int, list[str]] = field(default_factory=dict)
    kept: dict[int, Row] = field(default_factory=dict)
    reactions: dict[int, Row] = field(default_factory=dict)
    daily: dict[date, Row] = field(default_factory=dict)


def judge(path: Path, as_of: datetime, tenant: str | None = None, project: str | None = None) -> Answers:
    answers, logs = Answers(), set()
    for rowid, row, problems in stored(path):
        tags = tags_of(row)
        is_reaction = isinstance(row["role"], str) and row["role"].strip().lower() == "artifact" and TAGS & set(tags)
        if is_reaction:
            answers.read += 1
            row, reasons = understood(row, tags, problems, tenant, project)  # noqa: PLW2901
            if reasons:
                answers.refused[rowid] = sorted(reasons)
            else:
                answers.kept[rowid] = row
        elif "artifact:turn.log" in tags and not problems.keys() & {
            "id",
            "user_id",
            "conversation_id",
            "ts",
            "turn_id",
        }:
            turn = row["turn_id"] or tagged(tags, "turn:")
            if row["conversation_id"] and turn and moment(row["ts"]) is not None:
                logs.add((str(row["conversation_id"]), str(turn)))
    answers.reactions = counted({n: r for n, r in answers.kept.items() if r["occurred_at"] < as_of}, logs, as_of)
    answers.daily = per_day(answers.reactions.values())
    return answers


def stored(path: Path) -> list[tuple[int, Row, dict[str, str]]]:
    """Every row with its values as Python's, and per column what is wrong with its type or bytes (G5)."""
    found = []
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        names = [row[1].decode() for row in database.execute("pragma table_info(conv_messages)")]
        for rowid, *values in database.execute("select rowid, * from conv_messages"):
            kinds = database.execute(
                f"select {', '.join(f'typeof({name})' for name in names)} from conv_messages where rowid = ?", [rowid]
            ).fetchone()
            row, problems = {}, {}
            for name, value, kind in zip(names, values, (kind.decode() for kind in kinds), strict=True):
                row[name], problem = typed(name, value, kind)
                if problem:
                    problems[name] = problem
            found.append((rowid, {"track_id": None, **row}, problems))
    return found


def typed(name: str, value: Any, kind: str) -> tuple[Any, str | None]:
    if kind == "null" or name in ("embedding", "search_tsv", "anchors_text", "agent_id"):
        return None, None
    if kind in ("text", "blob"):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return None, f"{'bad_text' if kind == 'text' and name != 'ts' else 'wrong_type'}:{name}"
        if "\0" in value and (name in IDS or name in TEXTS):
            return value, f"bad_text:{name}"
    if name == "ts":
        is_number = isinstance(value, int | float) or re.fullmatch(r"-?[0-9.]+(e[+-]?[0-9]+)?", value)
        is_time = is_number or (kind == "text" and moment(value) is not None)
        return value, None if is_time else "wrong_type:ts"
    is_right = {True: isinstance(value, int), False: isinstance(value, str)}[name in INTEGERS]
    is_right |= name in IDS and isinstance(value, int)
    return (value, None) if is_right else (None, f"wrong_type:{name}")


def moment(value: Any) -> datetime | None:
    """G1. Null also for what is out of range of `datetime`."""
    if value is None:
        return None
    try:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9.]+(e[+-]?[0-9]+)?", value):
            value = float(value)  # a number that a column of texts stores as one
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        seconds = value / 1000 if 1e11 <= value < 1e14 else value
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def tags_of(row: Row) -> list[str]:
    try:
        tags = json.loads(row["tags"] or "[]")
    except ValueError:
        return []
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def tagged(tags: list[str], prefix: str) -> str | None:
    found = [tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)]
    return (found[0] or None) if found and found[0].strip() else None


def parsed(text: str) -> Any:
    """JSON, else a Python literal; anything but an object is nothing."""
    body = text.strip()
    if body.startswith("[turn.log.reaction]"):
        body = body.removeprefix("[turn.log.reaction]").strip()
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(body)
            json.dumps(found, ensure_ascii=False).encode()  # what UTF-8 or JSON cannot say is nothing either
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


def unfolded(text: Any) -> tuple[Row | None, Row]:
    """The reaction's own object, wherever it lies, and what is said about it."""
    whole = parsed(text) if isinstance(text, str) else None
    if whole is None:
        return None, {}
    payload = whole.get("payload") if isinstance(whole.get("payload"), dict) else {}
    metas = [place.get("meta") for place in (payload, whole)]
    meta = {
        name: value for said in metas if isinstance(said, dict) for name, value in said.items() if value is not None
    }
    inner = [place for place in (payload.get("reaction"), whole.get("reaction"), whole) if isinstance(place, dict)]
    return inner[0], meta


def text_of(values: Row, name: str, reasons: set[str]) -> str | None:
    value = values.get(name)
    if value is None or isinstance(value, str):
        return value
    reasons.add(f"wrong_type:{name}")
    return None


def origin_of(said: Row, meta: Row, tags: list[str], reasons: set[str]) -> str | None:
    """R2."""
    found = text_of(said, "origin", reasons)
    if not (found or "").strip():
        found = text_of(meta, "origin", reasons)
    if not (found or "").strip():
        found = tagged(tags, "origin:")
    found = found.strip().lower() if found else None
    if found not in (None, "user", "machine"):
        reasons.add("unknown:origin")
    return found


def confidence_of(value: Any, reasons: set[str]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        reasons.add("wrong_type:confidence")
        return None
    if value is not None and not math.isfinite(value):
        reasons.add("not_finite:confidence")
    elif value is not None and not 0 <= value <= 1:
        reasons.add("out_of_range:confidence")
    return value


def turn_of(row: Row, said: Row, tags: list[str]) -> str | None:
    inner = said.get("turn_id")
    inner = inner if isinstance(inner, str | int) and not isinstance(inner, bool) else None
    found = next((str(turn) for turn in (row["turn_id"], inner) if turn is not None and str(turn).strip()), None)
    return found or tagged(tags, "turn:")


def resource_name(row: Row, meta: Row, turn: str | None, tenant: str | None, project: str | None) -> str | None:
    if isinstance(meta.get("rn"), str) and meta["rn"].strip():
        return meta["rn"]
    parts = [tenant, project, row["user_id"], row["conversation_id"], turn, row["role"], row["message_id"]]
    if any(part is None for part in parts):
        return None
    parts[2] = quote(str(row["user_id"]), safe="")
    return "ef:{}:{}:chatbot:message:{}:{}:{}:{}:{}".format(*parts)


def understood(
    row: Row, tags: list[str], problems: dict[str, str], tenant: str | None, project: str | None
) -> tuple[Row, set[str]]:
    reasons = set(problems.values())
    said, meta = unfolded(None if "text" in problems else row["text"])
    if said is None and row["text"] is not None and "text" not in problems:
        reasons.add("bad_json:text")
    said = said or {}
    comment, reaction = text_of(said, "text", reasons), text_of(said, "reaction", reasons)
    if comment is not None and "\0" in comment:
        reasons.add("bad_text:text")
    reaction = None if reaction is None else reaction.strip().lower()
    if reaction not in (None, "ok", "not_ok", "neutral"):
        reasons.add("unknown:reaction")
    origin = origin_of(said, meta, tags, reasons)
    confidence = confidence_of(said.get("confidence"), reasons)
    if confidence is None and origin == "user":
        confidence = 1.0
    turn, occurred_at = turn_of(row, said, tags), moment(row["ts"])
    needed = {name: row[name] for name in ("id", "ts", "text")}
    needed |= {"conversation_id": None if row["conversation_id"] == "" else row["conversation_id"], "turn_id": turn}
    reasons |= {f"missing:{name}" for name, value in needed.items() if value is None and name not in problems}
    if row["ts"] is not None and "ts" not in problems and not (occurred_at and FIRST <= occurred_at < END):
        reasons.add("out_of_range:ts")
    return {
        "id": row["id"],
        "user_id": None if row["user_id"] in (None, "", "default") else str(row["user_id"]),
        "conversation_id": str(row["conversation_id"]),
        "turn_id": turn,
        "origin": origin,
        "reaction": reaction,
        "confidence": confidence,
        "text": comment,
        "occurred_at": occurred_at,
        "ttl_days": row["ttl_days"],
        "rn": resource_name(row, meta, turn, tenant, project),
    }, reasons


def counted(rows: dict[int, Row], logs: set[tuple[str, str]], as_of: datetime) -> dict[int, Row]:
    """R1, R4."""
    latest: dict[tuple[Any, ...], int] = {}
    for row in rows.values():
        if row["origin"] == "user":
            latest[voice(row)] = max(latest.get(voice(row), row["id"]), row["id"])
    seen: set[tuple[Any, ...]] = set()
    judged = {}
    for rowid, row in sorted(rows.items(), key=lambda item: item[1]["id"]):
        why = {"user": users_reason, "machine": machines_reason}.get(row["origin"], lambda *_: None)(row, latest, seen)
        why = why or ("expired" if is_over(row, as_of) else None)
        is_orphan = (row["conversation_id"], row["turn_id"]) not in logs
        judged[rowid] = {**row, "is_active": why is None, "inactive_reason": why, "is_orphan": is_orphan}
    return judged


def voice(row: Row) -> tuple[Any, ...]:
    return row["user_id"], row["conversation_id"], row["turn_id"]


def users_reason(row: Row, latest: dict[tuple[Any, ...], int], _: set[tuple[Any, ...]]) -> str | None:
    if row["id"] < latest[voice(row)]:
        return "superseded"
    return "cleared" if row["reaction"] is None else None


def machines_reason(row: Row, _: dict[tuple[Any, ...], int], seen: set[tuple[Any, ...]]) -> str | None:
    if row["confidence"] is None or row["confidence"] < 0.7:
        return "low_confidence"
    if not (row["text"] or "").strip():
        return "no_text"
    content = (row["conversation_id"], row["turn_id"], row["text"], row["reaction"], row["occurred_at"])
    if content in seen:
        return "copy"
    seen.add(content)
    return None


def is_over(row: Row, as_of: datetime) -> bool:
    if row["ttl_days"] is None:
        return False
    try:
        return row["occurred_at"] + timedelta(days=row["ttl_days"]) < as_of
    except OverflowError:
        return row["ttl_days"] < 0


def per_day(rows: Any) -> dict[date, Row]:
    """R2, R3: what counts, and what did until it expired."""
    days: dict[date, list[Row]] = defaultdict(list)
    for row in rows:
        if row["is_active"] or row["inactive_reason"] == "expired":
            days[row["occurred_at"].date()].append(row)
    return {day: figures(found) for day, found in days.items()}


def figures(rows: list[Row]) -> Row:
    counts = Counter((row["origin"] or "unknown", row["reaction"] or "neutral") for row in rows)

    def rates(origins: tuple[str, ...]) -> tuple[float | None, float | None]:
        ok, not_ok, neutral = (sum(counts[o, word] for o in origins) for word in ("ok", "not_ok", "neutral"))
        both, every = ok + not_ok, ok + not_ok + neutral
        return round(ok / every, 6) if every else None, round(ok / both, 6) if both else None

    origins = ("user", "machine", "unknown")
    answer: Row = {"reaction_count": len(rows)}
    for word in ("ok", "not_ok", "neutral"):
        answer[f"{word}_count"] = sum(counts[origin, word] for origin in origins)
        answer |= {f"{origin}_{word}_count": counts[origin, word] for origin in origins}
    for origin in origins:
        answer[f"{origin}_count"] = sum(counts[origin, word] for word in ("ok", "not_ok", "neutral"))
        answer[f"{origin}_satisfaction_rate"], answer[f"{origin}_ok_rate"] = rates((origin,))
    answer["satisfaction_rate"], answer["ok_rate"] = rates(origins)
    answer["orphan_count"] = sum(row["is_orphan"] for row in rows)
    answer["expired_count"] = sum(row["inactive_reason"] == "expired" for row in rows)
    return answer


def report(reactions: dict[int, Row], first: date, last: date, tenant: str | None, project: str | None) -> Row:
    """Seed 3's conversations-in-period on one page (R3)."""

    def iso(instant: datetime) -> str:
        return instant.isoformat().replace("+00:00", "Z")

    conversations: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(reactions.values(), key=lambda row: row["id"]):
        if row["is_active"] and first <= row["occurred_at"].date() <= last:
            conversations[row["conversation_id"]].append(row)
    items = []
    for name, rows in conversations.items():
        words = Counter(row["reaction"] or "neutral" for row in rows)
        origins = Counter(row["origin"] for row in rows)
        turns = []
        for turn in {row["turn_id"] for row in rows}:
            found = [row for row in rows if row["turn_id"] == turn]
            fields = ("turn_id", "text", "reaction", "confidence", "origin", "rn")
            feedbacks = [{**{f: row[f] for f in fields}, "ts": iso(row["occurred_at"])} for row in found]
            turns.append((max(row["occurred_at"] for row in found), turn, feedbacks))
        turns.sort(key=lambda turn: (-turn[0].timestamp(), turn[1]))
        items.append(
            (
                max(row["occurred_at"] for row in rows),
                name,
                {
                    "conversation_id": name,
                    "last_activity_at": iso(max(row["occurred_at"] for row in rows)),
                    "started_at": None,
                    "feedback_counts": {
                        "total": len(rows),
                        "user": origins["user"],
                        "machine": origins["machine"],
                        "ok": words["ok"],
                        "not_ok": words["not_ok"],
                        "neutral": words["neutral"],
                    },
                    "turns": [
                        {"turn_id": turn, "ts": iso(at), "feedbacks": feedbacks} for at, turn, feedbacks in turns
                    ],
                },
            )
        )
    items.sort(key=lambda item: (-item[0].timestamp(), item[1]))
    return {
        "tenant": tenant,
        "project": project,
        "window": {"start": f"{first}T00:00:00Z", "end": f"{last}T23:59:59Z"},
        "items": [item for _, _, item in items],
        "next_cursor": None,
    }
