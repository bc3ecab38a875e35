"""Writes a made-up source of AI sessions, `sessions.db`: sessions over four months, feedback on time and late, reviews, documents,
outputs as they were and as people left them, and rows as they should not be."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from dagster_project.demo.database import NewDatabase
from dagster_project.demo.incident import Incident
from dagster_project.demo.sessions.places import TASKS, Document, Workspace, make_workspaces, new_id
from dagster_project.demo.texts import load_library
from dagster_project.demo.timeline import DAY, HOUR, LAST_DAY, epoch, start_times

FILE = "sessions.db"
DAYS = 120
BATCH_SESSIONS = 10_000
FEWEST_SESSIONS = 300  # below that nothing dirty is planted
HAZARD_EVERY, BENCH_HAZARD_EVERY = 120, 20_000
WIDTHS = {"ai_sessions": 12, "session_feedback": 15, "context_nodes": 8, "session_outputs": 3}
# What people name as the error, in both vocabularies, and how often.
CATEGORIES = {
    "missing_context": 40,
    "INCOMPLETE": 8,
    "MISSING_CONTEXT": 6,
    "ignored_constraints": 14,
    "incorrect_pattern": 4,
    "hallucination": 8,
    "style_mismatch": 6,
    "WRONG_STYLE": 2,
    "wrong_context": 5,
    "OUTDATED_INFO": 3,
    "other": 4,
}
ISSUES = ("hallucination", "missed_requirement", "style_issue", "security_concern", "performance_concern")
WANTED = (
    "The retry policy of the payment service.",
    "Which tables are still on the old schema.",
    "Our naming rules for events.",
    "The decision to drop XML.",
    "That the mobile app caches for a day.",
)
COMMENTS = (
    "Good enough to ship.",
    "Half of it was guesswork.",
    "Saved me an hour.",
    "Please read the runbook first.",
    None,
    None,
)
GOOD_VERDICTS, BAD_VERDICTS = (
    ("approved", "approved", "approved", "changes_requested"),
    ("changes_requested", "rejected"),
)
SWAPS = (("should", "must"), ("is", "was"), ("the", "our"), ("can", "could"), ("and", "or"))

Row = tuple[Any, ...]


def write_sessions(folder: Path, sessions: int, seed: int, *, is_bench: bool = False) -> dict[str, int]:
    """Write `sessions.db` with exactly `sessions` sessions and say how often each hazard was planted."""
    writer = _Writer(sessions, seed, is_bench)
    with closing(NewDatabase(folder / FILE, "sessions/tables.sql")) as file:
        for tables in writer.batches():
            for table, rows in tables.items():
                file.insert(table, rows, WIDTHS[table])
    return {**writer.planted, "rows": sessions}


class _Writer:
    def __init__(self, sessions: int, seed: int, is_bench: bool) -> None:
        self.rng = Random(f"sessions {seed}")
        self.count = sessions
        self.is_bench = is_bench
        self.planted: Counter[str] = Counter()
        self.places = make_workspaces(self.rng)
        cases = [case for domain in load_library().domains.values() for case in domain.cases]
        self.texts = [(answer, case.more) for case in cases for answer in case.answers]
        self.end = epoch(LAST_DAY) + DAY
        self.incident = Incident(LAST_DAY)
        self.types = [types for _, types in TASKS.values()]
        self.type_weights = [weight for weight, _ in TASKS.values()]

    def batches(self) -> Iterator[dict[str, list[Row]]]:
        yield {"context_nodes": list(self._nodes())}
        times = start_times(self.count, DAYS, LAST_DAY, self.rng)
        weights = [place.weight for place in self.places]
        every = BENCH_HAZARD_EVERY if self.is_bench else HAZARD_EVERY
        for start in range(0, self.count, BATCH_SESSIONS):
            tables: dict[str, list[Row]] = {"ai_sessions": [], "session_feedback": [], "session_outputs": []}
            chosen = times[start : start + BATCH_SESSIONS]
            for number, (when, place) in enumerate(
                zip(chosen, self.rng.choices(self.places, weights, k=len(chosen)), strict=True), start
            ):
                self._add_session(tables, when, place)
                if self.count >= FEWEST_SESSIONS and number % every == every // 2:
                    self._spoil(tables, number // every)
            yield tables

    def _nodes(self) -> Iterator[Row]:
        for place in self.places:
            for document in place.documents:
                deleted = _iso(self.end - self.rng.random() * 60 * DAY) if self.rng.random() < 0.04 else None
                kind = document.type.upper() if self.rng.random() < 0.1 else document.type
                fresh = round(self.rng.random(), 3)
                yield (
                    document.id,
                    place.tenant_id,
                    kind,
                    self.rng.choice(("core", "team")),
                    document.name,
                    fresh,
                    document.tokens,
                    deleted,
                )

    # --- one session ---------------------------------------------------------------------------------------------

    def _add_session(self, tables: dict[str, list[Row]], when: float, place: Workspace) -> None:
        rng = self.rng
        session_id = new_id(rng)
        documents = self._documents(place)
        tokens = sum(document.tokens for document in documents)
        user = rng.choice(place.users) if rng.random() > 0.01 else "default"
        tables["ai_sessions"].append(
            (
                session_id,
                place.tenant_id,
                place.id,
                rng.choice(place.slices) if rng.random() < 0.8 else None,
                user,
                json.dumps([document.id for document in documents]),
                tokens,
                _iso(when - 2),
                sha256(session_id.encode()).hexdigest() if rng.random() < 0.9 else None,
                _iso(when),
                _iso(when + rng.expovariate(1 / 900)),
                _iso(when),
            )
        )
        bad_model = self.incident.share(when)
        luck = 0.74 - 0.35 * bad_model + place.skill + sum(d.worth for d in documents) / 2 + rng.uniform(-0.2, 0.2)
        is_good = rng.random() < luck
        has_output = rng.random() < (0.2 if self.is_bench else 0.35)
        if has_output:
            original = self._text()
            tables["session_outputs"].append((session_id, original, self._edited(original, is_good)))
        if rng.random() < 0.6:
            changed = round(rng.betavariate(1, 8 if is_good else 2) * 100)
            self._add_feedback(tables["session_feedback"], session_id, when, place, user, is_good, changed, has_output)

    def _documents(self, place: Workspace) -> list[Document]:
        """Those that belong to the task, one or two of each type; now and then whatever somebody dragged in."""
        rng = self.rng
        if rng.random() < 0.08:
            return rng.sample(place.documents, rng.randint(1, 6))
        types = rng.choices(self.types, self.type_weights)[0]
        found = [(place.by_type[kind], 2 if rng.random() < 0.2 else 1) for kind in types]
        return [document for known, count in found for document in rng.sample(known, min(count, len(known)))]

    def _categories(self, submitted: float) -> list[str]:
        rng = self.rng
        if rng.random() < 0.7 * self.incident.share(submitted):
            return ["hallucination"]
        names, weights = list(CATEGORIES), list(CATEGORIES.values())
        drawn = rng.choices(names, weights, k=rng.choice((1, 1, 1, 1, 1, 2, 3)))
        return list(dict.fromkeys(drawn))

    def _add_feedback(
        self,
        rows: list[Row],
        session_id: str,
        when: float,
        place: Workspace,
        user: str,
        is_good: bool,
        changed: int,
        has_output: bool,
    ) -> None:
        rng = self.rng
        submitted = when + self._delay()
        if submitted >= self.end:  # still to come
            return
        rating = "skipped" if rng.random() < 0.12 else "positive" if is_good else "negative"
        spelling = rng.random()
        rating = rating.upper() if spelling < 0.15 else rating.title() if spelling < 0.18 else rating
        row = self._feedback(session_id, place, user, rating, is_good, changed, has_output, submitted)
        rows.append(row)
        self.planted["feedback"] += 1
        self.planted["late_feedback"] += submitted - when > DAY
        again = rng.random()
        if again < 0.03:  # a retried queue
            rows.append((new_id(rng), *row[1:13], _iso(min(submitted + rng.random() * 3, self.end - 1)), row[14]))
        elif again < 0.05:  # a change of mind
            later = min(submitted + rng.expovariate(1 / (3 * DAY)), self.end - 1)
            other = "negative" if is_good else "positive"
            rows.append(self._feedback(session_id, place, user, other, not is_good, changed, has_output, later))

    def _feedback(
        self,
        session_id: str,
        place: Workspace,
        user: str,
        rating: str,
        is_good: bool,
        changed: int,
        has_output: bool,
        submitted: float,
    ) -> Row:
        rng = self.rng
        is_reviewed = rng.random() < 0.45
        verdict = None
        scores: tuple[int | None, ...] = (None, None, None)
        if is_reviewed:
            verdict = rng.choice(GOOD_VERDICTS if is_good else BAD_VERDICTS)
            verdict = verdict.upper() if rng.random() < 0.15 else verdict
            middle = 82 if is_good else 55
            scores = tuple(
                max(0, min(100, round(rng.gauss(middle, 12)))) if rng.random() < 0.9 else None for _ in range(3)
            )
        categories = self._categories(submitted) if not is_good and rng.random() < 0.85 else None
        issues = rng.sample(ISSUES, rng.choice((1, 1, 2))) if is_reviewed and not is_good else []
        return (
            new_id(rng),
            place.tenant_id,
            session_id,
            rating,
            json.dumps(categories) if categories else None,
            rng.choice(WANTED) if categories and rng.random() < 0.3 else None,
            rng.choice(COMMENTS),
            *scores,
            verdict,
            changed if is_reviewed and rng.random() < (0.4 if has_output else 0.8) else None,
            json.dumps(issues),
            _iso(submitted),
            rng.choice(place.reviewers) if is_reviewed else user,
        )

    def _delay(self) -> float:
        """Most feedback comes at once, some days later, a little after months."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.82:
            return rng.expovariate(1 / HOUR)
        return rng.expovariate(1 / (4 * DAY)) if draw < 0.985 else rng.uniform(40, 110) * DAY

    # --- outputs -------------------------------------------------------------------------------------------------

    def _text(self) -> str:
        rng = self.rng
        parts = []
        for answer, more in rng.choices(self.texts, k=rng.randint(2, 4)):
            parts += [answer, *more[: rng.randint(0, 2)]]
        return "\n".join(parts)

    def _edited(self, text: str, is_good: bool) -> str:
        """As a person leaves it: untouched, a word here and there, a part cut or added, or written anew."""
        rng = self.rng
        draw = rng.random() + (0 if is_good else 0.35)
        if draw < 0.25:
            return text
        lines = text.split("\n")
        for old, new in rng.sample(SWAPS, 2):
            lines = [line.replace(f" {old} ", f" {new} ", 1) if rng.random() < 0.5 else line for line in lines]
        if draw > 0.6:
            lines.pop(rng.randrange(len(lines)))
        if draw > 0.8:
            lines.insert(rng.randint(0, len(lines)), rng.choice(self.texts)[0])
        return self._text() if draw > 1.2 else "\n".join(lines)

    # --- dirt ----------------------------------------------------------------------------------------------------

    def _spoil(self, tables: dict[str, list[Row]], number: int) -> None:
        """Replace a value of the newest session or of the newest feedback, or add a row nobody expects."""
        hazards = (*SESSION_HAZARDS, *FEEDBACK_HAZARDS, "orphan", "other_tenant")
        name = hazards[number % len(hazards)]
        feedback = tables["session_feedback"]
        if name in SESSION_HAZARDS:
            column, value = SESSION_HAZARDS[name]
            tables["ai_sessions"][-1] = _with(tables["ai_sessions"][-1], column, value)
        elif not feedback:
            return
        elif name in FEEDBACK_HAZARDS:
            column, value = FEEDBACK_HAZARDS[name]
            feedback[-1] = _with(feedback[-1], column, value)
        elif name == "orphan":
            feedback.append((new_id(self.rng), feedback[-1][1], new_id(self.rng), *feedback[-1][3:]))
        else:
            feedback.append((new_id(self.rng), new_id(self.rng), *feedback[-1][2:]))
        self.planted[name] += 1


