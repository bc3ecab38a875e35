"""Training sets from feedback alone: candidates, the reason each does not leave for, votes on pairs (semantics F6, F13, T1).

Reasons are settled one after the other, each among the candidates no earlier one took; what comes after unseen_attempt is left
to `release_rules`.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.oracle.feedback_rows import Answer, Feedback, Thread, answer_to
from tests.oracle.feedback_source import answer_form, blank, epoch_micros
from tests.oracle.release_rules import Record
from tests.oracle.unseen_texts import is_unseen_attempt

WHOLE_CORRECTIONS = ("full_replacement", "clarification")
EXPLICIT = ("feedback_preference", "feedback_correction_pair")
RATING_PAIR = "feedback_rating_pair"
LONG_ANSWER, FRAGMENT_PERCENT = 100, 30


@dataclass
class Candidate:
    """T1: one possible training record. `reason` is None where it leaves, or is at most a duplicate."""

    format: str
    source: str | None
    item: Feedback
    partner: Feedback | None
    weight: float
    base_weight: float
    fields: dict[str, Any]
    identity: tuple[Any, ...]  # what T2 compares beside prompt and context
    target: str | None = None  # the answer the record teaches, if it teaches one
    rejected: str | None = None  # the answer it is set against
    reason: str | None = None
    votes_for: int | None = None
    votes_against: int | None = None
    has_empty_partners: bool = False  # a rating pair all of whose thumbs-up answers are empty

    @property
    def key(self) -> tuple[str, str]:
        return (self.format, self.item.id)

    @property
    def origins(self) -> frozenset[str]:
        return frozenset({self.item.id} | ({self.partner.id} if self.partner else set()))

    @property
    def thread(self) -> Thread | None:
        return self.item.thread

    @property
    def group(self) -> tuple[Any, ...]:
        """T2: candidates with the same group are duplicates of each other."""
        return (self.format, self.thread, *self.identity)

    @property
    def is_pair(self) -> bool:
        return self.format == "preference"

    @property
    def sides(self) -> tuple[str, str]:
        return answer_form(self.target), answer_form(self.rejected)


# --- what may become a record (T1, F6) --------------------------------------------------------------------------------


def instruction(item: Feedback, source: str | None) -> Candidate:
    answer = item["original_response"]
    fields = {"instruction": item["original_query"], "input": "", "output": answer}
    return Candidate(
        "instruction", source, item, None, item.weight, item.base_weight, fields, (answer_form(answer),), answer
    )


def unpaired(item: Feedback) -> Candidate:
    answer, label = item["original_response"], item.sentiment == "positive"
    fields = {"prompt": item["original_query"], "completion": answer, "label": label}
    return Candidate(
        "unpaired",
        None if item.sentiment == "neutral" else "feedback_rating",
        item,
        None,
        item.weight,
        item.base_weight,
        fields,
        (answer_form(answer), label),
        answer if label else None,
    )


def pair(source: str, item: Feedback, chosen: str | None, partner: Feedback | None = None) -> Candidate:
    rejected = item["original_response"]
    rows = [item] + ([partner] if partner else [])
    return Candidate(
        "preference",
        source,
        item,
        partner,
        min(row.weight for row in rows),
        min(row.base_weight for row in rows),
        {"prompt": item["original_query"], "chosen": chosen, "rejected": rejected},
        (answer_form(chosen), answer_form(rejected)),
        chosen,
        rejected,
    )


def correction(item: Feedback) -> Candidate:
    """F6: seed 0's template; the explanation is trimmed and gets a full stop."""
    answer, wrong = item["original_response"], (item["what_was_wrong"] or "").strip()
    issue = f"The issue was: {wrong}{'' if wrong[-1] in '.!?' else '.'}\n\n" if wrong else ""
    output = f"{issue}Corrected answer: {item['correction']}"
    fields = {
        "instruction": f"SAM said: '{answer}'\n\nWhat was the issue and how should it be corrected?",
        "input": item["original_query"],
        "output": output,
    }
    identity = (answer_form(answer), answer_form(output))
    return Candidate(
        "correction",
        "feedback_correction",
        item,
        None,
        item.weight,
        item.base_weight,
        fields,
        identity,
        item["correction"],
        answer,
    )


