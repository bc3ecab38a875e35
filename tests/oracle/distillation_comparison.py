"""What a run wrote about distillation, compared with what the oracle says, answer by answer.

Reads the lake's Parquet files and the release's JSONL files as any user would; nothing of the pipeline is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests import tables
from tests.oracle import distillation_oracle as oracle
from tests.oracle import feedback_oracle, feedback_source
from tests.oracle.distillation_merge import EXTRACTABLE, merged
from tests.oracle.distillation_rows import (
    CORRECTIONS,
    EXAMPLES,
    PATTERNS,
    RAW,
    THOUGHTS,
    UNDER_CONTRACT,
    UNIFIED,
    sort_out,
)
from tests.oracle.distillation_texts import FIXED_FLAGS
from tests.oracle.distillation_training import Candidate, Key, candidates_of, settled
from tests.oracle.release_files import FORMATS, read_release
from tests.oracle.test_against_oracle import compare_rows, reasons_match

G5_REASONS = ("wrong_type", "bad_text", "not_finite")
NAMING = ("duplicate", "near_duplicate", "outvoted")  # reasons that name another candidate
SIDE_TABLES = (PATTERNS, CORRECTIONS, "review_queue")  # whether source_rows names these is not said


@dataclass
class Outputs:
    """The home of a run and what it was run on."""

    home: Path
    files: list[Path]
    feedback_files: list[Path]
    as_of: datetime
    settings: oracle.Settings
    decisions: dict[str, str] = field(default_factory=dict)

    def table(self, name: str) -> list[dict[str, Any]]:
        return tables.rows(self.home, name)

    @property
    def release_date(self) -> Any:
        return (self.as_of - timedelta(microseconds=1)).date()

    @property
    def release(self) -> Path:
        """The newest release of the day (T5)."""
        day = f"{self.release_date:%Y%m%d}"
        found = [p for p in (self.home / "exports").iterdir() if p.name == day or p.name.startswith(f"{day}.")]
        return max(found, key=lambda p: int(p.suffix[1:] or 1))

    def judge(self) -> oracle.DistillationVerdict:
        """The verdict, with what the pipeline says it extracted (D3)."""
        rows = {row["example_id"]: row for row in self.table("core__distillation")}
        found = {
            key: oracle.explanation(example, self.settings, rows[key]) if key in rows else oracle.nothing_found(example)
            for key, example in merged(sort_out(self.files), self.as_of).items()
        }
        return oracle.judge(
            self.files, self.feedback_files, self.as_of, self.settings, lambda e: found[e.id], self.decisions
        )


# --- refused rows -----------------------------------------------------------------------------------------------------


def compare_quarantine(outputs: Outputs, verdict: oracle.DistillationVerdict) -> list[str]:
    """D1, G5, G6, G11. Of side tables only what G5 refuses is compared: what else they need is not said."""
    rows = [row for row in outputs.table("quarantine__rows") if row["system"] == "distillation"]
    actual = {(row["table"], Path(row["source_file"]).name, row["source_rowid"]): row for row in rows}
    found = [] if len(actual) == len(rows) else ["G11: a refused row is there twice"]
    expected = {(row.table, outputs.files[row.file].name, row.rowid): row for row in verdict.source.quarantined}
    for key in actual.keys() - expected.keys():
        if key[0] in UNDER_CONTRACT:
            found.append(f"D1: {key} is refused: {actual[key]['reasons']}")
    for key, row in expected.items():
        seen = actual.get(key)
        if seen is None:
            found.append(f"D1: {key} {row.reasons} is not refused")
            continue
        reasons = [r for r in seen["reasons"] if row.table in UNDER_CONTRACT or r.split(":")[0] in G5_REASONS]
        if not reasons_match(row.reasons, reasons):
            found.append(f"D1/G5: {key} reasons are {sorted(seen['reasons'])}, not {sorted(row.reasons)}")
        if seen["key"] != row.key:
            found.append(f"G11: {key} key is {seen['key']!r}, not {row.key!r}")
        if row.table in UNDER_CONTRACT and seen["event_date"] != row.day:
            found.append(f"G1/G11: {key} event_date is {seen['event_date']}, not {row.day}")
        stored = feedback_source.as_loaded(seen["row"])
        for name, cell in row.cells.items():
            if stored.get(name) not in feedback_source.original_value(cell):
                found.append(f"G11: {key} row.{name} is {stored.get(name)!r}")
    return found


# --- examples ---------------------------------------------------------------------------------------------------------


def compare_examples(outputs: Outputs, verdict: oracle.DistillationVerdict) -> list[str]:
    """D2, D4 to D7, M1: one row per interaction before as_of."""
    rows = outputs.table("core__distillation")
    actual = {row["example_id"]: row for row in rows}
    found = [] if len(actual) == len(rows) else ["D2: core__distillation holds an example twice"]
    expected = {key: expected_row(distilled) for key, distilled in verdict.examples.items()}
    shown = {
        key: {**row, "subdomain": row["subdomain"] or None, "task_type": row["task_type"] or None}
        for key, row in actual.items()
    }
    found += compare_rows("D2/D5/D6/D7/M1 core__distillation", expected, shown, 1.000001e-6)
    for key in verdict.examples.keys() & actual.keys():
        found += compare_details(key, verdict.examples[key], actual[key])
    return found


def expected_row(distilled: oracle.Distilled) -> dict[str, Any]:
    example = distilled.example
    row = {
        "prompt_key": feedback_source.prompt_key(example.query),
        "subdomain": example.value("subdomain"),
        "task_type": example.value("task_type"),
        "source_quality_score": example.value("quality_score"),
        "review_status": distilled.review_status,
        "is_ready": distilled.is_ready,
        "training_format": distilled.training_format,
        "feedback_verdict": distilled.feedback_verdict,
    }
    kind = feedback_source.word(example.value("reasoning_type"))
    if kind in oracle.REASONING_TYPES:
        row["reasoning_type"] = kind
    if example.value("complexity") is not None:
        row["complexity"] = example.value("complexity")
    if not example.is_synthetic or distilled.settings.synthetic_weight is None:
        row["quality_score"] = distilled.score
    return row


def compare_details(key: str, distilled: oracle.Distilled, row: Mapping[str, Any]) -> list[str]:
    """What a plain comparison of columns cannot say."""
    example = distilled.example
    found = []
    if (row["origin"] == "synthetic_pair") != example.is_synthetic:
        found.append(f"D2: {key} origin is {row['origin']!r}")
    if problem := wrong_rows(example.source_rows, row["source_rows"]):
        found.append(f"D2: {key} source_rows are {row['source_rows']}, not {example.source_rows}: {problem}")
    if example.is_synthetic:
        return found
    flags = {feedback_source.word(flag) for flag in row["quality_flags"] or []}
    if wrong := (flags ^ distilled.flags) & set(FIXED_FLAGS):
        found.append(
            f"D4: {key} {sorted(str(f) for f in wrong)} of {example.response[:60]!r}...{example.response[-40:]!r}"
        )
    if lost := distilled.flags - flags - set(FIXED_FLAGS):
        found.append(f"D4: {key} lost the stored flags {lost}")
    extracted = set(row["extracted"] or [])
    stored = {column for column in EXTRACTABLE if example.value(column) is not None}
    if extracted & stored:
        found.append(f"D3: {key} overwrites {sorted(extracted & stored)}")
    for column in ("reasoning_type", "complexity"):
        if row[column] is not None and column not in stored | extracted:
            found.append(f"D3: {key}.{column} {row[column]!r} is not marked as extracted")
    if ("reconstructed_response" in extracted) != example.is_rebuilt:
        found.append(f"D2: {key} extracted is {sorted(extracted)}")
    if row["reasoning_type"] == "correction" and "reasoning_type" in extracted and not example.attempt:
        found.append(f"D3: {key} is a correction without an attempt")
    unknown = feedback_source.word(example.value("reasoning_type")) or None
    if unknown and unknown not in oracle.REASONING_TYPES and row["reasoning_type"] not in (None, "other"):
        found.append(f"G8: {key}.reasoning_type is {row['reasoning_type']!r}, not null or other")
    return found


def wrong_rows(expected: list[str], actual: list[str]) -> str | None:
    """The winner first, younger generations first, and within a table by precedence."""
    seen = [name for name in actual if name.split(":")[0] not in SIDE_TABLES]
    if sorted(seen) != sorted(expected):
        return "other rows"
    if seen[:1] != expected[:1]:
        return "another winner"
    for among in ((UNIFIED, EXAMPLES, RAW), (THOUGHTS,)):
        if [n for n in seen if n.split(":")[0] in among] != [n for n in expected if n.split(":")[0] in among]:
            return "another order"
    return None


# --- training sets ----------------------------------------------------------------------------------------------------


def key_of(record: Mapping[str, Any], feedback: feedback_oracle.Verdict) -> Key:
    """The candidate that a record or an exclusion is about: of a rating pair the thumbs-down row."""
    origins = list(record["origin_ids"])
    if not record["source"].startswith("feedback_"):
        return "distillation", record["format"], origins[0]
    downs = [i for i in origins if i in feedback.feedback and feedback.feedback[i].sentiment == "negative"]
    return "feedback", record["format"], downs[0] if len(origins) > 1 and downs else origins[0]


def compare_training(outputs: Outputs, verdict: oracle.DistillationVerdict) -> list[str]:
    """T1 to T4, D7, M2: every candidate of both systems leaves or is excluded for its one reason."""
    records, found = read_release(outputs.release)
    excluded = [r for r in outputs.table("train__excluded") if r["release_date"] == outputs.release_date]
    left = {key_of(record, verdict.feedback): record for record in records}
    out = {key_of(row, verdict.feedback): row for row in excluded}
    if len(left) + len(out) != len(records) + len(excluded) or left.keys() & out.keys():
        found.append("G3/T1: a candidate is counted twice")
    candidates = candidates_of(verdict)
    for key in candidates.keys() ^ (left.keys() | out.keys()):
        found.append(f"T1: candidate {key} {'is missing' if key in candidates else 'should not be there'}")
    judged = settled(verdict, candidates)
    for key, candidate in candidates.items():
        reason = out[key]["reason"] if key in out else None
        expected = candidate.reason or judged[key].reason
        if reason != expected:
            found.append(f"T1: {key} {candidate.source} is out for {reason}, not {expected}")
        if candidate.source and key in out and out[key]["source"] != candidate.source:
            found.append(f"D7: {key} source is {out[key]['source']}, not {candidate.source}")
        if key in out and (out[key]["duplicate_of"] is not None) != (reason in NAMING):
            found.append(f"T2: {key} is out for {reason} and duplicate_of {out[key]['duplicate_of']}")
        if key in left:
            found += compare_record(candidate, left[key], judged[key].split if key in judged else "")
        if key in out and key in judged and judged[key].survivor is not None:
            survivor = left.get(judged[key].survivor) or out.get(judged[key].survivor)
            if survivor is None or out[key]["duplicate_of"] != survivor["id"]:
                found.append(f"T2/T6: {key} names {out[key]['duplicate_of']}, not {judged[key].survivor}")
    for kind in FORMATS:
        lake = {row["id"] for row in outputs.table(f"train__{kind}") if row["release"] == outputs.release.name}
        if lake != {record["id"] for record in records if record["format"] == kind}:
            found.append(f"T4: train__{kind} and the release's files differ")
    return found


def compare_record(candidate: Candidate, record: Mapping[str, Any], split: str) -> list[str]:
    expected = {
        **candidate.fields,
        "source": candidate.source,
        "quality_weight": candidate.weight,
        "tier": candidate.tier,
        "domain": candidate.domain,
        "origin_ids": candidate.origins,
        "context": None if feedback_source.blank(candidate.context) else candidate.context,
        "base_weight": candidate.base_weight,
        "split": split,
    }
    if candidate.format == "preference":
        expected |= dict(zip(("votes_for", "votes_against"), candidate.votes, strict=True))
    seen = {**record, "origin_ids": frozenset(record["origin_ids"])}
    found = compare_rows("D7/T3/T4", {candidate.key: expected}, {candidate.key: seen})
    if candidate.format == "correction" and record["error_type"] not in (None, *feedback_source.ERROR_TYPES):
        found.append(f"F9: {candidate.key} error_type is {record['error_type']!r}")
    return found


def differences(outputs: Outputs) -> list[str]:
    """Everything in which the pipeline's answers differ from the oracle's."""
    verdict = outputs.judge()
    compares = (compare_quarantine, compare_examples, compare_training)
    return [difference for compare in compares for difference in compare(outputs, verdict)]
