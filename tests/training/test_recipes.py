"""T1, recipe: which candidates a recipe leaves out, and by which rule."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.config import load
from dagster_project.config.recipes import Recipe, recipes
from dagster_project.errors import GristmillError
from dagster_project.training.recipes import excluded

DAY = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "format": pl.String,
    "source": pl.String,
    "quality_weight": pl.Float64,
    "tier": pl.String,
    "domain": pl.String,
    "language": pl.String,
    "user_id": pl.String,
    "session_id": pl.String,
    "prompt_key": pl.String,
    "occurred_at": pl.Datetime("us", "UTC"),
    "char_count": pl.Int64,
}
PLAIN = {
    "format": "preference",
    "source": "feedback_preference",
    "quality_weight": 0.6,
    "tier": "standard",
    "domain": "code",
    "language": "en",
    "user_id": None,
    "session_id": None,
    "prompt_key": "p",
    "occurred_at": DAY,
    "char_count": 100,
}


def left_out(recipe: dict[str, Any], **rows: dict[str, Any]) -> dict[str, str]:
    frame = pl.DataFrame([{"id": id, **PLAIN, **row} for id, row in rows.items()], schema=SCHEMA)
    return dict(excluded(frame, recipes({"preference": recipe})).iter_rows())


@pytest.mark.parametrize(
    ("recipe", "out"),
    [
        ({"min_weight": 0.6}, {"quality_weight": 0.599999}),
        ({"min_tier": "standard"}, {"tier": "low"}),
        ({"sources": ["feedback_preference"]}, {"source": "feedback_rating_pair"}),
        ({"domains": ["code", "factual"]}, {"domain": "general"}),
        ({"languages": ["en"]}, {"language": None}),
        ({"languages": ["en"]}, {"language": "de"}),
        ({"min_chars": 100}, {"char_count": 99}),
        ({"max_chars": 100}, {"char_count": 101}),
    ],
)
def test_rules_about_a_record_by_itself(recipe: dict[str, Any], out: dict[str, Any]) -> None:
    assert left_out(recipe, a={}, b=out, c=out | {"format": "unpaired"}) == {"b": next(iter(recipe))}


def test_a_language_nobody_can_tell_is_one_too() -> None:
    assert left_out({"languages": ["de", "unknown"]}, a={}, b={"language": None}, c={"language": "de"}) == {
        "a": "languages"
    }


@pytest.mark.parametrize(
    ("rule", "column"),
    [("max_per_user", "user_id"), ("max_per_session", "session_id"), ("max_per_prompt", "prompt_key")],
)
def test_caps_keep_the_heaviest_then_the_newest_then_the_smallest_id(rule: str, column: str) -> None:
    rows = {
        "a": {column: "x"},
        "b": {column: "x", "quality_weight": 0.7},
        "c": {column: "x", "occurred_at": DAY + timedelta(seconds=1)},
        "d": {column: "x"},
        "e": {column: "y"},
    }
    assert left_out({rule: 2}, **rows) == {"a": rule, "d": rule}
    assert left_out({rule: 3}, **rows) == {"d": rule}


def test_unknown_users_have_no_cap() -> None:
    assert left_out({"max_per_user": 1, "max_per_session": 1}, a={}, b={}, c={"user_id": "x"}) == {}


def test_each_rule_counts_what_those_before_it_left() -> None:
    rows = {
        "a": {"user_id": "u", "prompt_key": "p", "quality_weight": 0.9, "char_count": 1},
        "b": {"user_id": "u", "prompt_key": "p", "quality_weight": 0.8},
        "c": {"user_id": "u", "prompt_key": "p", "quality_weight": 0.7},
        "d": {"user_id": "u", "prompt_key": "q", "quality_weight": 0.6},
        "e": {"user_id": "v", "prompt_key": "q", "quality_weight": 0.5},
        "f": {"user_id": "w", "prompt_key": "r", "quality_weight": 0.4},
    }
    recipe = {"min_chars": 2, "max_per_prompt": 1, "max_per_user": 1, "target_size": 1}
    assert left_out(recipe, **rows) == {
        "a": "min_chars",
        "c": "max_per_prompt",
        "e": "max_per_prompt",
        "d": "max_per_user",
        "f": "target_size",
    }


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "quality_weight": st.sampled_from([0.3, 0.6, 0.9]),
            "user_id": st.sampled_from([None, "u", "v"]),
            "prompt_key": st.sampled_from(["p", "q"]),
            "char_count": st.integers(0, 3),
        }
    ),
    max_size=12,
)


@given(ROWS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.randoms())
def test_laws(rows: list[dict[str, Any]], per_user: int, per_prompt: int, size: int, chances: Any) -> None:
    """No rule is broken by what is left, and the order of the rows makes no difference."""
    recipe = {"min_chars": 1, "max_per_user": per_user, "max_per_prompt": per_prompt, "target_size": size}
    named = {f"{place:02}": row for place, row in enumerate(rows)}
    out = left_out(recipe, **named)
    kept = [row for id, row in named.items() if id not in out]
    assert len(kept) <= size
    assert all(row["char_count"] >= 1 for row in kept)
    for column, most in (("user_id", per_user), ("prompt_key", per_prompt)):
        values = [row[column] for row in kept if row[column] is not None]
        assert all(values.count(value) <= most for value in values)
    shuffled = list(named.items())
    chances.shuffle(shuffled)
    assert left_out(recipe, **dict(shuffled)) == out


def test_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "gristmill.toml"
    file.write_text('[recipe.cot]\nlanguages = ["en", "de", "en"]\nmin_weight = 1\n[recipe.unpaired]\n')
    config = load(file, environ={})
    assert config.recipe == {"cot": Recipe(min_weight=1.0, languages=("de", "en"))}
    file.write_text('[recipe.cot]\nmin_weight = 1.0\nlanguages = ["de", "en"]\n')
    assert load(file, environ={}).rules_hash() == config.rules_hash()
    file.write_text("")
    assert load(file, environ={}).rules_hash() != config.rules_hash()


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("recipe = 3", "[recipe.<format>]"),
        ("[recipe]\ncot = 3", "[recipe.<format>]"),
        ("[recipe.dpo]\nmin_weight = 0.5", "no such format"),
        ("[recipe.cot]\nmin_wieght = 0.5", "did you mean min_weight?"),
        ("[recipe.cot]\nmin_weight = 1.5", "recipe.cot.min_weight must be between 0 and 1"),
        ('[recipe.cot]\nmin_weight = "0.5"', "recipe.cot.min_weight must be a number"),
        ("[recipe.cot]\nmin_weight = nan", "recipe.cot.min_weight must be a number"),
        ('[recipe.cot]\nmin_tier = "best"', "must be one of premium"),
        ("[recipe.cot]\nmax_per_user = 0", "must be at least 1"),
        ("[recipe.cot]\ntarget_size = 1.5", "must be a whole number"),
        ("[recipe.cot]\ntarget_size = true", "must be a whole number"),
        ("[recipe.cot]\nmin_chars = -1", "must be at least 0"),
        ("[recipe.cot]\nmin_chars = 9\nmax_chars = 8", "min_chars is above max_chars"),
        ("[recipe.cot]\nsources = []", "at least one"),
        ('[recipe.cot]\nsources = ["feedback_rating"]', "is none of distillation_cot"),
        ('[recipe.cot]\ndomains = ["cooking"]', "is none of code"),
        ('[recipe.cot]\nlanguages = ["English"]', "no language of two letters"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path: Path, said: str, complaint: str) -> None:
    file = tmp_path / "gristmill.toml"
    file.write_text(said)
    with pytest.raises(GristmillError) as error:
        load(file, environ={})
    assert complaint in str(error.value) and "\n" not in str(error.value)
