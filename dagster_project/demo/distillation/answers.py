"""Composes what a user asks, what SAM tries, and what the teacher answers, in each of the six ways of reasoning."""

import json
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from dagster_project.demo.distillation.texts import BEGINNING, Attempt, Lesson, Teaching

Item = TypeVar("Item")

# The ways of reasoning and the domains, and up to which draw of [0, 1) each is chosen.
KINDS = ("chain_of_thought", "direct", "multi_step", "correction", "tool_use", "meta_cognitive")
KIND_LIMITS = (0.26, 0.46, 0.62, 0.76, 0.90)
DOMAIN_NAMES = ("code", "reasoning", "factual", "analysis", "planning", "creative")
DOMAIN_LIMITS = (0.28, 0.46, 0.62, 0.77, 0.90)
# Corrections always have an attempt; together with this share of the others that makes a third.
ATTEMPT_SHARE = 0.22
BARE_SHARE = 0.12
# Errors of an attempt that says nothing wrong.
MERELY_WEAK = ("incomplete", "unclear", "format", "tone", "misunderstood")
VERY_LONG = 17_000


@dataclass(slots=True)
class Interaction:
    """One question and the teacher's answer to it, before anybody has stored it anywhere."""

    asked_at: float
    query: str
    response: str
    kind: str
    domain: str
    lesson: Lesson | None
    attempt: Attempt | None
    session_id: str | None = None
    context: str | None = None
    given_id: str | None = None


