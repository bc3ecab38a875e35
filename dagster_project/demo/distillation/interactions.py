"""Makes the interactions one after the other and hands them out as finished rows of every table."""

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from dagster_project.demo.dirt import RawText
from dagster_project.demo.distillation import plan
from dagster_project.demo.distillation.answers import Interaction, Teacher
from dagster_project.demo.distillation.feedback import (
    BY_ANSWER,
    BY_ID,
    BY_SESSION,
    BY_SESSION_AND_ANSWER,
    ON_ATTEMPT,
    Voice,
    read_voices,
)
from dagster_project.demo.distillation.flaws import FLAWS
from dagster_project.demo.distillation.hazards import PAIR_HAZARDS, all_hazards
from dagster_project.demo.distillation.rows import Archivist, thought_id
from dagster_project.demo.distillation.tables import COLUMNS, EXAMPLES, PAIRS, RAW, THOUGHTS, UNIFIED, VALUES, PairRow
from dagster_project.demo.distillation.texts import DOMAINS, Lesson, load_teaching
from dagster_project.demo.timeline import DAY, epoch, new_id, start_times, to_microseconds

BATCH = 5_000
PAIR_EVERY = 16
SESSION_GAP = 1_800.0
# The id of a chain of thought is made of the prompt and this much of the answer.
SHARED_LENGTH = 100
MOST_TRIES = 1_000
RAW_TEXTS = "raw_texts"
GENERATION = {UNIFIED: 1, EXAMPLES: 2, RAW: 3, THOUGHTS: 3}

Tables = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Demand:
    """What the caller wants to be generated."""

    rows: int
    seed: int
    days: int
    last_day: date
    text_bytes: int | None
    feedback: Path | None


