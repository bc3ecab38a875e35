"""What the pipeline should say of every distilled example, in plain Python from the source files (semantics D and M).

`judge` is the way in. The law leaves free what is extracted from a text (D3): an example's `Findings` are stored values
where there are any, and else whatever the pipeline says it found. Where the law allows two readings:

- a row's review is read with that row's own notes; a row without human_reviewed says nothing (D2, D6);
- `failed` is said of a chain of thought that stands alone, not of an interaction that has one (D2);
- `is_ready` does not look at users' feedback: T1 knows `contradicted` as a reason of its own, after `not_ready` (M1);
- feedback on SAM's attempt is not about the teacher's answer, however it is linked (M1);
- `tie` is a reason of pairs; a teacher's refusal is one of every format: people choose and like answers in feedback (T1);
- training_ready is a value like others: the first row of an example that has one gives it (D2, D6).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from pathlib import Path

from tests.oracle import feedback_oracle
from tests.oracle.distillation_merge import Example, merged
from tests.oracle.distillation_rows import DistillationSource, sort_out
from tests.oracle.distillation_texts import changed_share, fixed_flags
from tests.oracle.feedback_rows import Feedback
from tests.oracle.feedback_source import DOMAINS as FEEDBACK_DOMAINS
from tests.oracle.feedback_source import answer_form, blank, prompt_key, word
from tests.oracle.unseen_texts import is_unseen_attempt

REASONING_TYPES = {"chain_of_thought", "tool_use", "correction", "direct", "multi_step", "meta_cognitive"}
DOMAINS = FEEDBACK_DOMAINS | {"analysis"}
PRIMARY_FORMATS = ("instruction", "cot", "correction", "preference")
BLOCKING_FLAGS = {"repetition", "incomplete", "refusal"}
LEAST_CHANGE = 0.05
APPROVED_WEIGHT = 0.7
WEAK = ("incomplete", "unclear", "format", "tone", "verbose")


@dataclass(frozen=True)
class Settings:
    min_weight: float = 0.3
    split_key: str = "gristmill"
    min_score: float = 0.7
    auto_ready: bool = True
    synthetic_pairs: bool = False
    synthetic_weight: float | None = None  # None: their quality_score, as D7 says of every weight

    @property
    def feedback(self) -> feedback_oracle.Settings:
        return feedback_oracle.Settings(min_weight=self.min_weight, split_key=self.split_key)


# --- what is stored and what may have been extracted (D3) -------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    """What the score and the format look at, stored or extracted."""

    reasoning_type: str | None
    has_steps: bool
    has_errors: bool
    has_principles: bool

    @property
    def is_chain(self) -> bool:
        """D7: qualifies for cot."""
        return self.has_steps and self.reasoning_type in ("chain_of_thought", "multi_step")


def possible_findings(example: Example, reasoning_type: str | None) -> Iterator[Findings]:
    """All that may be right, given the reasoning type the pipeline shows. A stored value leaves no choice (D3)."""
    stored_type = example.value("reasoning_type")
    kind = word(stored_type) if stored_type is not None else reasoning_type
    steps, corrections, principles = (example.value(c) for c in ("reasoning_steps", "corrections", "principles"))
    free = (False, True)
    yield from (
        Findings(kind, *values)
        for values in product(
            free if steps is None else (len(steps) >= 2,),
            (free if example.attempt else (False,)) if corrections is None else (bool(corrections.get("sam_errors")),),
            free if principles is None else (len(principles) >= 1,),
        )
    )


def flags_of(example: Example) -> set[str]:
    """D4: those the law fixes, joined with those stored."""
    return fixed_flags(example.response) | {word(flag) or "" for flag in example.value("quality_flags") or []}


def score_of(example: Example, findings: Findings, flags: set[str]) -> float:
    """D5: seed 2's calculate_quality_score, in hundredths."""
    score = 50
    score += 10 if findings.has_steps else 0
    score += 15 if findings.has_errors else 0
    score += 10 if findings.has_principles else 0
    score += 5 if (example.value("complexity") or 0) >= 5 else 0
    score -= 20 if len(example.response) < 100 else 0
    score -= 10 if findings.reasoning_type == "direct" else 0
    score -= 30 if "repetition" in flags else 0
    score -= 20 if "incomplete" in flags else 0
    return max(0, min(100, score)) / 100


# --- users' feedback (M1) ---------------------------------------------------------------------------------------------


def feedback_about(example: Example, active: list[Feedback]) -> list[Feedback]:
    """The rows that count: the first of three ways that finds any."""
    answer, session, key = answer_form(example.response), example.value("session_id"), prompt_key(example.query)
    attempt = answer_form(example.attempt)

    def gave(item: Feedback) -> str | None:
        """Empty texts are equal to no other text (F1)."""
        return answer_form(item["original_response"]) or None

    def is_escalated(item: Feedback) -> bool:
        return item["escalated_to_claude"] == 1

    teachers = [item for item in active if gave(item) == answer or not attempt or gave(item) != attempt]
    asked = [i for i in teachers if not blank(i["original_query"]) and prompt_key(i["original_query"]) == key]
    ways = (
        [item for item in teachers if item["response_id"] == example.id],
        [i for i in asked if session and i.session_id == session and (is_escalated(i) or gave(i) == answer)],
        [item for item in asked if is_escalated(item) and gave(item) == answer],
    )
    return next((way for way in ways if way), [])


