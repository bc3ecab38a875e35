"""What AI sessions must come to, in plain Python, row by row, from the rules alone (S1-S5, S7, N). Shares no code with the pipeline."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from math import floor, sqrt
from random import Random
from statistics import NormalDist
from typing import Any

from tests.oracle.edits import changed_and_total

Row = dict[str, Any]

MAPPED = {
    "outdated_info": "wrong_context",
    "wrong_style": "style_mismatch",
    "incomplete": "missing_context",
    "incorrect_pattern": "ignored_constraints",
}
KNOWN = {"missing_context", "wrong_context", "ignored_constraints", "hallucination", "style_mismatch", "other"}
Z = NormalDist().inv_cdf(0.975)
NO_ARRAYS = ("{a,b}", '{"a": 1}', "nothing")


# --- databases ---------------------------------------------------------------------------------------------------


def generated(seed: int) -> dict[str, list[Row]]:
    """Tables with everything that can be wrong with them."""
    rng = Random(seed)
    tenants = [f"t{n}" for n in range(rng.randint(1, 9))]
    start = datetime(2025, 10, 1, tzinfo=UTC)
    documents = [f"d{n}" for n in range(6)]
    sessions, feedback, outputs = [], [], []
    for number in range(rng.randint(120, 260)):
        when = start + timedelta(seconds=rng.randrange(125 * 86_400), microseconds=rng.choice((0, 0, 999_999)))
        row: Row = {
            "id": f"s{number}",
            "tenant_id": rng.choice(tenants),
            "workspace_id": rng.choice(("w1", "w1", "w2")),
            "slice_id": rng.choice((None, "", "a", "b")),
            "user_id": rng.choice(("u1", "u2", "default")),
            "started_at": when,
            "context_document_ids": rng.choices(documents, k=rng.randint(0, 4)),
            "context_token_count": rng.randrange(9000),
        }
        draw = rng.random()
        if draw < 0.06:
            column, value = rng.choice(
                (
                    ("tenant_id", None),
                    ("workspace_id", ""),
                    ("user_id", None),
                    ("started_at", None),
                    ("started_at", "soon"),
                    ("started_at", "1999-12-31T00:00:00Z"),
                    ("context_document_ids", rng.choice(NO_ARRAYS)),
                    ("context_token_count", 1.5),
                )
            )
            row[column] = value
        sessions.append(row)
        if rng.random() < 0.4:
            outputs.append({"session_id": row["id"], "original": _text(rng), "revised": _text(rng)})
    for number in range(int(len(sessions) * 0.9)):
        about = rng.choice(sessions)
        began = about["started_at"] if isinstance(about["started_at"], datetime) else start
        row = {
            "id": f"f{number}",
            "tenant_id": about["tenant_id"] or "t0",
            "session_id": about["id"],
            "rating": _spelled(rng, rng.choice(("positive", "positive", "negative", "skipped"))),
            "error_categories": rng.choice(
                (None, [], [""], rng.choices([*KNOWN, *map(str.upper, MAPPED), "odd"], k=rng.randint(1, 3)))
            ),
            "missing_context": rng.choice((None, "", " ", "the schema")),
            "accuracy_score": rng.choice((None, rng.randint(0, 100), rng.randint(-5, 110))),
            "completeness_score": rng.choice((None, rng.randint(0, 100))),
            "style_match_score": None,
            "review_verdict": rng.choice(
                (None, None, _spelled(rng, rng.choice(("approved", "changes_requested", "rejected"))))
            ),
            "edit_distance": rng.choice((None, None, rng.randint(0, 100), rng.choice((-1, 101)))),
            "output_issues": rng.choice((None, ["Style_Issue"], ["style_issue", "hallucination"])),
            "submitted_at": began + timedelta(hours=rng.choice((1, 1, 30, 300, 2400))),
            "submitted_by": "r1",
        }
        draw = rng.random()
        if draw < 0.08:
            column, value = rng.choice(
                (
                    ("session_id", "nowhere"),
                    ("tenant_id", "t_other"),
                    ("rating", "meh"),
                    ("rating", None),
                    ("rating", " "),
                    ("review_verdict", "lgtm"),
                    ("submitted_at", None),
                    ("error_categories", rng.choice(NO_ARRAYS)),
                    ("accuracy_score", "high"),
                    ("session_id", None),
                    ("tenant_id", ""),
                )
            )
            row[column] = value
        feedback.append(row)
    nodes = [{"id": name, "type": rng.choice(("Runbook", "decision")), "tenant_id": "t0"} for name in documents[:4]]
    return {"ai_sessions": sessions, "session_feedback": feedback, "session_outputs": outputs, "context_nodes": nodes}


def _text(rng: Random) -> str:
    return "".join(rng.choices("ab \né😀", k=rng.randint(0, 12)))


def _spelled(rng: Random, word: str) -> str:
    return rng.choice((word, word.upper(), f" {word.title()}\n"))


# --- the answers -------------------------------------------------------------------------------------------------


@dataclass
class Answers:
    sessions: dict[str, Row] = field(default_factory=dict)
    refused: dict[str, set[str]] = field(default_factory=dict)
    days: dict[tuple[str, str, date], Row] = field(default_factory=dict)
    documents: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    baselines: dict[tuple[str, str], Row] = field(default_factory=dict)
    signals: dict[str, str] = field(default_factory=dict)


def answers(tables: Mapping[str, Sequence[Row]], as_of: datetime) -> Answers:
    found = Answers()
    kept: dict[str, Row] = {}
    tenants: dict[str, Any] = {}
    for row in tables["ai_sessions"]:
        tenants[row["id"]] = row["tenant_id"]
        if why := _session_problems(row):
            found.refused[row["id"]] = why
        else:
            kept[row["id"]] = row
    said: dict[str, list[Row]] = defaultdict(list)
    for row in tables["session_feedback"]:
        if why := _feedback_problems(row, tenants):
            found.refused[row["id"]] = why
        elif row["submitted_at"] < as_of:
            said[row["session_id"]].append(row)
    outputs = {row["session_id"]: _edit_distance(row["original"], row["revised"]) for row in tables["session_outputs"]}
    for name, row in kept.items():
        if row["started_at"] < as_of:
            found.sessions[name] = _session(row, said[name], outputs.get(name))
    found.days = _days(found.sessions, as_of)
    found.documents = _documents(found.sessions, tables["context_nodes"])
    found.baselines = _baselines(found.sessions)
    for row in found.sessions.values():
        if row["rating"] in ("positive", "negative"):
            found.signals[f"sessions:rating:{row['feedback_id']}"] = row["rating"]
        if row["verdict"]:
            found.signals[f"sessions:verdict:{row['feedback_id']}"] = (
                "positive" if row["verdict"] == "approved" else "negative"
            )
    return found


def _session_problems(row: Row) -> set[str]:
    why = {f"missing:{name}" for name in ("tenant_id", "workspace_id", "user_id") if not row[name]}
    why |= _time_problems("started_at", row["started_at"])
    if row["context_document_ids"] in NO_ARRAYS:
        why.add("bad_json:context_document_ids")
    return why | ({"wrong_type:context_token_count"} if isinstance(row["context_token_count"], float) else set())


def _time_problems(column: str, value: object) -> set[str]:
    if isinstance(value, datetime):
        return set()
    return {f"{'missing' if value is None else 'wrong_type' if value == 'soon' else 'out_of_range'}:{column}"}


def _feedback_problems(row: Row, tenants: Mapping[str, Any]) -> set[str]:
    why = {f"missing:{name}" for name in ("tenant_id", "session_id") if not row[name]}
    why |= _time_problems("submitted_at", row["submitted_at"])
    rating, verdict = (str(row[name] or "").strip().lower() for name in ("rating", "review_verdict"))
    if not rating:
        why.add("missing:rating")
    elif rating not in ("positive", "negative", "skipped"):
        why.add("unknown:rating")
    if verdict and verdict not in ("approved", "changes_requested", "rejected"):
        why.add("unknown:review_verdict")
    if row["error_categories"] in NO_ARRAYS:
        why.add("bad_json:error_categories")
    if isinstance(row["accuracy_score"], str):
        why.add("wrong_type:accuracy_score")
    if row["session_id"] and row["session_id"] not in tenants:
        why.add("orphan:session_id")
    owner = tenants.get(row["session_id"])
    if row["tenant_id"] and owner is not None and owner != row["tenant_id"]:
        why.add("mismatch:tenant_id")
    return why


def _session(row: Row, said: list[Row], computed: int | None) -> Row:
    last = max(said, key=lambda feedback: (feedback["submitted_at"], feedback["id"]), default=None)
    session: Row = {
        "tenant_id": row["tenant_id"],
        "workspace_id": row["workspace_id"],
        "slice_id": row["slice_id"] or None,
        "user_id": None if row["user_id"] == "default" else row["user_id"],
        "date": row["started_at"].date(),
        "documents": sorted(set(row["context_document_ids"])),
        "rating": None,
        "verdict": None,
        "feedback_id": None,
        "edit": computed,
        "categories": [],
        "issues": [],
        "accuracy": None,
        "completeness": None,
        "missing": None,
    }
    if last is None:
        return session
    stored = last["edit_distance"]
    categories = {
        (MAPPED.get(word) or (word if word in KNOWN else "other"))
        for said in last["error_categories"] or []
        if (word := said.strip().lower())
    }
    return session | {
        "rating": last["rating"].strip().lower(),
        "verdict": (last["review_verdict"] or "").strip().lower() or None,
        "feedback_id": last["id"],
        "edit": computed if stored is None else _in_range(stored),
        "categories": sorted(categories),
        "issues": sorted({issue.lower() for issue in last["output_issues"] or []}),
        "accuracy": _in_range(last["accuracy_score"]),
        "completeness": _in_range(last["completeness_score"]),
        "missing": bool((last["missing_context"] or "").strip()),
    }


def _in_range(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= 100 else None


def _edit_distance(before: str, after: str) -> int:
    changed, total = changed_and_total(before, after)
    return floor(changed / total * 100 + 0.5) if total else 0


def _days(sessions: Mapping[str, Row], as_of: datetime) -> dict[tuple[str, str, date], Row]:
    groups: dict[tuple[str, str, date], list[Row]] = defaultdict(list)
    for row in sessions.values():
        groups[row["tenant_id"], row["workspace_id"], row["date"]].append(row)
    return {key: _day(rows, key[2], as_of) for key, rows in groups.items()}


def _day(rows: list[Row], day: date, as_of: datetime) -> Row:
    ratings = Counter(row["rating"] for row in rows)
    verdicts = [row["verdict"] for row in rows if row["verdict"]]
    rated = [row for row in rows if row["feedback_id"]]
    return {
        "total_sessions": len(rows),
        "positive_ratings": ratings["positive"],
        "negative_ratings": ratings["negative"],
        "skipped_ratings": ratings["skipped"],
        "no_feedback_count": ratings[None],
        "first_pass_acceptance_rate": _mean([100 * (verdict == "approved") for verdict in verdicts]),
        "average_edit_distance": _mean([row["edit"] for row in rated]),
        "avg_accuracy_score": _mean([row["accuracy"] for row in rows]),
        "avg_completeness_score": _mean([row["completeness"] for row in rows]),
        "error_category_counts": _object(word for row in rows for word in row["categories"]),
        "output_issue_counts": _object(word for row in rows for word in row["issues"]),
        "missing_context_rate": round(sum(row["missing"] for row in rated) / len(rated), 6) if rated else None,
        "is_frozen": day <= (as_of - timedelta(days=90)).date(),
    }


def _mean(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return float((Decimal(sum(known)) / len(known)).quantize(Decimal("0.01"), ROUND_HALF_UP))


def _object(words: Any) -> str:
    return json.dumps(dict(sorted(Counter(words).items())), separators=(",", ":"))


def _wilson(positive: int, rated: int) -> tuple[float, float, float]:
    share = positive / rated
    middle = share + Z * Z / (2 * rated)
    width = Z * sqrt(share * (1 - share) / rated + Z * Z / (4 * rated * rated))
    return share, (middle - width) / (1 + Z * Z / rated), (middle + width) / (1 + Z * Z / rated)


def _documents(sessions: Mapping[str, Row], nodes: Sequence[Row]) -> dict[tuple[str, str, str], Row]:
    types = {row["id"]: row["type"].lower() for row in nodes}
    found = {}
    places = {(row["tenant_id"], row["workspace_id"], name) for row in sessions.values() for name in row["documents"]}
    for tenant, workspace, name in places:
        here = [row for row in sessions.values() if (row["tenant_id"], row["workspace_id"]) == (tenant, workspace)]
        used = [row for row in here if name in row["documents"]]
        counts = [
            Counter(row["rating"] for row in rows)
            for rows in (used, [row for row in here if name not in row["documents"]])
        ]
        (p1, m1), (p2, m2) = ((count["positive"], count["positive"] + count["negative"]) for count in counts)
        row: Row = {
            "type": types.get(name),
            "sessions": len(used),
            "positive": p1,
            "negative": m1 - p1,
            "other_rated": m2,
        }
        row["categories"] = _object(word for one in used for word in one["categories"])
        row |= dict.fromkeys(("share", "low", "high", "difference", "difference_low", "difference_high"))
        row["other_share"] = round(p2 / m2, 6) if m2 else None
        if m1 >= 5:
            share, low, high = _wilson(p1, m1)
            row |= {"share": round(share, 6), "low": max(low, 0), "high": min(high, 1)}
            if m2:
                other, other_low, other_high = _wilson(p2, m2)
                row["difference"] = round(share - other, 6)
                row["difference_low"] = share - other - sqrt((share - low) ** 2 + (other_high - other) ** 2)
                row["difference_high"] = share - other + sqrt((high - share) ** 2 + (other - other_low) ** 2)
        found[tenant, workspace, name] = row
    return found


def _baselines(sessions: Mapping[str, Row]) -> dict[tuple[str, str], Row]:
    rated = [row for row in sessions.values() if row["rating"] in ("positive", "negative")]
    found = {}
    for tenant, workspace in {(row["tenant_id"], row["workspace_id"]) for row in sessions.values()}:
        own = sum((row["tenant_id"], row["workspace_id"]) == (tenant, workspace) for row in rated)
        if own >= 20:
            continue
        others = Counter(row["tenant_id"] for row in rated if row["tenant_id"] != tenant)
        total = sum(others.values())
        is_given = len(others) >= 5 and 2 * max(others.values()) <= total
        positive = sum(row["rating"] == "positive" for row in rated if row["tenant_id"] != tenant)
        found[tenant, workspace] = {
            "rated": own,
            "tenants": len(others),
            "rate": round(positive / total, 6) if is_given else None,
        }
    return found
