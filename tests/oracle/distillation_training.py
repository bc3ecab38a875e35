"""Training sets over feedback and distillation together: candidates, reasons and records (semantics D7, T1 to T4, M2)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.oracle import feedback_training
from tests.oracle.distillation_oracle import LEAST_CHANGE, DistillationVerdict, Distilled
from tests.oracle.feedback_rows import Answer, Thread, answer_to, thread_of, tier_of
from tests.oracle.feedback_source import answer_form, blank
from tests.oracle.release_rules import Record, Rules, settle

Key = tuple[str, str, str]  # system, format, and the example or the feedback row


@dataclass
class Candidate:
    """T1: one possible record of either system. `reason` is None where it leaves, or is at most a duplicate."""

    key: Key
    source: str | None
    origins: frozenset[str]
    query: str
    context: str | None
    thread: Thread | None
    fields: dict[str, Any]
    identity: tuple[Any, ...]  # what T2 compares beside prompt and context
    weight: float
    base_weight: float
    domain: str
    at: datetime
    newest: datetime  # of both rows, where it is a pair of ratings
    reason: str | None = None
    votes: tuple[int | None, int | None] = (None, None)

    @property
    def format(self) -> str:
        return self.key[1]

    @property
    def group(self) -> tuple[Any, ...]:
        return (self.format, self.thread, *self.identity)

    @property
    def tier(self) -> str:
        return tier_of(self.weight)


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


def reason_of(distilled: Distilled, kind: str, sides: tuple[str, str], condemned: set[Answer]) -> str | None:
    """T1 up to `unseen_attempt`: the first that holds."""
    example = distilled.example
    is_pair = kind == "preference"
    texts = (example.query, example.response, *(sides if is_pair else ()))
    thread = thread_of(example.query, example.context)
    is_tie = is_pair and not example.is_synthetic and distilled.changed is not None and distilled.changed < LEAST_CHANGE
    found = {
        "failed": example.has_failed,
        "rejected": distilled.review_status == "rejected",
        "not_ready": not distilled.is_ready,
        "contradicted": distilled.is_contradicted,
        "missing_text": any(blank(text) for text in texts),
        "contested": answer_to(thread, example.response) in condemned,
        "refusal": "refusal" in distilled.flags,
        "no_contrast": kind in ("preference", "correction") and sides[0] == sides[1],
        "tie": is_tie,
        "unseen_attempt": kind != "correction" and distilled.is_unseen_attempt,
    }
    return next((reason for reason, holds in found.items() if holds), None)


def distilled_candidate(distilled: Distilled, kind: str, condemned: set[Answer]) -> Candidate:
    example = distilled.example
    fields = fields_of(distilled, kind)
    answer = answer_form(example.response)
    sides = (answer, answer_form(fields["rejected"] if kind == "preference" else example.attempt))
    identity: dict[str, tuple[Any, ...]] = {
        "instruction": (answer,),
        "cot": (answer,),
        "preference": sides,
        "correction": (sides[1], answer),
    }
    return Candidate(
        key=("distillation", kind, example.id),
        source="synthetic_pair" if example.is_synthetic else f"distillation_{kind}",
        origins=frozenset({example.id}),
        query=example.query,
        context=example.context,
        thread=thread_of(example.query, example.context),
        fields=fields,
        identity=identity[kind],
        weight=distilled.weight,
        base_weight=distilled.weight,
        domain=distilled.domain,
        at=example.at,
        newest=example.at,
        reason=reason_of(distilled, kind, sides, condemned),
    )


def formats_of(distilled: Distilled) -> set[str]:
    """T1: the primary format, and preference if there is an attempt."""
    return {distilled.training_format} | ({"preference"} if distilled.example.attempt else set())


# --- feedback ---------------------------------------------------------------------------------------------------------


def feedback_candidate(found: feedback_training.Candidate) -> Candidate:
    """As the feedback oracle has it: votes on pairs are users' alone (F13)."""
    item, partner = found.item, found.partner
    return Candidate(
        key=("feedback", *found.key),
        source=found.source,
        origins=found.origins,
        query=item["original_query"],
        context=item["conversation_context"],
        thread=item.thread,
        fields=found.fields,
        identity=found.identity,
        weight=found.weight,
        base_weight=found.base_weight,
        domain=item.domain,
        at=item.at,
        newest=max(item.at, partner.at) if partner else item.at,
        reason=found.reason,
        votes=(found.votes_for, found.votes_against),
    )


# --- both together (M2) -----------------------------------------------------------------------------------------------


def candidates_of(verdict: DistillationVerdict) -> dict[Key, Candidate]:
    """Every candidate of both systems with its reason, up to `unseen_attempt`."""
    found = [feedback_candidate(candidate) for candidate in verdict.feedback.candidates.values()]
    found += [
        distilled_candidate(distilled, kind, verdict.feedback.condemned)
        for distilled in verdict.examples.values()
        for kind in sorted(formats_of(distilled))
    ]
    return {candidate.key: candidate for candidate in found}


def settled(verdict: DistillationVerdict, candidates: dict[Key, Candidate]) -> dict[Key, Record]:
    """What a release settles about the candidates that nothing earlier speaks against, over both systems together."""
    left = {key: candidate for key, candidate in candidates.items() if candidate.reason is None}
    records = {key: record_of(verdict, candidate) for key, candidate in left.items()}
    examples = [found.example for found in verdict.examples.values()]
    queries = [e.query for e in examples if not blank(e.query) and not blank(e.response)]
    settings = verdict.settings
    rules = Rules(settings.split_key, settings.min_weight, "augmentation", settings.synthetic_pairs)
    settle([*records.values()], [*queries, *verdict.feedback.queries], rules)
    return records


def record_of(verdict: DistillationVerdict, candidate: Candidate) -> Record:
    system, kind, name = candidate.key
    if system == "feedback":
        found = feedback_training.record_of(verdict.feedback.candidates[kind, name])
        found.key = candidate.key
        return found
    example = verdict.examples[name].example
    rejected = example.value("bad_response") if example.is_synthetic else example.attempt
    answers = (example.response, rejected) if kind in ("preference", "correction") else (example.response,)
    return Record(
        key=candidate.key,
        id=feedback_training.id_of(candidate.source or "", kind, name),
        format=kind,
        query=candidate.query,
        context=candidate.context,
        said=tuple(answer or "" for answer in answers),
        others=(),
        label=None,
        group=candidate.group,
        weight=candidate.weight,
        newest=candidate.newest,
        is_synthetic=example.is_synthetic,
    )