class Teacher:
    """Writes questions, attempts and answers, drawing from one random stream."""

    def __init__(self, teaching: Teaching, rng: Random, text_bytes: int | None = None) -> None:
        self.teaching = teaching
        self.rng = rng
        self.text_bytes = text_bytes
        self.surplus = 0.0
        self.supplements = {domain: _supplements(subject.lessons) for domain, subject in teaching.subjects.items()}

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.rng.random() * len(items))]

    def lesson(self) -> Lesson:
        domain = DOMAIN_NAMES[bisect(DOMAIN_LIMITS, self.rng.random())]
        return self.pick(self.pick(self.teaching.subjects[domain].topics))

    def question(self, lesson: Lesson) -> str:
        """As one person would put it, usually with a word about why; bare ones are also asked in the feedback demo."""
        asked = self.pick(lesson.questions)
        if self.rng.random() < BARE_SHARE:
            return asked.bare
        text = f"{asked.head}{self.teaching.subjects[lesson.domain].settings.draw(self.rng)}{asked.tail}"
        if self.rng.random() < 0.2:
            text = f"{self.pick(self.teaching.greetings)} {text}"
        return f"{text} {self.pick(self.teaching.closers)}" if self.rng.random() < 0.3 else text

    def interaction(self, asked_at: float, lesson: Lesson | None = None, with_attempt: bool = False) -> Interaction:
        lesson = lesson or self.lesson()
        kind = self._kind(lesson)
        has_attempt = with_attempt or kind == "correction" or self.rng.random() < ATTEMPT_SHARE
        attempt = self.attempt(lesson) if has_attempt else None
        query = self.question(lesson)
        response = self.lengthen(self.answer(lesson, kind, attempt), lesson)
        return Interaction(asked_at, query, response, kind, lesson.domain, lesson, attempt)

    def _kind(self, lesson: Lesson) -> str:
        kind = KINDS[bisect(KIND_LIMITS, self.rng.random())]
        return "chain_of_thought" if kind == "tool_use" and lesson.tool is None else kind

    def attempt(self, lesson: Lesson) -> Attempt:
        """Wrong in the matter, or right but too short, or evasive."""
        draw, manner = self.rng.random(), self.teaching.phrases["attempts"]
        if draw > 0.9:
            return self.weak_attempt(self.pick(self.teaching.vague), manner["vague"])
        if draw > 0.75 and (start := _first_sentence(lesson.answers[0])):
            return self.weak_attempt(start, manner["short"])
        mistake = self.pick(lesson.mistakes)
        text = mistake.text
        if self.rng.random() < 0.3:
            text = f"{self.pick(manner['manner']['openings'])} {text}"
        if self.rng.random() < 0.5:
            text = f"{text}{_break_after(text)}{self.pick(lesson.remarks)}"
        return Attempt(text, mistake.error, mistake.flaw, mistake.fix)

    def weak_attempt(self, text: str, weakness: dict[str, list[str]]) -> Attempt:
        return Attempt(text, str(weakness["error"]), self.pick(weakness["flaws"]), self.pick(weakness["fixes"]))

    def answer(self, lesson: Lesson, kind: str, attempt: Attempt | None) -> str:
        answer = self.pick(lesson.answers)
        if kind == "direct":
            return self._with_tail(answer, lesson) if self.rng.random() < 0.7 else answer
        is_weak = kind == "correction" and attempt is not None and attempt.error in MERELY_WEAK
        opening = self.pick(self.teaching.phrases["openings"]["completion" if is_weak else kind])
        if kind == "chain_of_thought":
            steps = lesson.numbered if self.rng.random() < 0.5 else lesson.argued
            text = f"{opening}\n\n{steps}\n\n{self.conclusion(lesson)}"
        elif kind == "multi_step":
            result = self.pick(self.teaching.phrases["endings"]["result"])
            text = f"{opening}\n\n{lesson.headed}\n\n{result}\n{answer}"
        elif kind == "tool_use" and lesson.tool:
            text = f"{opening} {answer}\n\n{lesson.tool.text}"
        elif kind == "correction" and attempt:
            text = f"{opening} {attempt.flaw}\n\n{answer}"
        else:
            return f"{opening}\n\n{answer}\n\n{self.pick(lesson.doubts)}"
        return self._with_tail(text, lesson)

    def conclusion(self, lesson: Lesson) -> str:
        """What was found out, followed by the piece itself where the answer is one."""
        pattern = self.pick(self.teaching.phrases["endings"]["conclusions"])
        capital = lesson.final[0].upper() + lesson.final[1:]
        text = pattern.replace("{final}", lesson.final).replace("{Final}", capital)
        if lesson.result:
            return f"{text}:\n\n{lesson.result}"
        return text if text.endswith(".") else f"{text}."

    def _with_tail(self, text: str, lesson: Lesson) -> str:
        """One or two more sentences, and perhaps an offer."""
        place = int(self.rng.random() * len(lesson.more))
        tail = lesson.more[place]
        if place and self.rng.random() < 0.5:
            tail = f"{lesson.more[int(self.rng.random() * place)]} {tail}"
        if self.rng.random() < 0.35:
            tail = f"{tail} {self.pick(self.teaching.subjects[lesson.domain].offers)}"
        return f"{text}{_break_after(text)}{tail}"

    def lengthen(self, text: str, lesson: Lesson) -> str:
        """Where long texts are wanted: further questions of the domain with their answers, until it is long enough."""
        if not self.text_bytes:
            return text
        owed = max(-self.text_bytes, min(self.text_bytes, self.surplus))
        longer = self.stretch(text, lesson, self.text_bytes * (0.5 + self.rng.random()) - owed)
        self.surplus += len(longer) - self.text_bytes
        return longer

    def stretch(self, text: str, lesson: Lesson, wanted: float) -> str:
        """The topics take turns, beginning after the lesson's own: answers of one topic share some of their wording."""
        supplements, pieces, length = self.supplements[lesson.domain], [text], len(text)
        place = lesson.topic
        while length < wanted:
            place = (place + 1) % len(supplements)
            piece = f"{self.pick(self.teaching.related)} {self.pick(supplements[place])}"
            pieces.append(piece)
            length += len(piece) + 2
        return "\n\n".join(pieces)

    def context(self, lesson: Lesson | None) -> str:
        """What the assistant knew when the question came: the project, or what was asked before."""
        contexts = self.teaching.phrases["contexts"]
        if lesson is not None and lesson.domain == "code" and self.rng.random() < 0.6:
            return self.pick(contexts["project"]).replace("{project}", self.pick(self.teaching.projects))
        earlier = self.pick(self.pick(self.teaching.subjects[lesson.domain if lesson else "factual"].topics))
        return self.pick(contexts["earlier"]).replace("{question}", self.pick(earlier.questions).bare)

    def corrections(self, attempt: Attempt) -> str:
        """JSON: what SAM got wrong and how to do better."""
        said = attempt.text if len(attempt.text) <= 200 else f"{attempt.text[:200].rsplit(' ', 1)[0]} ..."
        error = {
            "error_type": attempt.error,
            "what_sam_said": said,
            "what_was_wrong": attempt.flaw,
            "correct_answer": attempt.fix,
        }
        improvements = self.teaching.phrases["improvements"].get(attempt.error, ["Explain why"])
        return json.dumps({"sam_errors": [error], "improvements": improvements}, ensure_ascii=False)

    def known_lesson(self, query: str) -> Lesson | None:
        """The lesson that a question of the feedback demo belongs to, whoever asks it why."""
        for greeting in self.teaching.leads:
            query = query.removeprefix(f"{greeting} ")
        found = [
            (question, lesson)
            for question, lesson in self.teaching.asked.get(query[:BEGINNING], ())
            if query.startswith(question.head) and question.tail in query[len(question.head) :]
        ]
        return max(found, key=lambda pair: len(pair[0].bare))[1] if found else None


def _supplements(lessons: Sequence[Lesson]) -> list[list[str]]:
    """Questions with their answers for each topic: first every topic in one wording, then every topic in another."""
    topics = range(max(lesson.topic for lesson in lessons) + 1)
    return [
        [f"{lesson.questions[0].bare}\n{lesson.answers[wording]}" for lesson in lessons if lesson.topic == topic]
        for wording in range(2)
        for topic in topics
    ]


def _first_sentence(answer: str) -> str | None:
    """Enough to stand alone, and clearly less than the whole; none if the answer is code, a list or a poem."""
    start, dot, _ = answer.partition(". ")
    return f"{start}." if dot and "\n" not in answer and len(start) < 0.7 * len(answer) else None


def _break_after(text: str) -> str:
    """What follows goes on in the same paragraph, unless the text has several."""
    return "\n\n" if "\n" in text else " "