def rating_pair(item: Feedback, ups: list[Feedback]) -> Candidate:
    """F6: the heaviest, then newest, then first by id of the uncontested thumbs-up answers that are not empty."""
    able = [up for up in ups if not up.is_contested and not blank(up["original_response"])]
    best = min(able, key=lambda up: (-up.weight, -epoch_micros(up.at), up.id)) if able else None
    found = pair(RATING_PAIR, item, best["original_response"] if best else None, best)
    found.has_empty_partners = all(blank(up["original_response"]) for up in ups)
    return found


def proposed(active: list[Feedback]) -> list[Candidate]:
    """T1: what each active row is a candidate for."""
    ups = defaultdict(list)
    for item in active:
        if item.sentiment == "positive" and item.thread:
            ups[item.thread].append(item)
    found = []
    for item in active:
        if item.effective_type == "rating":
            found += [instruction(item, "feedback_positive" if item.sentiment == "positive" else None), unpaired(item)]
            if item.sentiment == "negative" and item.thread in ups:
                found.append(rating_pair(item, ups[item.thread]))
        elif item.effective_type == "flag":
            found.append(instruction(item, None))
        elif item.effective_type == "preference":
            found.append(pair("feedback_preference", item, item["preferred_response"]))
        else:
            found.append(correction(item))
            if item.correction_type in WHOLE_CORRECTIONS:
                found.append(pair("feedback_correction_pair", item, item["correction"]))
    return found


# --- reasons, in their order (T1) -------------------------------------------------------------------------------------


def is_missing_text(candidate: Candidate) -> bool:
    texts = [candidate.item["original_query"], candidate.item["original_response"]]
    if candidate.source in EXPLICIT or candidate.format == "correction":
        texts.append(candidate.target)
    return any(blank(text) for text in texts) or (candidate.source == RATING_PAIR and candidate.has_empty_partners)


def is_contested(candidate: Candidate, condemned: set[Answer]) -> bool:
    """F8: a contested rating, a thumbs-down without an uncontested thumbs-up, a harmful answer taught."""
    if candidate.source == RATING_PAIR and candidate.partner is None:
        return True
    return candidate.item.is_contested or answer_to(candidate.thread, candidate.target) in condemned


def is_fragment(candidate: Candidate) -> bool:
    """F6: code points of a correction against the answer it would replace."""
    if candidate.source != "feedback_correction_pair":
        return False
    answer, fixed = len(candidate.item["original_response"]), len(candidate.item["correction"])
    return answer >= LONG_ANSWER and 100 * fixed < FRAGMENT_PERCENT * answer


def is_same_answer(candidate: Candidate) -> bool:
    return candidate.rejected is not None and candidate.sides[0] == candidate.sides[1]


def is_tie(candidate: Candidate) -> bool:
    """Equal but for white space outside fenced or indented code."""
    return candidate.is_pair and loose(candidate.sides[0]) == loose(candidate.sides[1])


def loose(text: str) -> str:
    """White space outside code left out. Code: between two fences, or lines indented by four spaces or a tab, which like
    in Markdown follow no line of prose."""
    kept, fence, may_begin = [], None, True
    for line in text.split("\n"):
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        is_indented = line.strip() != "" and re.match(r"    |\t", line) is not None
        if fence or mark:
            kept.append(f"\n{line}\n")
            if mark and fence and mark[1].startswith(fence):
                fence = None
            elif mark and not fence:
                fence = mark[1]
            may_begin = True
        elif may_begin and is_indented:
            kept.append(f"\n{line}\n")
        else:
            kept.append("".join(line.split()))
            may_begin = line.strip() == ""
    return "".join(kept)


def teaches_unseen_attempt(candidate: Candidate) -> bool:
    return candidate.format in ("instruction", "preference") and is_unseen_attempt(candidate.target)