# Hazard -> which column gets which value.
SESSION_HAZARDS: dict[str, tuple[int, object]] = {
    "session_without_tenant": (1, None),
    "session_without_user": (4, ""),
    "documents_no_json": (5, "{a,b}"),
    "documents_no_array": (5, '{"id": 1}'),
    "text_as_token_count": (6, "many"),
    "no_start": (9, None),
    "start_no_time": (9, "yesterday"),
    "start_out_of_range": (9, "1970-01-01T00:00:00"),
    "start_in_milliseconds": (9, 1_767_225_600_000),
    "future_session": (9, "2089-02-03T10:00:00Z"),
}
FEEDBACK_HAZARDS: dict[str, tuple[int, object]] = {
    "no_rating": (3, None),
    "unknown_rating": (3, "meh"),
    "categories_no_json": (4, "hallucination"),
    "unknown_category": (4, '["BAD_VIBES"]'),
    "score_too_high": (7, 250),
    "score_below_zero": (8, -1),
    "score_no_whole_number": (9, 71.5),
    "unknown_verdict": (10, "lgtm"),
    "edit_distance_too_high": (11, 140),
    "submitted_never": (13, None),
    "submitted_later": (13, "2089-02-02 09:00:00"),
    "bad_text_comment": (6, b"\xff\xfe"),
}


def _with(row: Row, column: int, value: object) -> Row:
    return (*row[:column], value, *row[column + 1 :])


def _iso(seconds: float) -> str:
    """Naive UTC, as the source writes it."""
    return (
        datetime.fromtimestamp(round(seconds, 3), UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")
    )
