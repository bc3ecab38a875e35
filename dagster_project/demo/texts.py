"""Loads the question templates and fills their slots.

Everything a person reads in the demo data stands in the TOML files of `questions/`. Where an answer depends on what was
asked, the values come from one record, so a country is never paired with another country's capital. All templates are
filled once, up front: composing a text is then only a matter of joining finished pieces, which keeps millions of rows
cheap.
"""

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "general")
QUESTIONS = Path(__file__).parent / "questions"
SLOT = re.compile(r"\{([A-Za-z_]+)\}")


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
class Case:
    """One thing to know, with several ways to ask for it and to answer.

    `more` are sentences that may follow an answer, `endings` every choice of two or more of them, in their order.
    `remarks` are choices of those that do not give a wrong answer away.
    """

    questions: tuple[str, ...]
    answers: tuple[str, ...]
    more: tuple[str, ...]
    endings: tuple[str, ...]
    remarks: tuple[str, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """The cases of one domain, how people lead up to a question there, and what the assistant offers at the end."""

    name: str
    cases: tuple[Case, ...]
    openers: tuple[str, ...]
    offers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect that an answer on any subject can have, with the remarks it provokes."""

    wrong: tuple[str, ...]
    basis: tuple[str, ...]
    flag: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """All texts, ready to be joined."""

    domains: Mapping[str, Domain]
    defects: Mapping[str, Defect]
    closers: tuple[str, ...]
    related: tuple[str, ...]
    vague: tuple[str, ...]
    praise: tuple[str, ...]
    complaint: tuple[str, ...]


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


def _choices(sentences: tuple[str, ...], at_least: int) -> tuple[str, ...]:
    sizes = range(at_least, len(sentences) + 1)
    return tuple(" ".join(choice) for size in sizes for choice in itertools.combinations(sentences, size))


def _cases(topic: Mapping[str, Any]) -> Iterable[Case]:
    for record in topic["rows"]:
        values = dict(zip(topic["fields"], record, strict=True))
        remarks = _fill_all(topic["remarks"], values)
        more = _fill_all(topic["more"], values) + remarks
        yield Case(
            questions=_fill_all(topic["questions"], values),
            answers=_fill_all(topic["answers"], values),
            more=more,
            endings=_choices(more, at_least=2),
            remarks=_choices(remarks, at_least=1),
            mistakes=tuple(
                Mistake(**{field: fill(template, values) for field, template in mistake.items()})
                for mistake in topic["mistakes"]
            ),
        )


def _expand(pattern: str, slots: Mapping[str, list[str]]) -> Iterable[str]:
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
            cases=tuple(case for topic in data["topic"] for case in _cases(topic)),
            openers=tuple(text for pattern in data["openers"] for text in _expand(pattern, phrases["slots"])),
            offers=tuple(data["offers"]),
        )
    defects = {
        name: Defect(tuple(texts["wrong"]), tuple(texts["basis"]), texts["flag"], tuple(texts["details"]))
        for name, texts in phrases["defects"].items()
    }
    return Library(
        domains=domains,
        defects=defects,
        closers=tuple(phrases["questions"]["closers"]),
        related=tuple(phrases["answers"]["related"]),
        vague=tuple(phrases["answers"]["vague"]),
        praise=tuple(phrases["reactions"]["praise"]),
        complaint=tuple(phrases["reactions"]["complaint"]),
    )
