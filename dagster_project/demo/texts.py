"""Loads the question templates and fills their slots.

Everything a person reads in the demo data stands in the TOML files of `questions/`. Where an answer depends on what was
asked, the values come from one record, so a country is never paired with another country's capital. All templates are
filled once, up front: composing a text is then only a matter of joining finished pieces, which keeps millions of rows
cheap.
"""

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from dagster_project.demo.computed_records import more_records

DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "general")
QUESTIONS = Path(__file__).parent / "questions"
SLOT = re.compile(r"\{([A-Za-z_]+)\}")
SETTING = "\0"  # stands where the setting goes until a question is cut there
# Slots of a setting that take a number; the others are lists of phrases.toml.
NUMBERS: dict[str, Sequence[str]] = {
    "number": [str(number) for number in range(3, 99)],
    "ticket": [str(number) for number in range(1_003, 9_999, 7)],
    "count": [f"{number:,}" for number in range(140, 98_000, 170)],
    "amount": [str(number) for number in range(120, 2_000, 20)],
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong answer to one case, with what an attentive reader would say about it."""

    answer: str
    wrong: str
    fix: str
    basis: str
    flag: str
    details: str


@dataclass(frozen=True, slots=True)
class Question:
    """One way to ask for something, cut in two where the setting goes: who asks, and why."""

    head: str
    tail: str

    @property
    def bare(self) -> str:
        return self.head + self.tail


class Settings:
    """Patterns whose slots are independent of each other. There are far more ways to fill them than anybody will draw."""

    def __init__(self, patterns: Iterable[str], slots: Mapping[str, Sequence[str]]) -> None:
        every = {**slots, **NUMBERS}
        # Texts and lists to pick from take turns.
        self._patterns = [
            [every[piece] if place % 2 else piece for place, piece in enumerate(SLOT.split(pattern))]
            for pattern in patterns
        ]

    def draw(self, rng: Random) -> str:
        pattern = self._patterns[int(rng.random() * len(self._patterns))]
        return "".join(piece if isinstance(piece, str) else piece[int(rng.random() * len(piece))] for piece in pattern)


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to know, with several ways to ask for it and to answer.

    `more` are sentences that may follow an answer, `endings` every choice of two or more of them, in their order.
    `remarks` are choices of those that do not give a wrong answer away.
    """

    questions: tuple[Question, ...]
    answers: tuple[str, ...]
    more: tuple[str, ...]
    endings: tuple[str, ...]
    remarks: tuple[str, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """The cases of one domain by topic, why people ask there, and what the assistant offers at the end."""

    name: str
    topics: tuple[tuple[Case, ...], ...]
    settings: Settings
    openers: tuple[str, ...]
    offers: tuple[str, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(case for topic in self.topics for case in topic)


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect that an answer on any subject can have, with the remarks it provokes."""

    wrong: tuple[str, ...]
    basis: tuple[str, ...]
    flag: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inventions:
    """What a bad model makes up, how it tells, and what people say to it. `{invented}` stands for one of the names."""

    invented: tuple[str, ...]
    answers: tuple[str, ...]
    wrong: tuple[str, ...]
    basis: tuple[str, ...]
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Private:
    """Something people should not have typed, and what the assistant says to it. `{it}` stands for the thing."""

    kind: str
    asked: str
    told: str


@dataclass(frozen=True, slots=True)
class Library:
    """All texts, ready to be joined."""

    domains: Mapping[str, Domain]
    defects: Mapping[str, Defect]
    greetings: tuple[str, ...]
    links: tuple[str, ...]
    closers: tuple[str, ...]
    related: tuple[str, ...]
    vague: tuple[str, ...]
    praise: tuple[str, ...]
    complaint: tuple[str, ...]
    inventions: Inventions
    private: Mapping[str, tuple[Private, ...]]


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into `{slot}`s; `{Slot}` takes the same value with a capital first letter.

    A misspelt slot or a stray bracket is an error here, so that it never reaches a database.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return values[name]
        text = values[name[0].lower() + name[1:]]
        return text[0].upper() + text[1:]

    text = SLOT.sub(value, template)
    if "{" in text or "}" in text:
        raise ValueError(f"stray bracket in: {text}")
    return text


def _fill_all(templates: Iterable[str], values: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(fill(template, values) for template in templates)


def questions_of(templates: Iterable[str], values: Mapping[str, str]) -> tuple[Question, ...]:
    """Every way to ask for what the values say. Each template has one `{setting}`."""
    asked = (fill(template, {**values, "setting": SETTING}).split(SETTING) for template in templates)
    return tuple(Question(head, tail) for head, tail in asked)


def records_of(topic: Mapping[str, Any]) -> Iterable[dict[str, str]]:
    """Each record of a topic with the names of its fields: those written down, and those worked out."""
    for record in (*topic["rows"], *more_records(topic["fields"])):
        yield dict(zip(topic["fields"], record, strict=True))


def _choices(sentences: tuple[str, ...], at_least: int) -> tuple[str, ...]:
    sizes = range(at_least, len(sentences) + 1)
    return tuple(" ".join(choice) for size in sizes for choice in itertools.combinations(sentences, size))


def _cases(topic: Mapping[str, Any]) -> Iterable[Case]:
    for values in records_of(topic):
        remarks = _fill_all(topic["remarks"], values)
        more = _fill_all(topic["more"], values) + remarks
        yield Case(
            questions=questions_of(topic["questions"], values),
            answers=_fill_all(topic["answers"], values),
            more=more,
            endings=_choices(more, at_least=2),
            remarks=_choices(remarks, at_least=1),
            mistakes=tuple(
                Mistake(**{field: fill(template, values) for field, template in mistake.items()})
                for mistake in topic["mistakes"]
            ),
        )


def every_way(pattern: str, slots: Mapping[str, list[str]]) -> Iterable[str]:
    """Every way to fill an opener whose slots are independent of each other."""
    names = sorted({name.lower() for name in SLOT.findall(pattern)})
    for combination in itertools.product(*(slots[name] for name in names)):
        yield fill(pattern, dict(zip(names, combination, strict=True)))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((QUESTIONS / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def load_library() -> Library:
    """Read and fill every template."""
    phrases = _read("phrases")
    domains: dict[str, Domain] = {}
    for name in DOMAINS:
        data = _read(name)
        domains[name] = Domain(
            name=name,
            topics=tuple(tuple(_cases(topic)) for topic in data["topic"]),
            settings=Settings(data["settings"], phrases["slots"]),
            openers=tuple(text for pattern in data["openers"] for text in every_way(pattern, phrases["slots"])),
            offers=tuple(data["offers"]),
        )
    defects = {
        name: Defect(tuple(texts["wrong"]), tuple(texts["basis"]), texts["flag"], tuple(texts["details"]))
        for name, texts in phrases["defects"].items()
    }
    return Library(
        domains=domains,
        defects=defects,
        greetings=tuple(phrases["questions"]["greetings"]),
        links=tuple(phrases["questions"]["links"]),
        closers=tuple(phrases["questions"]["closers"]),
        related=tuple(phrases["answers"]["related"]),
        vague=tuple(phrases["answers"]["vague"]),
        praise=tuple(phrases["remarks"]["praise"]),
        complaint=tuple(phrases["remarks"]["complaint"]),
        inventions=Inventions(**{name: tuple(texts) for name, texts in phrases["incident"].items()}),
        private={
            domain: tuple(
                Private(each["kind"], each["asked"], each["told"])
                for each in phrases["private"]
                if domain in each["domains"]
            )
            for domain in DOMAINS
        },
    )
