"""Loads what the teacher knows: the topics people ask about, joined with the lessons on how to reason about them.

Questions, answers and mistakes come from the topics the feedback demo uses too, so the two sources share prompts. The
reasoning comes from the `teacher_*.toml` files, one lesson a topic. Everything is filled and rendered once, up front:
an answer is then only a matter of joining finished pieces.
"""

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dagster_project.demo.texts import QUESTIONS, Question, Settings, fill, load_library, questions_of, records_of

BEGINNING = 8  # characters that every question has before its setting
DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "analysis")


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer of SAM before the teacher was asked, and what the teacher finds wrong with it."""

    text: str
    error: str
    flaw: str
    fix: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What the teacher says about a check with a tool, and how the source records it."""

    text: str
    usage: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing to know, several ways to ask for it, and how the teacher gets to the answer.

    `more` are sentences that may follow an answer, `remarks` those of them that do not give a wrong one away.
    `numbered`, `argued` and `headed` are the steps as a list, as a list with reasons, and as sections. `steps`,
    `plain_steps` and `principles` are JSON.
    """

    domain: str
    topic: int
    subdomain: str
    task_type: str
    complexity: tuple[int, int]
    questions: tuple[Question, ...]
    answers: tuple[str, ...]
    more: tuple[str, ...]
    remarks: tuple[str, ...]
    mistakes: tuple[Attempt, ...]
    doubts: tuple[str, ...]
    final: str
    result: str | None
    numbered: str
    argued: str
    headed: str
    steps: str
    plain_steps: str
    principles: str
    tool: ToolUse | None


@dataclass(frozen=True, slots=True)
class Subject:
    """The lessons of one domain by topic, why people ask there, and what the teacher offers at the end."""

    topics: tuple[tuple[Lesson, ...], ...]
    settings: Settings
    offers: tuple[str, ...]

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        return tuple(lesson for topic in self.topics for lesson in topic)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that the teacher declines and SAM would have answered."""

    domain: str
    question: str
    answer: str
    attempt: str


@dataclass(frozen=True, slots=True)
class Principle:
    """A general rule that the teacher's answers rest on, as the oldest tables keep it."""

    domain: str
    text: str
    importance: float
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Teaching:
    """Everything there is to draw from. `asked` are all questions by how they begin, with the lesson they belong to."""

    subjects: Mapping[str, Subject]
    asked: Mapping[str, list[tuple[Question, Lesson]]]
    principles: tuple[Principle, ...]
    refusals: tuple[Refusal, ...]
    phrases: Mapping[str, Any]
    greetings: tuple[str, ...]
    leads: tuple[str, ...]
    closers: tuple[str, ...]
    related: tuple[str, ...]
    vague: tuple[str, ...]
    projects: tuple[str, ...]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((QUESTIONS / f"{name}.toml").read_text(encoding="utf-8"))


def _rendered(steps: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    places = range(1, len(steps) + 1)
    objects = [
        {"step_num": place, "action": action, "content": content, "reasoning": reasoning}
        for place, (action, content, reasoning) in zip(places, steps, strict=True)
    ]
    rows = list(zip(places, steps, strict=True))
    return {
        "numbered": "\n".join(f"{place}. {content}" for place, (_, content, _) in rows),
        "argued": "\n".join(f"{place}. {content} {reason}" for place, (_, content, reason) in rows),
        "headed": "\n\n".join(
            f"**Step {place}: {action}**\n{content} {reason}" for place, (action, content, reason) in rows
        ),
        "steps": json.dumps(objects, ensure_ascii=False),
        "plain_steps": json.dumps([content for _, content, _ in steps], ensure_ascii=False),
    }


def _lessons(domain: str, number: int, topic: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Lesson]:
    for values in records_of(topic):

        def filled(templates: Iterable[str], values: Mapping[str, str] = values) -> tuple[str, ...]:
            return tuple(fill(template, values) for template in templates)

        faults = zip(topic["mistakes"], plan["flaws"], plan["errors"], strict=True)
        principles = [
            {"principle": text, "context": context, "importance": importance}
            for text, context, importance in plan["principles"]
        ]
        tool = plan.get("tool")
        yield Lesson(
            domain=domain,
            topic=number,
            subdomain=plan["subdomain"],
            task_type=plan["task_type"],
            complexity=(plan["complexity"][0], plan["complexity"][1]),
            questions=questions_of(topic["questions"], values),
            answers=filled(topic["answers"]),
            more=filled([*topic["more"], *topic["remarks"]]),
            remarks=filled(topic["remarks"]),
            mistakes=tuple(
                Attempt(fill(mistake["answer"], values), error, fill(flaw, values), fill(mistake["fix"], values))
                for mistake, flaw, error in faults
            ),
            doubts=filled(plan["doubts"]),
            final=fill(plan["final"], values),
            result=fill(plan["result"], values) if "result" in plan else None,
            principles=json.dumps(principles, ensure_ascii=False),
            tool=tool and ToolUse(fill(tool["text"], values), json.dumps([{k: tool[k] for k in tool if k != "text"}])),
            **_rendered([(a, c, r) for a, c, r in map(filled, plan["steps"])]),
        )


def _subject(domain: str, slots: Mapping[str, list[str]]) -> Subject:
    data, plans = _read(domain), _read(f"teacher_{domain}")["lesson"]
    by_fields = {tuple(plan["fields"]): plan for plan in plans}
    return Subject(
        topics=tuple(
            tuple(_lessons(domain, number, topic, by_fields[tuple(topic["fields"])]))
            for number, topic in enumerate(data["topic"])
        ),
        settings=Settings(data["settings"], slots),
        offers=tuple(data["offers"]),
    )


def _principles(subjects: Mapping[str, Subject]) -> Iterator[Principle]:
    """Each principle once, with a question of each of the first lessons that rest on it."""
    found: dict[str, tuple[str, float, list[str]]] = {}
    for domain, subject in subjects.items():
        for lesson in subject.lessons:
            for entry in json.loads(lesson.principles):
                _, _, examples = found.setdefault(entry["principle"], (domain, entry["importance"], []))
                examples.append(lesson.questions[0].bare)
    for text, (domain, importance, examples) in found.items():
        yield Principle(domain, text, importance, tuple(examples[:3]))


@cache
def load_teaching() -> Teaching:
    """Read and fill every template."""
    phrases, library = _read("teacher"), load_library()
    slots = _read("phrases")["slots"]
    subjects = {domain: _subject(domain, slots) for domain in DOMAINS}
    asked: dict[str, list[tuple[Question, Lesson]]] = defaultdict(list)
    for subject in subjects.values():
        for lesson in subject.lessons:
            for question in lesson.questions:
                asked[question.head[:BEGINNING]].append((question, lesson))
    return Teaching(
        subjects=subjects,
        asked=asked,
        principles=tuple(_principles(subjects)),
        refusals=tuple(Refusal(**entry) for entry in phrases["refusal"]),
        phrases=phrases,
        greetings=library.greetings,
        leads=library.greetings + library.links,
        closers=library.closers,
        related=library.related,
        vague=library.vague,
        projects=tuple(slots["project"]),
    )
