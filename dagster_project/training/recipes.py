"""Which candidates a recipe leaves out, and by which of its rules (T1, recipe): on narrow columns, without any text.

A rule about a record by itself comes before one about many. Where so many may leave and no more, T2's order decides: the
heaviest, then the newest, then the smallest id; each cap counts what all rules before it left. A record whose user or session
nobody knows has no cap. The rules hold for every split: what is asked for is what leaves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields

import polars as pl

from dagster_project.config.recipes import UNKNOWN, Recipe
from dagster_project.contracts.columns import TIERS

EXCLUDED = {"id": pl.String, "rule": pl.String}
# What a record may have at most so many of; beside the columns the other rules look at.
CAPPED = {"max_per_prompt": "prompt_key", "max_per_session": "session_id", "max_per_user": "user_id"}
NEEDED = tuple(
    """
    id format source quality_weight tier domain language user_id session_id prompt_key occurred_at char_count
""".split()
)
T2_ORDER = ("quality_weight", "occurred_at", "id")


def excluded(candidates: pl.DataFrame, recipes: Mapping[str, Recipe]) -> pl.DataFrame:
    """`id` and `rule` of the candidates their format's recipe leaves out, in order of id.

    `candidates` has the columns `NEEDED`, and only those that no earlier reason took. `char_count` is of all its texts together.
    """
    found = [_of_format(candidates.filter(pl.col("format") == format), recipe) for format, recipe in recipes.items()]
    return pl.concat([pl.DataFrame(schema=EXCLUDED), *found]).sort("id")


def _of_format(rows: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    rules = dict(_by_themselves(recipe))
    failed = [pl.when(~holds.fill_null(False)).then(pl.lit(rule)) for rule, holds in rules.items()]
    rows = rows.select(*T2_ORDER, *CAPPED.values(), *_others(rules)).with_columns(
        pl.coalesce(*failed, pl.lit(None, dtype=pl.String)).alias("rule")
    )
    left = rows.filter(pl.col("rule").is_null()).sort(T2_ORDER, descending=[True, True, False])
    out = [rows.filter(pl.col("rule").is_not_null()).select("id", "rule")]
    for field in fields(recipe):
        most = getattr(recipe, field.name)
        if most is None or field.name not in (*CAPPED, "target_size"):
            continue
        place = pl.int_range(pl.len())
        if column := CAPPED.get(field.name):
            place = pl.when(pl.col(column).is_not_null()).then(place.over(column)).otherwise(-1)
        is_over = left.select(place >= most).to_series()
        out.append(left.filter(is_over).select("id", pl.lit(field.name).alias("rule")))
        left = left.filter(~is_over)
    return pl.concat(out)


def _by_themselves(recipe: Recipe) -> Iterator[tuple[str, pl.Expr]]:
    """The rules about a record by itself, each with when it holds."""
    if recipe.min_weight is not None:
        yield "min_weight", pl.col("quality_weight") >= recipe.min_weight
    if recipe.min_tier is not None:
        yield "min_tier", pl.col("tier").is_in(TIERS[: TIERS.index(recipe.min_tier) + 1])
    if recipe.sources is not None:
        yield "sources", pl.col("source").is_in(recipe.sources)
    if recipe.domains is not None:
        yield "domains", pl.col("domain").is_in(recipe.domains)
    if recipe.languages is not None:
        yield "languages", pl.col("language").fill_null(UNKNOWN).is_in(recipe.languages)
    if recipe.min_chars is not None:
        yield "min_chars", pl.col("char_count") >= recipe.min_chars
    if recipe.max_chars is not None:
        yield "max_chars", pl.col("char_count") <= recipe.max_chars


def _others(rules: Mapping[str, pl.Expr]) -> list[str]:
    """The columns these rules look at, beside those of the order and the caps."""
    looked_at = {name for holds in rules.values() for name in holds.meta.root_names()}
    return sorted(looked_at - {*T2_ORDER, *CAPPED.values()})