def verdict_of(rows: list[Feedback]) -> str | None:
    up = sum(item.sentiment == "positive" for item in rows)
    down = sum(item.sentiment == "negative" for item in rows)
    objection = any(i.effective_type == "correction" or i.flag_type in ("harmful", "incorrect") for i in rows)
    if objection or down > up:
        return "contradicted"
    return "validated" if up > down else None


# --- the example ------------------------------------------------------------------------------------------------------


@dataclass
class Distilled:
    """An example with everything derived from it (core__distillation)."""

    example: Example
    findings: Findings
    settings: Settings
    decision: str | None = None  # our own review: approved, rejected or none
    feedback_verdict: str | None = None
    flags: set[str] = field(init=False)
    score: float = field(init=False)
    changed: float | None = field(init=False)

    def __post_init__(self) -> None:
        example = self.example
        self.flags = flags_of(example)
        self.score = score_of(example, self.findings, self.flags)
        self.changed = changed_share(example.attempt, example.response) if example.attempt else None

    @property
    def review_status(self) -> str:
        """D6, D8: our own decision comes before the source's."""
        return self.decision or self.example.value("review") or "pending"

    @property
    def is_ready(self) -> bool:
        if self.review_status != "pending":
            return self.review_status == "approved"
        if self.example.is_synthetic:
            return self.example.sides_differ
        if self.example.value("training_ready") == 1:
            return True
        settings = self.settings
        return settings.auto_ready and self.score >= settings.min_score and not self.flags & BLOCKING_FLAGS

    @property
    def is_contradicted(self) -> bool:
        """M1: until a person approves it in our own review."""
        return self.feedback_verdict == "contradicted" and self.decision != "approved"

    @property
    def has_contrast(self) -> bool:
        return self.changed is not None and "refusal" not in self.flags and self.changed >= LEAST_CHANGE

    @property
    def is_unseen_attempt(self) -> bool:
        """T1: its answer talks about an attempt the prompt does not show."""
        return is_unseen_attempt(self.example.response)

    @property
    def is_right_attempt(self) -> bool:
        """D7: its words stand in the answer, four of them at least, and no error of the matter is named. Nothing here is quoted."""
        errors = (self.example.value("corrections") or {}).get("sam_errors") or []
        attempt, answer = (
            " ".join(re.findall(r"\w+", text or "")) for text in (self.example.attempt, self.example.response)
        )
        is_said_too = len(attempt.split()) >= 4 and f" {attempt.lower()} " in f" {answer.lower()} "
        return is_said_too and all(error["error_type"] in WEAK for error in errors)

    @property
    def training_format(self) -> str:
        """D7: the primary format."""
        if self.example.is_synthetic:
            return "preference"
        plain = "cot" if self.findings.is_chain else "instruction"
        stored = word(self.example.value("training_format"))
        wanted = stored if stored in PRIMARY_FORMATS else "correction" if self.findings.has_errors else plain
        if wanted == "correction" and self.is_right_attempt:
            return plain
        return plain if wanted in ("correction", "preference") and not self.has_contrast else wanted

    @property
    def weight(self) -> float:
        if self.example.is_synthetic and self.settings.synthetic_weight is not None:
            return self.settings.synthetic_weight
        return max(self.score, APPROVED_WEIGHT) if self.review_status == "approved" else self.score

    @property
    def domain(self) -> str:
        domain = word(self.example.value("domain"))
        return domain if domain in DOMAINS else "general"


Finder = Callable[[Example], Findings]


@dataclass
class DistillationVerdict:
    """All right answers for one set of files at one as_of; training sets are judged in `distillation_training`."""

    as_of: datetime
    settings: Settings
    source: DistillationSource
    examples: dict[str, Distilled]
    feedback: feedback_oracle.Verdict


def judge(
    files: list[Path],
    feedback_files: list[Path],
    as_of: datetime,
    settings: Settings,
    find: Finder,
    decisions: Mapping[str, str] | None = None,
) -> DistillationVerdict:
    """The right answers. `find` says what was extracted from an example; decisions are our own reviews by example_id."""
    source = sort_out(files)
    feedback = feedback_oracle.judge(feedback_files, as_of, settings.feedback)
    examples = {}
    for key, example in merged(source, as_of).items():
        verdict = None if example.is_synthetic else verdict_of(feedback_about(example, feedback.active))
        examples[key] = Distilled(example, find(example), settings, (decisions or {}).get(key), verdict)
    return DistillationVerdict(as_of, settings, source, examples, feedback)


def nothing_found(example: Example) -> Findings:
    """As if the extraction never found anything; stored values remain."""
    return next(possible_findings(example, None))


def explanation(example: Example, settings: Settings, row: Mapping[str, object]) -> Findings:
    """The findings that explain a row of core__distillation, or the first possible ones where none does.

    Columns step_count, has_sam_errors and principle_count are believed where the table has them.
    """
    kind = row["reasoning_type"]
    possible = list(possible_findings(example, kind if isinstance(kind, str) else None))
    told = {
        "has_steps": (row.get("step_count"), lambda n: n >= 2),
        "has_errors": (row.get("has_sam_errors"), bool),
        "has_principles": (row.get("principle_count"), lambda n: n >= 1),
    }
    believed = [
        f for f in possible if all(seen is None or getattr(f, n) == reads(seen) for n, (seen, reads) in told.items())
    ]

    def explains(findings: Findings) -> bool:
        distilled = Distilled(example, findings, settings)
        return distilled.score == row["quality_score"] and distilled.training_format == row["training_format"]

    candidates = believed or possible
    return next((findings for findings in candidates if explains(findings)), candidates[0])