def candidates_of(active: list[Feedback], condemned: set[Answer]) -> list[Candidate]:
    """T1, up to `unseen_attempt`."""
    found = proposed(active)

    def settle(reason: str, applies: Callable[[Candidate], bool]) -> None:
        for candidate in found:
            if candidate.reason is None and applies(candidate):
                candidate.reason = reason

    settle("flag", lambda c: c.item.effective_type == "flag")
    settle("negative_rating", lambda c: c.format == "instruction" and c.item.sentiment == "negative")
    settle("neutral_rating", lambda c: c.item.sentiment == "neutral")
    settle("missing_text", is_missing_text)
    settle("contested", lambda c: is_contested(c, condemned))
    settle("fragment", is_fragment)
    conflicting, outvoted = vote([c for c in found if c.is_pair and c.reason is None])
    settle("conflicting", lambda c: c.key in conflicting)
    settle("outvoted", lambda c: c.key in outvoted)
    settle("no_contrast", is_same_answer)
    settle("tie", is_tie)
    settle("unseen_attempt", teaches_unseen_attempt)
    return found


# --- votes on pairs (F13) ---------------------------------------------------------------------------------------------


Keys = set[tuple[str, str]]


def vote(pairs: list[Candidate]) -> tuple[Keys, Keys]:
    """The keys of conflicting and of outvoted pairs; explicit ones get their votes."""
    contrasting = [c for c in pairs if not is_same_answer(c)]
    questions = defaultdict(list)
    for candidate in contrasting:
        if candidate.source in EXPLICIT:
            questions[candidate.thread, frozenset(candidate.sides)].append(candidate)
    conflicting: Keys = set()
    outvoted: Keys = set()
    winners = set()
    for rows in questions.values():
        latest = {}
        for row in sorted(rows, key=lambda c: c.item.order):
            latest[row.item.voter_id] = row.sides
        counts = Counter(latest.values())
        for row in rows:
            row.votes_for, row.votes_against = counts[row.sides], len(latest) - counts[row.sides]
            if row.votes_for == row.votes_against:
                conflicting.add(row.key)
            elif row.votes_for < row.votes_against:
                outvoted.add(row.key)
            else:
                winners.add((row.thread, row.sides))
    rated = [c for c in contrasting if c.source == RATING_PAIR]
    stated = {(c.thread, c.sides) for c in rated}
    conflicting |= {c.key for c in rated if (c.thread, c.sides[::-1]) in stated}
    outvoted |= {c.key for c in rated if (c.thread, c.sides[::-1]) in winners}
    return conflicting, outvoted


# --- what a release looks at ------------------------------------------------------------------------------------------


def id_of(source: str, format: str, *origins: str) -> str:
    """T1: a hash of format, source and origin ids, which decides between equals; the row's own hash comes first."""
    said = "|".join((format, source, *origins[1:]))
    return hashlib.md5(origins[0].encode()).hexdigest()[:16] + hashlib.md5(said.encode()).hexdigest()[:8]


def record_of(candidate: Candidate) -> Record:
    """A candidate that nothing has spoken against yet."""
    item = candidate.item
    answers = (candidate.target, candidate.rejected) if candidate.is_pair else (item["original_response"],)
    notes: tuple[str, ...] = ()
    if candidate.format == "correction":
        wrong = item["what_was_wrong"] or ""
        answers, notes = (f"{wrong}\n\n{item['correction']}", item["original_response"]), (item["correction"],)
    return Record(
        key=candidate.key,
        id=id_of(candidate.source or "", candidate.format, *(row.id for row in (item, candidate.partner) if row)),
        format=candidate.format,
        query=item["original_query"],
        context=item["conversation_context"],
        said=tuple(answer or "" for answer in answers),
        others=notes,
        label=candidate.fields.get("label"),
        group=candidate.group,
        weight=candidate.weight,
        newest=max(item.at, candidate.partner.at) if candidate.partner else item.at,
    )
