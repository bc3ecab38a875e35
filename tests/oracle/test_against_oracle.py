"""The pipeline against the oracle: nasty databases by rule, every answer compared (semantics G, F and T)."""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests import tables
from tests.accounts import went
from tests.oracle import feedback_oracle as oracle
from tests.oracle import feedback_source
from tests.oracle import nasty_database as nasty
from tests.oracle.feedback_rows import tier_of
from tests.oracle.feedback_training import Candidate
from tests.oracle.release_files import FORMATS, read_release
from tests.oracle.seeds import seeds

GRISTMILL = Path(sys.executable).parent / "gristmill"
TOLERANCE = 1e-9
ROUNDING = 1.000001e-6  # two right ways to take a mean may differ in the last of six decimals


@dataclass
class Case:
    """A source, its settings and the home the pipeline writes to."""

    home: Path
    files: list[Path]
    settings: oracle.Settings
    as_of: datetime | None
    published: datetime | None = None

    def gristmill(self, *words: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GRISTMILL_")} | {
            "GRISTMILL_FEEDBACK": os.pathsep.join(str(f) for f in self.files),
            "GRISTMILL_RATING_SCALE": self.settings.scale,
            "GRISTMILL_MIN_WEIGHT": str(self.settings.min_weight),
            "GRISTMILL_SPLIT_KEY": self.settings.split_key,
            "GRISTMILL_LOW_TIER": self.settings.low_tier,
        }
        done = subprocess.run(
            [GRISTMILL, "--home", self.home, *words],
            env=environment,
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"gristmill {' '.join(words)}: {done.stderr[-2000:]}"
        return done.stdout

    def run(self, *words: str) -> str:
        return self.gristmill("run", *(["--as-of", self.as_of.isoformat()] if self.as_of else []), *words)

    def table(self, name: str) -> list[dict[str, Any]]:
        return tables.rows(self.home, name)

    def judge(self) -> oracle.Verdict:
        """G2; where as_of is not given it does not go back behind what was judged before."""
        verdict = oracle.judge(self.files, self.as_of, self.settings)
        if self.as_of is None and self.published and verdict.as_of < self.published:
            return oracle.judge(self.files, self.published, self.settings)
        return verdict


def case_of(database: nasty.NastyDatabase, folder: Path) -> Case:
    settings = oracle.Settings(database.scale, database.min_weight, database.split_key, database.low_tier)
    return Case(folder / "home", database.write(folder / "sources"), settings, database.as_of)


# --- comparing --------------------------------------------------------------------------------------------------------


def same(expected: Any, actual: Any, tolerance: float = TOLERANCE) -> bool:
    if isinstance(expected, float | int) and isinstance(actual, float | int) and not isinstance(expected, bool):
        return abs(expected - actual) <= tolerance * max(1.0, abs(expected) / 1e6)
    return expected == actual


Rows = dict[Any, dict[str, Any]]


def compare_rows(rule: str, expected: Rows, actual: Rows, tolerance: float = TOLERANCE) -> list[str]:
    """Key by key and column by column; only the columns the oracle speaks of."""
    found = [f"{rule}: {key!r} is missing" for key in expected.keys() - actual.keys()]
    found += [f"{rule}: {key!r} should not be there" for key in actual.keys() - expected.keys()]
    for key in expected.keys() & actual.keys():
        for column, value in expected[key].items():
            if not same(value, actual[key][column], tolerance):
                found.append(f"{rule}: {key!r}.{column} is {actual[key][column]!r}, not {value!r}")
    return found


def reasons_match(expected: set[str], actual: list[str]) -> bool:
    """`a|b:column` stands for either reason."""
    left = set(actual)
    for reason in expected:
        kinds, column = reason.split(":", 1)
        hit = {f"{kind}:{column}" for kind in kinds.split("|")} & left
        if not hit:
            return False
        left -= hit
    return not left and len(actual) == len(set(actual))


def compare_source(case: Case, verdict: oracle.Verdict) -> list[str]:
    """G3, G5, G11, F1, F3: what was kept, refused and dropped."""
    source = verdict.source
    told = went(case.home, "raw_feedback__entries")
    counts = (source.read_count, len(source.kept), len(source.quarantined), len(source.copies), 0)
    found = [] if told == counts else [f"G3: {told} should be {counts}"]

    rows = case.table("quarantine__rows")
    actual = {(r["table"], Path(r["source_file"]).name, r["source_rowid"]): r for r in rows}
    if len(actual) != len(rows):
        found.append("G11: a refused row is there twice")
    refusals = [*source.quarantined, *(source.responses.quarantined if source.responses else [])]
    expected = {(r.table, case.files[r.file].name, r.rowid): r for r in refusals}
    found += [f"F1/F3: {key} {expected[key].reasons} is not refused" for key in expected.keys() - actual.keys()]
    found += [f"F1/F3: {key} is refused: {actual[key]['reasons']}" for key in actual.keys() - expected.keys()]
    for key in expected.keys() & actual.keys():
        row, seen = expected[key], actual[key]
        if not reasons_match(row.reasons, seen["reasons"]):
            found.append(f"F1/G5/G8: {key} reasons are {sorted(seen['reasons'])}, not {sorted(row.reasons)}")
        if seen["key"] != row.key:
            found.append(f"G11: {key} key is {seen['key']!r}, not {row.key!r}")
        if row.table == "feedback" and seen["event_date"] != row.day:
            found.append(f"G1/G11: {key} event_date is {seen['event_date']}, not {row.day}")
        stored = dict(feedback_source.as_loaded(seen["row"]))
        for name, cell in row.cells.items():
            if stored.get(name) not in feedback_source.original_value(cell):
                found.append(
                    f"G11: {key} row.{name} is {stored.get(name)!r}, not {feedback_source.original_value(cell)}"
                )
    return found


def compare_raw(case: Case, verdict: oracle.Verdict) -> list[str]:
    """G1, G5: the kept rows as they were at the source."""
    rows = case.table("raw_feedback__entries")
    actual = {r["feedback_id"]: r for r in rows}
    found = [] if len(actual) == len(rows) else ["G7: a key is in the lake twice"]
    expected = {}
    for row in verdict.source.kept:
        loose = {n: v for n, v in row.values.items() if n not in feedback_source.MAY_DIFFER_IN_COPIES}
        expected[row["feedback_id"]] = {**loose, "occurred_at": row.at, "event_date": row.day}
        seen = actual.get(row["feedback_id"])
        if seen is None:
            continue
        if sorted(seen["repairs"]) != sorted(row.repairs):
            found.append(f"G1/F1: {row.key!r} repairs are {seen['repairs']}, not {sorted(row.repairs)}")
        extra = json.loads(seen["extra"]) if seen["extra"] else {}
        wanted = {n: feedback_source.original_value(c)[0] for n, c in row.extra.items() if c.kind != "null"}
        if {n: v for n, v in extra.items() if v is not None} != wanted:
            found.append(f"G5: {row.key!r} extra is {extra}, not {wanted}")
    responses = verdict.source.responses.kept if verdict.source.responses else {}
    known = {r["response_id"]: r for r in case.table("raw_feedback__responses")}
    found += compare_rows("F1 raw_feedback__responses", {k: dict(r.values) for k, r in responses.items()}, known)
    return found + compare_rows("G1/G5 raw_feedback__entries", expected, actual)


def compare_core(case: Case, verdict: oracle.Verdict) -> list[str]:
    """F2 to F8: one row per valid feedback before as_of."""
    rows = case.table("core__feedback")
    actual = {r["feedback_id"]: r for r in rows}
    found = [] if len(actual) == len(rows) else ["G7: core__feedback holds a key twice"]
    expected = {}
    for key, item in verdict.feedback.items():
        expected[key] = {
            "response_id": item["response_id"],
            "session_id": item.session_id,
            "user_id": item.user_id,
            "voter_id": item.voter_id,
            "occurred_at": item.at,
            "event_date": item.at.date(),
            "feedback_type": item.type,
            "effective_type": item.effective_type,
            "sentiment": item.sentiment,
            "status": item.status,
            "status_ref": item.status_ref,
            "quality_weight": item.weight,
            "tier": tier_of(item.weight),
            "base_tier": tier_of(item.base_weight),
            "domain": item.domain,
            "rating": item["rating"],
            "prompt_key": feedback_source.prompt_key(item["original_query"]),
            "split": feedback_source.split_of(item["original_query"], verdict.settings.split_key),
        }
        if item.type == "flag":
            expected[key]["flag_type"] = item.flag_type
        if item.effective_type == "correction":
            expected[key]["correction_type"] = item.correction_type
        if item.active and item.sentiment in ("positive", "negative"):
            expected[key]["is_contested"] = item.is_contested
        seen = actual.get(key)
        if seen is None:
            continue
        if (seen["comment"] or "").strip() != (item.comment or "").strip():
            found.append(f"F7: {key!r} comment is {seen['comment']!r}, not {item.comment!r}")
        for part, value in item.parts.items():
            if not same(value, seen["weight_parts"][part], ROUNDING):
                found.append(f"F4: {key!r} {part} is {seen['weight_parts'][part]}, not {value}")
        right = seen["error_type"] in feedback_source.ERROR_TYPES if item.effective_type == "correction" else True
        if not right:
            found.append(f"F9: {key!r} error_type is {seen['error_type']!r}")
    return found + compare_rows("F2-F8 core__feedback", expected, actual)


def compare_aggregates(case: Case, verdict: oracle.Verdict) -> list[str]:
    """F11, F12 and N."""
    responses = {r["response_id"]: r for r in case.table("core__responses")}
    found = compare_rows("F11 core__responses", verdict.responses, responses, ROUNDING)
    sessions = {r["session_id"]: r for r in case.table("core__feedback_sessions")}
    for key, row in verdict.sessions.items():
        # A session no known response is of: its total may be called unknown as well as 0.
        if not row["total_responses"] and key in sessions and sessions[key]["total_responses"] in (None, 0):
            row["total_responses"] = sessions[key]["total_responses"]
    silent = {i.session_id for i in verdict.feedback.values()} - verdict.sessions.keys()
    found += compare_rows(
        "F11 core__feedback_sessions",
        verdict.sessions,
        {k: r for k, r in sessions.items() if not (k in silent and r["feedback_given"] == 0)},
        ROUNDING,
    )
    daily = {(r["event_date"], r["domain"]): r for r in case.table("metric__feedback_daily")}
    found += compare_rows("F11 metric__feedback_daily", verdict.daily, daily, ROUNDING)

    stats = json.loads(case.gristmill("stats", "--json"))
    average = stats["quality"].pop("avg_weight"), verdict.stats["quality"].pop("avg_weight")
    if stats != verdict.stats or not same(average[1], average[0], ROUNDING):
        found.append(f"F11 stats: {stats} {average[0]}, not {verdict.stats} {average[1]}")

    signals = {r["subject_id"]: r for r in case.table("core__signals")}
    active = {i.id: i for i in verdict.active}
    by_id = (
        signals if signals.keys() == active.keys() else {r["signal_id"].rsplit(":", 1)[-1]: r for r in signals.values()}
    )
    if Counter(oracle.polarity_of(i) for i in active.values()) != Counter(
        r["polarity"] for r in case.table("core__signals")
    ):
        found.append("N core__signals: polarities are wrong")
    if by_id.keys() == active.keys():
        wanted = {
            k: {"polarity": oracle.polarity_of(i), "weight": i.weight, "is_explicit": True} for k, i in active.items()
        }
        found += compare_rows("N core__signals", wanted, by_id)

    queue = {r["feedback_id"] for r in case.table("core__safety_queue")}
    if queue != {i.id for i in verdict.active if i.flag_type == "harmful"}:
        found.append(f"F12 core__safety_queue: {queue}")
    corrections = [i for i in verdict.active if i.effective_type == "correction"]
    corrected = {i["response_id"] for i in corrections} | {i.answer for i in corrections if i.answer}
    wanted_answers = Counter(
        {
            i.answer or i["response_id"]
            for i in verdict.active
            if i.sentiment == "negative" and not {i["response_id"], i.answer} & corrected
        }
    )
    rows = [verdict.feedback[r["feedback_id"]] for r in case.table("core__correction_requests")]
    asked = Counter(i.answer or i["response_id"] for i in rows)
    if asked != wanted_answers:
        found.append(
            f"F12 core__correction_requests: {asked - wanted_answers} too many, {wanted_answers - asked} missing"
        )
    return found


def release_of(case: Case, verdict: oracle.Verdict) -> Path:
    """The newest release of the verdict's day (T5)."""
    day = f"{verdict.as_of - timedelta(microseconds=1):%Y%m%d}"
    found = [p for p in (case.home / "exports").iterdir() if p.name == day or p.name.startswith(f"{day}.")]
    return max(found, key=lambda p: int(p.suffix[1:] or 1))


def key_of(kind: str, origins: Iterable[str], verdict: oracle.Verdict) -> tuple[str, str]:
    """The oracle's candidate a record or exclusion is about: of a rating pair the thumbs-down row."""
    ids = list(origins)
    downs = [i for i in ids if verdict.feedback[i].sentiment == "negative"]
    return kind, downs[0] if len(ids) > 1 and downs else ids[0]


def compare_training(case: Case, verdict: oracle.Verdict) -> list[str]:
    """F6, T1 to T4: every candidate leaves or is excluded for its one reason."""
    release = release_of(case, verdict)
    records, found = read_release(release)
    release_date = (verdict.as_of - timedelta(microseconds=1)).date()
    excluded = [r for r in case.table("train__excluded") if r["release_date"] == release_date]
    left = {key_of(r["format"], r["origin_ids"], verdict): r for r in records}
    out = {key_of(r["format"], r["origin_ids"], verdict): r for r in excluded}
    if len(left) + len(out) != len(records) + len(excluded) or left.keys() & out.keys():
        found.append("G3/T1: a candidate is counted twice")
    for key in verdict.candidates.keys() ^ (left.keys() | out.keys()):
        found.append(f"T1: candidate {key} {'is missing' if key in verdict.candidates else 'should not be there'}")
    settled = verdict.settled
    for key, candidate in verdict.candidates.items():
        reason = out[key]["reason"] if key in out else None
        expected = candidate.reason or (settled[key].reason if key in settled else None)
        if reason != expected:
            found.append(f"T1: {key} {candidate.source} is out for {reason}, not {expected}")
        if candidate.source and key in out and out[key]["source"] != candidate.source:
            found.append(f"F6: {key} source is {out[key]['source']}, not {candidate.source}")
        if key in left:
            found += compare_record(candidate, left[key], settled[key].split if key in settled else "", verdict)
        if key in out and key in settled and settled[key].survivor is not None:
            survivor = settled[key].survivor
            if survivor not in left and survivor not in out:
                found.append(f"T2/T6: {key} should name {survivor}, which is nowhere")
            elif out[key]["duplicate_of"] != (left.get(survivor) or out[survivor])["id"]:
                found.append(f"T2/T6: {key} names {out[key]['duplicate_of']}, not {survivor}")
    ids = {(left.get(key) or out[key])["id"]: c for key, c in verdict.candidates.items() if key in left or key in out}
    for key, row in out.items():
        found += compare_winner(verdict.candidates.get(key), row, ids)
    for kind in FORMATS:
        lake = {r["id"] for r in case.table(f"train__{kind}") if r["release"] == release.name}
        if lake != {r["id"] for r in records if r["format"] == kind}:
            found.append(f"T4: train__{kind} and the release's files differ")
    return found


def compare_record(candidate: Candidate, record: dict[str, Any], split: str, verdict: oracle.Verdict) -> list[str]:
    item = candidate.item
    context = item["conversation_context"]
    expected = {
        **candidate.fields,
        "source": candidate.source,
        "quality_weight": candidate.weight,
        "base_weight": candidate.base_weight,
        "tier": tier_of(candidate.weight),
        "domain": item.domain,
        "origin_ids": candidate.origins,
        "context": None if feedback_source.blank(context) else context,
        "split": split,
    }
    if candidate.is_pair:
        expected |= {"votes_for": candidate.votes_for, "votes_against": candidate.votes_against}
    found = compare_rows(
        "F5/F6/F13/T3/T4",
        {candidate.key: expected},
        {candidate.key: {**record, "origin_ids": frozenset(record["origin_ids"])}},
    )
    if candidate.format == "correction" and record["error_type"] not in feedback_source.ERROR_TYPES:
        found.append(f"F9: {candidate.key} error_type is {record['error_type']!r}")
    return found


def compare_winner(candidate: Candidate | None, row: dict[str, Any], ids: dict[str, Candidate]) -> list[str]:
    """F13: what was outvoted names a pair that says the opposite; only that and a duplicate name another."""
    named = row["duplicate_of"]
    if (
        row["reason"] in ("duplicate", "near_duplicate")
        or candidate is None
        or (named is None and row["reason"] != "outvoted")
    ):
        return []
    winner = ids.get(str(named))
    is_opposite = winner and winner.thread == candidate.thread and winner.sides == candidate.sides[::-1]
    return [] if is_opposite and row["reason"] == "outvoted" else [f"F13: {candidate.key} names {named}"]


def differences(case: Case, printed: str) -> list[str]:
    """Everything in which the pipeline's answers differ from the oracle's."""
    verdict = case.judge()
    case.published = verdict.as_of
    found = [] if f"as of {verdict.as_of:%Y-%m-%d %H:%M}" in printed else [f"G2: as_of should be {verdict.as_of}"]
    for compare in (compare_core, compare_raw, compare_aggregates, compare_training):
        found += compare(case, verdict)
    return compare_source(case, verdict) + found


def assert_right(case: Case, printed: str, story: str) -> None:
    found = differences(case, printed)
    assert not found, f"{story}: {len(found)} differences\n" + "\n".join(found[:40])


# --- editing the source between runs (G7) -----------------------------------------------------------------------------


class Editor:
    """Edits of the source that a plain run must find. Each says what it did."""

    def __init__(self, case: Case, database: nasty.NastyDatabase, seed: int) -> None:
        self.case, self.database = case, database
        self.maker = nasty.Maker(seed)
        self.maker.scale = database.scale
        self.maker.number = 10_000 * (seed + 1)
        self.random = self.maker.random
        self.stars = feedback_source.SCALES[database.scale]

    def kept(self) -> list[feedback_source.Row]:
        return sorted(self.source().kept, key=lambda r: (r.file, r.rowid))

    def source(self) -> feedback_source.Source:
        return feedback_source.sort_out(self.case.files, self.case.settings.scale)

    def execute(self, file: int, statement: str, *values: Any) -> None:
        connection = sqlite3.connect(self.case.files[file])
        with connection:
            connection.execute(statement, values)
        connection.close()

    def set(self, row: feedback_source.Row, column: str, value: Any) -> None:
        self.execute(row.file, f'update feedback set "{column}" = ? where rowid = ?', value, row.rowid)

    def delete(self, row: feedback_source.Row) -> None:
        self.execute(row.file, "delete from feedback where rowid = ?", row.rowid)

    def insert(self, file: int, row: dict[str, Any]) -> None:
        connection = sqlite3.connect(self.case.files[file])
        with connection:
            nasty.insert(connection, "feedback", {c: row.get(c) for c in self.database.files[file].columns})
        connection.close()

    def change_a_rating(self) -> str:
        row = self.random.choice([r for r in self.kept() if r["rating"] is not None])
        self.set(row, "rating", self.random.choice([s for s in self.stars if s != row["rating"]]))
        return f"changed the rating of {row.key}"

    def delete_rows(self) -> str:
        rows = self.random.sample([r for r in self.kept() if r.key != "last"], 4)
        for row in rows:
            self.delete(row)
        return f"deleted {[r.key for r in rows]}"

    def insert_late_rows(self) -> str:
        rows = self.maker.rows(6)
        for row in rows:
            self.insert(0, row)
        return f"inserted {[r['feedback_id'] for r in rows]}"

    def mend_a_row(self) -> str:
        broken = [r for r in self.source().quarantined if r.reasons == {"out_of_range:rating"}]
        for row in broken[:2]:
            self.set(row, "rating", self.stars[-1])
        return f"mended {[r.key for r in broken[:2]]}"

    def mend_a_timestamp(self) -> str:
        broken = [r for r in self.source().quarantined if r.day is None]
        for row in broken[:2]:
            self.set(row, "timestamp", self.maker.time())
        return f"dated {[(r.key, r.rowid) for r in broken[:2]]}"

    def break_a_row(self) -> str:
        row = self.random.choice([r for r in self.kept() if r.key != "last"])
        column, value = self.random.choice(
            (("rating", 0), ("timestamp", None), ("feedback_type", "shrug"), ("timestamp", "x"))
        )
        self.set(row, column, value)
        return f"set {column} of {row.key} to {value}"

    def move_a_row(self) -> str:
        row = self.random.choice([r for r in self.kept() if r.key != "last"])
        time = self.maker.time()
        self.set(row, "timestamp", time)
        return f"moved {row.key} from {row.day} to {time}"

    def make_a_conflict(self) -> str:
        if len(self.case.files) == 1:
            return "only one file"
        row = self.random.choice([r for r in self.kept() if r.key != "last" and r.file == 0])
        twin = {**row.values, "timestamp": self.maker.time(), "domain": "creative"}
        self.insert(1, twin)
        return f"second row for {row.key} of {row.day} at {twin['timestamp']}"

    def remove_a_winner(self) -> str:
        source = self.source()
        lost = {r.key for r in source.quarantined if "conflict:feedback_id" in r.reasons}
        winners = [r for r in self.kept() if r.key in lost and r.key != "last"]
        if not winners:
            return "no conflicts"
        winner = self.random.choice(winners)
        if self.random.random() < 0.5:
            self.delete(winner)
        else:
            self.set(winner, "rating", 99)
        return f"removed or broke the winner {winner.key} of {winner.day}"

    def add_a_response(self) -> str:
        rows = self.source().quarantined
        orphans = sorted({r["response_id"] for r in rows if "orphan:response_id" in r.reasons})
        if not orphans:
            return "no orphans"
        found = self.random.choice(orphans)
        self.execute(0, "insert into responses values (?, 's2', 'q', 'a', 1767000000, 0.5, 0)", found)
        return f"added the response {found}"

    def edit_a_response(self) -> str:
        """Another text for what was filled from it, or a fault that makes it fill nothing, or a fault mended."""
        known = self.source().responses
        if not known:
            return "no responses"
        changed = self.random.choice(sorted(known.known_ids))
        column, value = self.random.choice(
            (
                ("response", "Another answer altogether"),
                ("response", ""),
                ("query", None),
                ("confidence", 7),
                ("confidence", 0.85),
                ("escalated", 1),
                ("timestamp", 1767100000.0),
                ("query", "What else?"),
            )
        )
        for file in range(len(self.case.files)):
            self.execute(file, f"update responses set {column} = ? where response_id = ?", value, changed)
        return f"set {column} of the response {changed} to {value!r}"

    def remove_a_response(self) -> str:
        known = self.source().responses
        if not known:
            return "no responses"
        gone = self.random.choice(sorted(known.known_ids - {"r1"}))
        for file in range(len(self.case.files)):
            self.execute(file, "delete from responses where response_id = ?", gone)
        return f"removed the response {gone}"

    def mark_as_processed(self) -> str:
        if "processed" not in self.database.files[0].columns:
            return "no such column"
        rows = [r for r in self.kept() if r.file == 0][:5]
        for row in rows:
            self.set(row, "processed", 1 - (row["processed"] or 0))
        return f"flipped processed of {[r.key for r in rows]}"

    def lengthen_a_correction(self) -> str:
        rows = [r for r in self.kept() if r["correction"]]
        row = self.random.choice(rows)
        self.set(row, "correction", row["correction"] + " and more " * 9)
        return f"lengthened the correction of {row.key}"

    def empty_a_day(self) -> str:
        day = self.random.choice(sorted({r.day for r in self.kept() if r.day and r.key != "last"}))
        for row in self.kept():
            if row.day == day and row.key != "last":
                self.delete(row)
        return f"emptied {day}"

    def vacuum(self) -> str:
        connection = sqlite3.connect(self.case.files[0])
        connection.execute("vacuum")
        connection.close()
        return "vacuumed the first file"


EDITS = (
    Editor.change_a_rating,
    Editor.delete_rows,
    Editor.insert_late_rows,
    Editor.mend_a_row,
    Editor.mend_a_timestamp,
    Editor.break_a_row,
    Editor.move_a_row,
    Editor.make_a_conflict,
    Editor.remove_a_winner,
    Editor.add_a_response,
    Editor.remove_a_response,
    Editor.edit_a_response,
    Editor.mark_as_processed,
    Editor.lengthen_a_correction,
    Editor.empty_a_day,
    Editor.vacuum,
)


# --- the tests --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(53))
def test_nasty_database(seed: int, tmp_path: Path) -> None:
    case = case_of(nasty.make(seed), tmp_path)
    assert_right(case, case.run(), f"seed {seed}")


@pytest.mark.slow
def test_edits_between_runs(tmp_path: Path) -> None:
    """G7: after every plain run the lake is what the edited source says."""
    made = (nasty.make(seed) for seed in range(47, 147))
    database = next(found for found in made if len(found.files) == 2 and found.files[0].responses)
    case = case_of(database, tmp_path)
    case.as_of = nasty.FIRST_DAY + timedelta(days=60)  # so that no day is read again just because it is recent
    case.run()
    editor = Editor(case, database, 47)
    rounds = (
        (
            Editor.change_a_rating,
            Editor.delete_rows,
            Editor.insert_late_rows,
            Editor.make_a_conflict,
            Editor.add_a_response,
            Editor.edit_a_response,
            Editor.break_a_row,
            Editor.lengthen_a_correction,
        ),
        (
            Editor.mend_a_row,
            Editor.mend_a_timestamp,
            Editor.move_a_row,
            Editor.remove_a_winner,
            Editor.edit_a_response,
            Editor.remove_a_response,
            Editor.mark_as_processed,
            Editor.empty_a_day,
        ),
    )
    for number, edits in enumerate(rounds):
        told = [edit(editor) for edit in edits]
        assert_right(case, case.run(), f"round {number}, {told}")


@pytest.mark.slow
def test_the_present_and_the_past(tmp_path: Path) -> None:
    """G2: an older as_of writes its release and touches nothing else."""
    case = case_of(nasty.make(51), tmp_path)
    assert_right(case, case.run(), "seed 51")
    tables = ("core__feedback", "raw_feedback__entries", "metric__feedback_stats")
    before = {table: case.table(table) for table in tables}
    past = Case(case.home, case.files, case.settings, nasty.FIRST_DAY + timedelta(days=4))
    past.run()
    assert all(case.table(table) == rows for table, rows in before.items()), "G2: the past touched the present"
    verdict = past.judge()
    records, found = read_release(release_of(past, verdict))
    left = {key_of(r["format"], r["origin_ids"], verdict): r for r in records}
    expected = {key: record.split for key, record in verdict.settled.items() if record.reason is None}
    assert not found and left.keys() == expected.keys(), "T1: a release of the past has other records than it should"
    for key, record in left.items():
        found += compare_record(verdict.candidates[key], record, expected[key], verdict)
    assert not found, "\n".join(found[:40])
