"""Loads what is said in the demo conversations: the TOML files of `dialogues/`, with every slot filled once, up front."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dagster_project.demo.texts import fill, load_library

DIALOGUES = Path(__file__).parent / "dialogues"
SUBJECTS = ("shopping", "travel", "code", "cooking", "facts", "writing")

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A bad answer and what people say to it."""

    answer: str
    corrections: Texts


@dataclass(frozen=True, slots=True)
class Question:
    """What the assistant asks in return. Neither yes nor no says anything against its answer."""

    asked: str
    yes: Texts
    no: Texts
    yes_answer: str
    no_answer: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing somebody wants, with all that may be said about it."""

    domain: str
    intents: Texts
    openers: Texts
    keywords: str
    goals: Texts
    strategies: Texts
    requests: Texts
    rephrasings: Texts
    answers: Texts
    accepts: Texts
    references: Texts
    misses: tuple[Miss, ...]
    questions: tuple[Question, ...]
    follows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Phrases:
    """What fits any subject. `trifles` and `references` are pairs of what one side says and how the other replies."""

    lists: Mapping[str, Texts]
    trifles: tuple[tuple[str, Texts], ...]
    references: tuple[tuple[Texts, Texts], ...]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DIALOGUES / f"{name}.toml").read_text(encoding="utf-8"))


def _scenes(subject: Mapping[str, Any], scene: Mapping[str, Any], questions: tuple[Question, ...]) -> Iterable[Scene]:
    openers = load_library().domains[subject["domain"]].openers
    for record in scene["rows"]:
        values = dict(zip(scene["fields"], record, strict=True))

        def filled(templates: Iterable[str], values: Mapping[str, str] = values) -> Texts:
            return tuple(fill(template, values) for template in templates)

        goal = fill(scene["goal"], values)
        yield Scene(
            domain=subject["domain"],
            intents=tuple(subject["intents"]),
            openers=openers,
            keywords=json.dumps(filled(scene["keywords"]), ensure_ascii=False),
            goals=tuple(json.dumps([{"goal": goal, "status": status}]) for status in ("open", "done")),
            strategies=filled(scene["strategies"]),
            requests=filled(scene["requests"]),
            rephrasings=filled(scene["rephrasings"]),
            answers=filled(scene["answers"]),
            accepts=filled(scene["accepts"]),
            references=filled(scene["references"]),
            misses=tuple(Miss(fill(miss["answer"], values), filled(miss["corrections"])) for miss in scene["miss"]),
            questions=questions,
            follows=tuple((fill(each["ask"], values), fill(each["answer"], values)) for each in scene["follow"]),
        )


def _question(data: Mapping[str, Any]) -> Question:
    return Question(data["asked"], tuple(data["yes"]), tuple(data["no"]), data["yes_answer"], data["no_answer"])


@cache
def load_scenes() -> tuple[Scene, ...]:
    """Every scene with every record filled in."""
    questions = _read("common")["question"]
    scenes: list[Scene] = []
    for name in SUBJECTS:
        subject = _read(name)
        fitting = tuple(_question(each) for each in questions if name in each["subjects"])
        scenes.extend(filled for scene in subject["scene"] for filled in _scenes(subject, scene, fitting))
    return tuple(scenes)


@cache
def load_phrases() -> Phrases:
    data = _read("common")
    return Phrases(
        lists={name: tuple(texts) for name, texts in data.items() if isinstance(texts[0], str)},
        trifles=tuple((each["aside"], tuple(each["replies"])) for each in data["trifle"]),
        references=tuple((tuple(each["asked"]), tuple(each["answers"])) for each in data["reference"]),
    )