class Distillery:
    """Generates interactions in the order of time. The same demand gives the same rows on any machine."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        self.rng = Random(f"{demand.seed}:distillation")
        self.teaching = load_teaching()
        self.end = epoch(demand.last_day + timedelta(days=1))
        self.teacher = Teacher(self.teaching, self.rng, demand.text_bytes)
        self.archivist = Archivist(self.teacher, self.end)
        notes = self.teaching.phrases["reviews"]
        self.hazards = all_hazards(tuple(notes["auto_approved"]), tuple(notes["auto_rejected"]))
        self.planted: Counter[str] = Counter()
        self.seen: set[bytes] = set()
        self.beginnings: set[str] = set()
        self.last_thought: Interaction | None = None
        self.session, self.session_until = "", 0.0
        lessons = [lesson for subject in self.teaching.subjects.values() for lesson in subject.lessons]
        self.accented = [lesson for lesson in lessons if not lesson.questions[0].bare.isascii()]
        self._plan()

    def _plan(self) -> None:
        """Decide when people ask, which answers they had judged before, and where the hazards are."""
        demand = self.demand
        rng = Random(f"{demand.seed}:distillation plan")
        self.starts = start_times(demand.rows, demand.days, demand.last_day, rng)
        self.voices: dict[int, Voice] = {}
        if demand.feedback is not None:
            first = self.end - DAY * demand.days
            voices = read_voices(demand.feedback, first, self.end, demand.rows // plan.LINKED_SHARE)
            self.voices = plan.place_voices([self._feasible(voice) for voice in voices], self.starts)
            self.seen = {_key(voice.query, voice.response) for voice in voices}
        self.places = plan.place_hazards(demand.rows, self.hazards, self.voices, rng)
        pairs = demand.rows // PAIR_EVERY
        shares = dict.fromkeys(PAIR_HAZARDS, 0.01)
        self.pair_places = plan.scatter(shares, pairs, list(range(pairs)), rng) if self.places else {}

    def _feasible(self, voice: Voice) -> Voice:
        """The teacher can improve on an attempt only if it knows what the question is about."""
        if voice.way == ON_ATTEMPT and self.teacher.known_lesson(voice.query) is None:
            return replace(voice, way=BY_SESSION_AND_ANSWER)
        return voice

    def batches(self) -> Iterator[Tables]:
        tables: Tables = defaultdict(list)
        for number in range(self.demand.rows):
            for table, values in self._rows(number):
                tables[table].append(values)
            if number % PAIR_EVERY == PAIR_EVERY - 1:
                tables[PAIRS].append(VALUES[PAIRS](self._pair(number)))
            if number % BATCH == BATCH - 1:
                yield tables
                tables = defaultdict(list)
        yield tables

    def _rows(self, number: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """The rows of one interaction, damaged where that is planned."""
        name, voice = self.places.get(number, ""), self.voices.get(number)
        if name == plan.SHARED_THOUGHT and self.last_thought is None:
            name = ""
        hazard = self.hazards.get(name)
        tables = plan.tables_for(name, hazard, voice, self.planted[name], self.rng)
        asked = self._distinct(number, name, voice, tables)
        rows = self._stored(asked, tables, name, hazard.table if hazard else "")
        if hazard:
            hazard.change(rows[hazard.table], self.rng)
            yield from _unwrapped(hazard.table, rows[hazard.table])
        if name:
            self.planted[name] += 1
        if voice:
            self.planted[voice.way] += 1
            if voice.verdict and voice.way != ON_ATTEMPT:
                self.planted[voice.verdict] += 1
        for table, row in rows.items():
            yield table, VALUES[table](row)
        if name == plan.REPEATED_ROW:
            yield tables[0], VALUES[tables[0]](self._repeated(rows[tables[0]]))

    def _distinct(self, number: int, name: str, voice: Voice | None, tables: tuple[str, ...]) -> Interaction:
        """An interaction that differs from all others in its prompt or its answer, whatever their case and spacing.

        In the legacy tables it must differ in its beginning already, or it would share a chain of thought unasked.
        """
        is_free = tables[0] not in (RAW, THOUGHTS) or name == plan.SHARED_THOUGHT
        for _ in range(MOST_TRIES):
            asked = self._interaction(to_microseconds(self.starts[number]), name, voice)
            if voice and asked.response == voice.response:
                break
            key = _key(asked.query, asked.response)
            if key not in self.seen and (is_free or thought_id(asked.query, asked.response) not in self.beginnings):
                self.seen.add(key)
                break
        else:
            raise RuntimeError(f"too few texts for {self.demand.rows} interactions")
        if voice is None:
            asked.session_id = self._session(asked.asked_at)
            if self.rng.random() < 0.25:
                asked.context = self.teacher.context(asked.lesson)
        return asked

    def _interaction(self, asked_at: float, name: str, voice: Voice | None) -> Interaction:
        if voice is not None:
            return self._judged(voice)
        if name in FLAWS:
            return FLAWS[name][1](self.teacher, asked_at)
        if name == plan.SHARED_THOUGHT and self.last_thought:
            return self._shares_beginning(self.last_thought, asked_at)
        lesson: Lesson | None = None
        if name == plan.NFD_COPY:
            lesson = self.teacher.pick(self.accented)
        hazard = self.hazards.get(name)
        with_attempt = name == plan.OLDER_ATTEMPT or (hazard is not None and hazard.table == "corrections")
        return self.teacher.interaction(asked_at, lesson, with_attempt)

    def _judged(self, voice: Voice) -> Interaction:
        """An answer from the feedback database, or one to the same question, linked in the way that was planned."""
        teacher, rng = self.teacher, self.rng
        lesson = teacher.known_lesson(voice.query)
        domain = lesson.domain if lesson else voice.domain if voice.domain in DOMAINS else "factual"
        asked_at = to_microseconds(max(voice.judged_at - 5, self.end - DAY * self.demand.days))
        attempt = teacher.attempt(lesson) if lesson and rng.random() < 0.4 else None
        if attempt and attempt.text == voice.response:  # that would be a judgement of the attempt
            attempt = None
        asked = Interaction(asked_at, voice.query, voice.response, "direct", domain, lesson, attempt)
        if lesson and (voice.way == ON_ATTEMPT or (voice.way == BY_SESSION and rng.random() < 0.6)):
            asked.kind = "multi_step" if rng.random() < 0.5 else "chain_of_thought"
            asked.response = teacher.lengthen(teacher.answer(lesson, asked.kind, attempt), lesson)
        if lesson and voice.way == ON_ATTEMPT:
            weakness = teacher.teaching.phrases["attempts"]["short"]
            asked.attempt = teacher.weak_attempt(voice.response, weakness)
        if voice.way == BY_ID:
            asked.given_id = voice.response_id
        asked.session_id = voice.session_id if voice.way != BY_ANSWER else None
        return asked

    def _shares_beginning(self, earlier: Interaction, asked_at: float) -> Interaction:
        """The same question and the same first hundred characters, but another answer: one chain of thought for two."""
        offers = self.teaching.subjects[earlier.domain].offers
        return replace(earlier, asked_at=asked_at, response=f"{earlier.response} {self.teacher.pick(offers)}")

    def _session(self, asked_at: float) -> str | None:
        """Questions within half an hour often belong together; at times the source does not know the session."""
        draw = self.rng.random()
        if draw < 0.09:
            self.planted["unknown_session"] += 1
            return None if draw < 0.04 else "" if draw < 0.06 else "default"
        if asked_at > self.session_until or draw < 0.3:
            self.session = f"sess_{new_id(self.rng)}"
        self.session_until = asked_at + SESSION_GAP
        return self.session

    def _stored(self, asked: Interaction, tables: tuple[str, ...], name: str, forced: str) -> dict[str, Any]:
        rows: dict[str, Any] = {}
        if len({GENERATION[table] for table in tables}) > 1:
            self.planted["in_several_generations"] += 1
        for place, table in enumerate(tables):
            if table == THOUGHTS:
                continue
            copy = self._copied(asked, decompose=name == plan.NFD_COPY) if place else asked
            if table == UNIFIED:
                rows[UNIFIED] = self.archivist.unified(copy)
                if name == plan.OLDER_ATTEMPT:
                    rows[UNIFIED].sam_attempt = rows[UNIFIED].corrections = None
                    rows[UNIFIED].training_format = "correction"
            elif table == EXAMPLES:
                rows |= self.archivist.example(copy, forced)
            else:
                rows |= self._legacy(copy, THOUGHTS in tables, is_shared=name == plan.SHARED_THOUGHT)
        if tables == (THOUGHTS,):
            rows[THOUGHTS] = self.archivist.thought(asked, alone=True)
            self.beginnings.add(rows[THOUGHTS].id)
            self.planted["thought_alone"] += 1
        return rows

    def _legacy(self, asked: Interaction, with_thought: bool, is_shared: bool) -> dict[str, Any]:
        while not is_shared and thought_id(asked.query, asked.response) in self.beginnings:
            asked = replace(asked, query=f"{asked.query}\n")
        self.beginnings.add(thought_id(asked.query, asked.response))
        if not with_thought:
            return {RAW: self.archivist.raw(asked)}
        if len(asked.response) >= SHARED_LENGTH:
            self.last_thought = asked
        return {RAW: self.archivist.raw(asked), THOUGHTS: self.archivist.thought(asked, alone=False)}

    def _copied(self, asked: Interaction, decompose: bool) -> Interaction:
        """The same interaction as an older writer stored it: a little later, in other case, spacing or line ends."""
        query, response, draw = asked.query, asked.response, self.rng.random()
        if decompose:
            query, response = unicodedata.normalize("NFD", query), unicodedata.normalize("NFD", response)
        elif draw < 0.6:
            self.planted["restyled_prompt"] += 1
            query = query.upper() if draw < 0.2 else f" {query.replace(' ', '  ')}\n" if draw < 0.4 else query.lower()
        if self.rng.random() < 0.4 and "\n" in response:
            self.planted["crlf_copy"] += 1
            response = response.replace("\n", "\r\n")
        elif self.rng.random() < 0.3:
            self.planted["padded_copy"] += 1
            response = f"{response} \n"
        later = to_microseconds(min(asked.asked_at + 90 * self.rng.random(), self.end - 1))
        return replace(asked, query=query, response=response, asked_at=later)

    def _repeated(self, row: Any) -> Any:
        """Stored once more by a retry, under another id."""
        later = to_microseconds(min(row.created_at + 3_000 * self.rng.random(), self.end - 1))
        return replace(row, id=new_id(self.rng), created_at=later)

    def _pair(self, number: int) -> Any:
        """Two answers of the teacher, the second made worse on request."""
        teacher = self.teacher
        asked = teacher.interaction(to_microseconds(self.starts[number]), with_attempt=True)
        attempt = asked.attempt
        assert attempt is not None
        if asked.kind == "correction" and asked.lesson:
            asked.response = teacher.answer(asked.lesson, "direct", None)
        reason = attempt.flaw.replace("The attempt", "The second answer").replace("the attempt", "the second answer")
        pair_id = hashlib.md5(f"pair{asked.query}{number}".encode()).hexdigest()[:12]
        row = PairRow(pair_id, asked.query, asked.response, attempt.text, reason, asked.domain, asked.asked_at)
        self.planted[PAIRS] += 1
        if name := self.pair_places.get(number // PAIR_EVERY):
            PAIR_HAZARDS[name].change(row, self.rng)
            self.planted[name] += 1
        return row


def _unwrapped(table: str, row: Any) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """A text that is not valid UTF-8 is written as bytes first; this says where it has to be turned into text."""
    for column in COLUMNS[table]:
        if type(value := getattr(row, column)) is RawText:
            setattr(row, column, bytes(value))
            yield RAW_TEXTS, (table, column, row.id)


def _key(query: str, response: str) -> bytes:
    """The same for texts that differ in case and spacing only."""
    normal = " ".join(unicodedata.normalize("NFC", f"{query}\n|\n{response}").lower().split())
    return hashlib.md5(normal.encode()).digest()
