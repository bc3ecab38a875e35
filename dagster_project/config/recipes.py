"""Recipes: what of the candidates of a format goes into its training set, as `[recipe.<format>]` says it.

A recipe is a dataclass of which each field is a rule; what a rule may be is checked here, what it does in `training/recipes.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from dagster_project.config.settings import SHARE, check_bounds, typed
from dagster_project.contracts.columns import DOMAINS, TIERS
from dagster_project.contracts.formats import FORMATS, TRAINING_FORMATS
from dagster_project.errors import GristmillError

ALL_DOMAINS = (*DOMAINS, "analysis")  # the last is one of distilled examples alone
LANGUAGE = re.compile(r"[a-z]{2}")
UNKNOWN = "unknown"  # a record whose language nobody can tell
MOST = 2**40


def _rule(kind: type, sentence: str, least: int | None = None) -> Any:
    return field(default=None, metadata={"decides_outputs": True, "kind": kind, "sentence": sentence, "least": least})


@dataclass(frozen=True)
class Recipe:
    """What is not said is no rule. The order of the fields is that in which a record meets them."""

    min_weight: float | None = _rule(float, "nothing lighter")
    min_tier: str | None = _rule(str, "no lower tier")
    sources: tuple[str, ...] | None = _rule(tuple, "only from these sources")
    domains: tuple[str, ...] | None = _rule(tuple, "only of these domains")
    languages: tuple[str, ...] | None = _rule(tuple, "only in these languages; `unknown` is one, too")
    min_chars: int | None = _rule(int, "at least so many characters in all its texts", 0)
    max_chars: int | None = _rule(int, "at most so many", 1)
    max_per_prompt: int | None = _rule(int, "at most so many records of one prompt", 1)
    max_per_session: int | None = _rule(int, "at most so many of one session", 1)
    max_per_user: int | None = _rule(int, "at most so many of one user", 1)
    target_size: int | None = _rule(int, "at most so many records, the heaviest", 1)


RULES = {f.name: f for f in fields(Recipe)}


def recipes(said: Any) -> Mapping[str, Recipe]:
    """The recipes a table of formats means."""
    if not said:
        return {}
    if not isinstance(said, dict) or not all(isinstance(table, dict) for table in said.values()):
        raise GristmillError("recipe is said in gristmill.toml, as a table [recipe.<format>]")
    if unknown := sorted(set(said) - {*FORMATS}):
        raise GristmillError(f"recipe.{unknown[0]}: there is no such format; formats are {', '.join(FORMATS)}")
    return {format: _recipe(format, said[format]) for format in FORMATS if said.get(format)}


def _recipe(format: str, table: Mapping[str, Any]) -> Recipe:
    if unknown := sorted(set(table) - {*RULES}):
        near = get_close_matches(unknown[0], RULES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"rules are {', '.join(RULES)}"
        raise GristmillError(f"recipe.{format}: unknown rule {unknown[0]!r}; {hint}")
    recipe = Recipe(**{rule: _read(format, rule, value) for rule, value in table.items()})
    if recipe.min_chars is not None and recipe.max_chars is not None and recipe.min_chars > recipe.max_chars:
        raise GristmillError(f"recipe.{format}: min_chars is above max_chars, so nothing would leave")
    return recipe


def _read(format: str, rule: str, value: Any) -> Any:
    key, said = f"recipe.{format}.{rule}", RULES[rule].metadata
    if said["kind"] is tuple:
        return _words(key, value, {"sources": TRAINING_FORMATS[format].sources, "domains": ALL_DOMAINS}.get(rule), rule)
    if rule == "min_tier":
        if value not in TIERS:
            raise GristmillError(f"{key} must be one of {', '.join(TIERS)}, not {value!r}")
        return value
    if isinstance(value, str):
        raise GristmillError(f"{key} must be a number, not {value!r}")
    found = typed(said["kind"], value, key)
    check_bounds(key, found, SHARE if said["kind"] is float else (said["least"], MOST))
    return found


def _words(key: str, value: Any, known: tuple[str, ...] | None, rule: str) -> tuple[str, ...]:
    """In order and once each, so that the same recipe written otherwise is the same recipe."""
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
        raise GristmillError(f"{key} must be a list of texts with at least one in it, not {value!r}")
    for word in words:
        if known and word not in known:
            raise GristmillError(f"{key}: {word!r} is none of {', '.join(known)}")
        if rule == "languages" and word != UNKNOWN and not LANGUAGE.fullmatch(word):
            raise GristmillError(f"{key}: {word!r} is no language of two letters (ISO 639-1), nor {UNKNOWN!r}")
    return tuple(sorted(set(words)))
