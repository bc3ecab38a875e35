"""What may leave of one week's sessions: seed 4's AnonymizedFeedback, no combination of values by fewer than k people (S6).

A combination is everything that leaves of a session. One that fewer than k different users share loses its scores; if what is
left is still rare, its edit distance; then its utilisation; then it does not leave. What lost a value stands beside those that
never had it and is counted together with them, at every step anew. Nothing is ever taken away from a combination that is
common enough, so one that is stays so. docs/anonymised.md says what this protects from and what not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import polars as pl

from dagster_project.columns.rounding import rounded
from dagster_project.columns.words import word
from dagster_project.contracts.anonymised_columns import FIELDS, SCORES

REMOVED_IN_ORDER = ("qualityScores", "editDistance", "tokenBudgetUtilization")
COMBINATIONS = pl.Schema({**FIELDS, "session_count": pl.Int64()})
QUARTERS, THIRDS = 4, 3


@dataclass(frozen=True)
class Counts:
    """What became of the sessions with feedback in time. `removed`: how many of the exported ones lack a value they had."""

    sessions: int = 0
    exported: int = 0
    suppressed: int = 0
    removed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REMOVED_IN_ORDER, 0))

    @property
    def adds_up(self) -> bool:
        return self.sessions == self.exported + self.suppressed

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.sessions + other.sessions,
            self.exported + other.exported,
            self.suppressed + other.suppressed,
            {name: self.removed[name] + other.removed[name] for name in REMOVED_IN_ORDER},
        )


@dataclass(frozen=True)
class Anonymised:
    """Every combination that leaves, by its values, and how many sessions have it."""

    combinations: pl.DataFrame
    counts: Counts

    @property
    def rows(self) -> pl.DataFrame:
        return one_row_per_session(self.combinations)


def anonymise(rows: pl.DataFrame, k: int = 5, token_budget: int = 8000) -> Anonymised:
    """One ISO week: a row per session with feedback in time.

    Columns: user_id, context_types, context_token_count, rating, error_categories, accuracy_score, completeness_score,
    style_match_score, edit_distance_pct. A session of an unknown user counts as nobody's: it leaves only among k others.
    """
    users = pl.col("user").drop_nulls().unique()
    removed = [pl.lit(0, dtype=pl.Int64).alias(_removed(name)) for name in REMOVED_IN_ORDER]
    # a number: what is compared below is not who but whether. One id in two spellings is one person, to be safe.
    person = word(rows["user_id"]).rank("dense").alias("user")
    same = _coarse(rows, token_budget).with_columns(person).group_by(*FIELDS)
    found = same.agg(users, pl.len().cast(pl.Int64).alias("session_count")).with_columns(removed)
    is_rare = pl.col("user").list.len() < k
    for name in REMOVED_IN_ORDER:
        poorer = found.filter(is_rare).with_columns(
            pl.lit(None, dtype=FIELDS[name]).alias(name),
            pl.when(pl.col(name).is_not_null()).then("session_count").otherwise(_removed(name)).alias(_removed(name)),
        )
        sums = [pl.col(column).sum() for column in ("session_count", *map(_removed, REMOVED_IN_ORDER))]
        merged = pl.concat([found.filter(~is_rare), poorer]).group_by(*FIELDS)
        found = merged.agg(pl.col("user").explode().drop_nulls().unique(), *sums)
    leaves = found.filter(~is_rare)
    counts = Counts(
        sessions=rows.height,
        exported=int(leaves["session_count"].sum()),
        suppressed=int(found.filter(is_rare)["session_count"].sum()),
        removed={name: int(leaves[_removed(name)].sum()) for name in REMOVED_IN_ORDER},
    )
    return Anonymised(in_order(leaves.select(*COMBINATIONS)), counts)


def put_together(weeks: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Combinations of several weeks as one: nothing tells which week a session is from."""
    found = pl.concat([pl.DataFrame(schema=COMBINATIONS), *weeks])
    return in_order(found.group_by(*FIELDS).agg(pl.col("session_count").sum()))


def in_order(combinations: pl.DataFrame) -> pl.DataFrame:
    """By their values: the order says nothing that the values do not."""
    return combinations.sort(*FIELDS)


def one_row_per_session(combinations: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=FIELDS), *session_batches(combinations)])


def session_batches(combinations: pl.DataFrame, batch_rows: int = 100_000) -> Iterator[pl.DataFrame]:
    """A row per session, some at a time."""
    numbered = combinations.select(pl.int_range(pl.len(), dtype=pl.UInt32).repeat_by("session_count").alias("place"))
    places = numbered["place"].explode().drop_nulls()
    for start in range(0, len(places), batch_rows):
        yield combinations.select(*FIELDS)[places.slice(start, batch_rows)]


def _coarse(rows: pl.DataFrame, token_budget: int) -> pl.DataFrame:
    """The exported values: sets of words, and numbers as the lower end of their quarter or third."""
    tokens = pl.col("context_token_count").cast(pl.Int64)
    quarter = (tokens.clip(0, token_budget) * QUARTERS // token_budget).clip(0, QUARTERS - 1) / QUARTERS
    scores = [_third(column).alias(name) for name, column in SCORES.items()]
    is_scored = pl.any_horizontal(score.is_not_null() for score in scores)
    return pl.DataFrame(
        [
            _as_sets(rows["context_types"]).alias("contextCategories"),
            *rows.select(
                pl.when(tokens >= 0).then(quarter).alias("tokenBudgetUtilization"),
                pl.col("rating").cast(pl.String),
            ),
            _as_sets(rows["error_categories"]).alias("errorCategories"),
            *rows.select(
                pl.when(is_scored).then(pl.struct(scores)).alias("qualityScores"),
                _third("edit_distance_pct").alias("editDistance"),
            ),
        ],
        schema=FIELDS,
    )


def _third(column: str) -> pl.Expr:
    """Of 0..100: 0, 33.333333 or 66.666667; null where there is nothing or it is no percentage (S2)."""
    value = pl.col(column).cast(pl.Float64)
    third = (value * THIRDS / 100).floor().clip(0, THIRDS - 1)
    return pl.when(value.is_between(0, 100)).then(rounded(third * 100 / THIRDS))


def _as_sets(lists: pl.Series) -> pl.Series:
    """Sorted and distinct; none and empty are the same. There are few different lists, so each is looked at once."""
    given = pl.DataFrame({"given": lists.cast(pl.List(pl.String)).fill_null([])})
    known = given.unique().with_columns(pl.col("given").list.drop_nulls().list.unique().list.sort().alias("set"))
    return given.join(known, on="given", how="left", maintain_order="left")["set"]


def _removed(name: str) -> str:
    return f"removed {name}"
