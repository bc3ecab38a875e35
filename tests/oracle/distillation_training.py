"""Training sets over feedback and distillation together: candidates, reasons and records (semantics D7, T1 to T4, M2)."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.oracle import feedback_oracle
from tests.oracle.distillation_oracle import LEAST_CHANGE, DistillationVerdict, Distilled
from tests.oracle.feedback_oracle import answer_form, blank

LATE_REASONS = (None, "conflicting", "no_contrast", "low_weight")
Key = tuple[str, str, str]  # system, format, and the example or the feedback row


@dataclass
class Candidate:
    """T1: one possible record of either system. `reason` is None where it leaves, or is at most a duplicate."""

    key: Key
    source: str | None
    origins: frozenset[str]
    query: str
    context: str | None
    thread: tuple[str, str]
    fields: dict[str, Any]
    identity: tuple[Any, ...]  # what T2 compares beside prompt and context
    sides: tuple[str, str] | None  # two answers that must differ
    weight: float
    domain: str
    at: datetime
    newest: datetime  # of both rows, where it is a pair of ratings
    reason: str | None = None

    @property
    def format(self) -> str:
        return self.key[1]

    @property
    def group(self) -> tuple[Any, ...]:
        return (self.format, *self.thread, *self.identity)

    @property
    def tier(self) -> str:
        return feedback_oracle.tier_of(self.weight)


# --- distilled examples -----------------------------------------------------------------------------------------------


def with_full_stop(text: str) -> str:
    """F6."""
    trimmed = text.strip()
    return trimmed if trimmed.endswith((".", "!", "?")) else f"{trimmed}."


def fields_of(distilled: Distilled, kind: str) -> dict[str, Any]:
    """D7."""
    example = distilled.example
    if kind == "preference":
        rejected = example.value("bad_response") if example.is_synthetic else example.attempt
        return {"prompt": example.query, "chosen": example.response, "rejected": rejected or ""}
    if kind in ("instruction", "cot"):
        return {"instruction": example.query, "input": "", "output": example.response}
    attempt = example.attempt or ""
    return {
        "instruction": f"Here's what I said: {with_full_stop(attempt)} What should I have said instead?",
        "input": f"Original question: {example.query}\n\nMy answer: {attempt}",
        "output": f"Your answer has an error. Here's what you should have said:\n\n{example.response}",
    }


def early_reason(distilled: Distilled, fields: dict[str, Any]) -> str | None:
    """T1 up to `missing_text`: what the example itself says."""
    texts = (fields["chosen"], fields["rejected"]) if "chosen" in fields else (distilled.example.response,)
    found = {
        "failed": distilled.example.has_failed,
        "rejected": distilled.review_status == "rejected",
        "not_ready": not distilled.is_ready,
        "contradicted": distilled.is_contradicted,
        "missing_text": any(blank(text) for text in (distilled.example.query, *texts)),
    }
    return next((reason for reason, holds in found.items() if holds), None)


def distilled_candidate(distilled: Distilled, kind: str) -> Candidate:
    example = distilled.example
    fields = fields_of(distilled, kind)
    answer = answer_form(example.response)
    sides = (answer, answer_form(fields["rejected"] if kind == "preference" else example.attempt))
    identity: dict[str, tuple[Any, ...]] = {
        "instruction": (answer,), "cot": (answer,), "preference": sides,
        "correction": (sides[1], answer),
    }  # fmt: skip
    return Candidate(
        key=("distillation", kind, example.id),
        source="synthetic_pair" if example.is_synthetic else f"distillation_{kind}", origins=frozenset({example.id}),
        query=example.query, context=example.context, thread=example.thread, fields=fields, identity=identity[kind],
        sides=sides if kind in ("preference", "correction") else None, weight=distilled.weight, domain=distilled.domain,
        at=example.at, newest=example.at, reason=early_reason(distilled, fields),
    )  # fmt: skip


def formats_of(distilled: Distilled) -> set[str]:
    """T1: the primary format, and preference if there is an attempt."""
    return {distilled.training_format} | ({"preference"} if distilled.example.attempt else set())


def pair_reason(distilled: Distilled) -> str | None:
    """D7: what speaks against a pair of the teacher's and SAM's answers."""
    if "refusal" in distilled.flags:
        return "refusal"
    return "tie" if distilled.changed is not None and distilled.changed < LEAST_CHANGE else None


# --- feedback ---------------------------------------------------------------------------------------------------------


def feedback_candidate(found: feedback_oracle.Candidate) -> Candidate:
    """As the feedback oracle has it; reasons that look at other candidates or come after those are found again."""
    item, partner = found.item, found.partner
    return Candidate(
        key=("feedback", *found.key), source=found.source, origins=found.origins, query=item["original_query"],
        context=item["conversation_context"], thread=item.thread, fields=found.fields, identity=found.identity,
        sides=found.sides, weight=found.weight, domain=item.domain, at=item.at,
        newest=max(item.at, partner.at) if partner else item.at,
        reason=None if found.reason in LATE_REASONS else found.reason,
    )  # fmt: skip


# --- both together (M2) -----------------------------------------------------------------------------------------------


def reversed_pairs(candidates: list[Candidate]) -> set[Key]:
    """`conflicting`: pairs whose reverse stands too. Those with an earlier reason or equal sides take no part."""
    pairs = [c for c in candidates if c.format == "preference" and c.reason is None and c.sides]
    stated = {(c.thread, c.sides) for c in pairs}
    return {
        c.key for c in pairs if c.sides and c.sides[0] != c.sides[1] and (c.thread, c.sides[::-1]) in stated
    }  # fmt: skip


def candidates_of(verdict: DistillationVerdict) -> dict[Key, Candidate]:
    """Every candidate of both systems with its reason, up to and without `duplicate`."""
    settings = verdict.settings
    found = [feedback_candidate(candidate) for candidate in verdict.feedback.candidates.values()]
    distilled_of = {}
    for distilled in verdict.examples.values():
        for kind in sorted(formats_of(distilled)):
            candidate = distilled_candidate(distilled, kind)
            distilled_of[candidate.key] = distilled
            found.append(candidate)
    conflicting = reversed_pairs(found)
    for candidate in found:
        if candidate.reason is not None:
            continue
        distilled = distilled_of.get(candidate.key)
        if candidate.key in conflicting:
            candidate.reason = "conflicting"
        elif distilled and candidate.format == "preference" and pair_reason(distilled):
            candidate.reason = pair_reason(distilled)
        elif candidate.sides and candidate.sides[0] == candidate.sides[1]:
            candidate.reason = "no_contrast"
        elif candidate.weight < settings.min_weight:
            candidate.reason = "low_weight"
        elif candidate.source == "synthetic_pair" and not settings.synthetic_pairs:
            candidate.reason = "recipe"
    return {candidate.key: candidate for candidate in found}


def duplicate_groups(candidates: dict[Key, Candidate]) -> list[list[Candidate]]:
    """T2: the groups of which exactly one leaves."""
    groups = defaultdict(list)
    for candidate in candidates.values():
        if candidate.reason is None:
            groups[candidate.group].append(candidate)
    return list(groups.values())
