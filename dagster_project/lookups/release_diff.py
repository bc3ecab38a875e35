"""What a release has that another has not, what it has otherwise, and why (`gristmill diff`). Reads only.

Records are the same if they say the same (`content_id`). Weights are compared at age 0: by decay alone every weight changes every
day. Reasons come from what did not leave in either release, and from what became of the rows behind a record since; the latter is
known as of the publication.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from dagster_project.columns.masking_kinds import KINDS
from dagster_project.contracts.columns import LOW_TIERS
from dagster_project.engines import reading
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.lake.releases import ReleaseName, named, releases
from dagster_project.lookups.reason_words import SAID
from dagster_project.lookups.release_records import excluded, manifest, masked_items, records
from dagster_project.registry import SYSTEMS
from dagster_project.systems.declaration import FATE

MIX = ("format", "split", "source", "tier", "domain", "language")
COMPARED = ("base_weight", "split", "source", "domain", "language")  # beside who says it
KEYS = ["format", "content_id"]


@dataclass(frozen=True)
class ReleaseDiff:
    """`came`, `went` and `changed`: a row a record, with `why` (a word), `of` (another record or row) and `because` (a sentence)."""

    older: ReleaseName
    newer: ReleaseName
    came: pl.DataFrame
    went: pl.DataFrame
    changed: pl.DataFrame
    same: int
    mix: pl.DataFrame

    def to_json(self) -> dict[str, Any]:
        return {
            "a": str(self.older),
            "b": str(self.newer),
            "counts": {
                "came": self.came.height,
                "went": self.went.height,
                "changed": self.changed.height,
                "same": self.same,
            },
            "came": self.came.rows(named=True),
            "went": self.went.rows(named=True),
            "changed": self.changed.rows(named=True),
            "mix": self.mix.rows(named=True),
        }


def chosen(lake: Lake, a: str | None, b: str | None) -> tuple[ReleaseName, ReleaseName]:
    """The releases a user names; the last two if they name none."""
    if a is not None and b is not None:
        return named(lake.home, a), named(lake.home, b)
    if a is not None:
        raise GristmillError("name two releases, or none for the last two")
    known = releases(lake.home)
    if len(known) < 2:
        raise GristmillError(
            f"there are not two releases under {lake.home / 'exports'} yet: there is nothing to compare"
        )
    return known[-2], known[-1]


def diff(lake: Lake, a: ReleaseName, b: ReleaseName) -> ReleaseDiff:
    old, new = records(lake, a), records(lake, b)
    old_out, new_out = excluded(lake, a), excluded(lake, b)
    as_of = {name: datetime.fromisoformat(manifest(lake, name)["as_of"]) for name in (a, b)}
    came, went = new.join(old, on=KEYS, how="anti"), old.join(new, on=KEYS, how="anti")
    both = _with_masking(lake, a, b, old.join(new, on=KEYS, how="inner", suffix="_b"))
    changed = both.filter((pl.col("id") != pl.col("id_b")) | _is_other() | pl.col("masking").is_not_null())
    origins = pl.concat([frame["origin_ids"] for frame in (came, went, changed)])
    fates = _fates(lake, origins.explode().drop_nulls().unique())
    return ReleaseDiff(
        a,
        b,
        _arrivals(came, old, old_out, fates, as_of[a]),
        _departures(went, new, new_out, fates, as_of[b]),
        _changes(changed, new_out, fates, as_of[b]),
        both.height - changed.height,
        _mix(old, new),
    )


def _is_other() -> pl.Expr:
    return pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_b")) for name in COMPARED)


def _with_masking(lake: Lake, a: ReleaseName, b: ReleaseName, both: pl.DataFrame) -> pl.DataFrame:
    """`masking`: of which kinds a record shows more or fewer masked, where the configuration's `mask` changed; else null.

    A content_id sees every item masked, whatever `mask` says (T8): such records say the same.
    """
    masks = [set(manifest(lake, name).get("masked", {})) for name in (a, b)]
    kinds = [kind for kind in KINDS if kind in masks[0] ^ masks[1]]
    if not kinds:
        return both.with_columns(pl.lit(None, pl.String).alias("masking"))
    found = both.join(masked_items(lake, a, kinds), on=["format", "id"], how="left", maintain_order="left").join(
        masked_items(lake, b, kinds).rename({"id": "id_b", **{kind: f"{kind}_b" for kind in kinds}}),
        on=["format", "id_b"],
        how="left",
        maintain_order="left",
    )
    said = [
        pl.when(pl.col(kind) != pl.col(f"{kind}_b")).then(
            pl.format("{} masked {} -> {}", pl.lit(kind), kind, f"{kind}_b")
        )
        for kind in kinds
    ]
    told = pl.concat_list(said).list.drop_nulls().list.join(", ")
    return found.with_columns(pl.when(told != "").then(told).alias("masking"))


def _fates(lake: Lake, origins: pl.Series) -> pl.DataFrame:
    """What became of the rows behind records: as their system says, else refused, else gone."""
    frames = [pl.DataFrame(schema=FATE)]
    for why in (system.why for system in SYSTEMS.values() if system.why):
        if why.fates:
            frames.append(why.fates(lake, origins).select(*FATE))
    refused = reading.scan(lake, "quarantine__rows").select("table", "key", "reasons")
    keys = (refused.with_columns(origin_id=key) for key in (pl.col("key"), pl.format("{}:{}", "table", "key")))
    named_so = pl.concat(keys).filter(pl.col("origin_id").is_in(origins.implode())).collect()
    why_refused = pl.col("reasons").list.join(", ").alias("fate_ref")
    told = named_so.select("origin_id", pl.lit("refused").alias("fate"), why_refused)
    return pl.concat([*frames, told], how="diagonal").unique("origin_id", keep="first", maintain_order=True)


def _first_fate(rows: pl.DataFrame, fates: pl.DataFrame) -> pl.DataFrame:
    """Each record with the fate that says most of any of its rows: gone first, then silenced, then there."""
    rank = pl.col("fate").replace_strict(
        {"superseded": 1, "duplicate": 2, "merged": 3, "refused": 4, "active": 9}, default=0
    )
    each = rows.select("format", "id", "origin_ids").explode("origin_ids").rename({"origin_ids": "origin_id"})
    told = each.join(fates, on="origin_id", how="left").sort(rank, "origin_id")
    first = told.group_by("format", "id", maintain_order=True).agg(
        pl.col("origin_id", "fate", "fate_ref").first(),
        pl.col("given_at").max(),
        pl.col("replaces").drop_nulls().first(),
    )
    return rows.join(first, on=["format", "id"], how="left")


def _texts_elsewhere(rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Records whose candidate says something else in the other release."""
    elsewhere = others.select("format", "id", pl.col("content_id").alias("other_content"))
    return rows.join(elsewhere, on=["format", "id"], how="left")


def _arrivals(
    came: pl.DataFrame, old: pl.DataFrame, old_out: pl.DataFrame, fates: pl.DataFrame, as_of: datetime
) -> pl.DataFrame:
    rows = _first_fate(_texts_elsewhere(came, old), fates)
    rows = rows.join(_reasons(old_out), on="id", how="left")
    is_new, by = pl.col("given_at") >= as_of, pl.format(" {}", "reason_ref").fill_null("")
    why = (
        pl.when(pl.col("other_content").is_not_null())
        .then(pl.lit("text_changed"))
        .when(pl.col("reason").is_not_null())
        .then(pl.format("no_longer_{}", "reason"))
        .when(pl.col("replaces").is_not_null())
        .then(pl.lit("changed_mind"))
        .when(is_new)
        .then(pl.lit("new_feedback"))
        .otherwise(pl.lit("late_feedback"))
    )
    because = (
        pl.when(pl.col("why") == "text_changed")
        .then(pl.format("what it says changed at the source; it was {}", "other_content"))
        .when(pl.col("reason").is_not_null())
        .then(pl.concat_str(pl.lit("no longer "), pl.col("reason").replace(SAID), by))
        .when(pl.col("why") == "changed_mind")
        .then(pl.format("changed mind: takes the place of {}", "replaces"))
        .when(pl.col("why") == "new_feedback")
        .then(pl.lit("new feedback"))
        .otherwise(pl.lit("feedback from before that was read since, or counts as another candidate now"))
    )
    of = pl.coalesce(pl.when(pl.col("why") == "text_changed").then("other_content"), "reason_ref", "replaces")
    return _told(rows, why, of, because)


def _departures(
    went: pl.DataFrame, new: pl.DataFrame, new_out: pl.DataFrame, fates: pl.DataFrame, as_of: datetime
) -> pl.DataFrame:
    rows = _first_fate(_texts_elsewhere(went, new), fates)
    rows = rows.join(_reasons(new_out), on="id", how="left").join(
        _paired_anew(went, new), on=["format", "id"], how="left"
    )
    of = pl.coalesce(_text_ref(), "reason_ref", "fate_ref", "other_pair")
    return _told(rows, _why_gone(as_of), of, _because_gone())


def _paired_anew(went: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Pairs of ratings whose row that was rated down stands beside another answer now (F6): `other_pair`."""
    down = pl.col("origin_ids").list.first().alias("down")
    before, now = (
        some.filter(pl.col("source") == "feedback_rating_pair").select("format", "id", down) for some in (went, new)
    )
    told = before.join(now.rename({"id": "other_pair"}), on=["format", "down"])
    return told.select("format", "id", "other_pair").unique(["format", "id"], keep="first", maintain_order=True)


def _reasons(out: pl.DataFrame) -> pl.DataFrame:
    """`reason_ref` is what a reason is of: the better record, the item of an evaluation set, the rule of a recipe."""
    of = pl.coalesce("duplicate_of", "detail").alias("reason_ref")
    return out.select("id", "reason", of, pl.col("quality_weight").alias("weight_now"))


def _text_ref() -> pl.Expr:
    return pl.when(pl.col("other_content").is_not_null()).then("other_content")


def _why_gone(as_of: datetime) -> pl.Expr:
    """T1's reason where it is a candidate still; else what became of the row."""
    return (
        pl.when(pl.col("other_content").is_not_null())
        .then(pl.lit("text_changed"))
        .when(pl.col("reason").is_not_null())
        .then("reason")
        .when(pl.col("given_at") >= as_of)
        .then(pl.lit("not_given_yet"))
        .when(pl.col("fate") == "superseded")
        .then(pl.lit("changed_mind"))
        .when(pl.col("fate") == "duplicate")
        .then(pl.lit("repeated_row"))
        .when(pl.col("fate").is_in(["merged", "refused", "forgotten"]))
        .then("fate")
        .when(pl.col("fate").is_null())
        .then(pl.lit("row_vanished"))
        .when(pl.col("other_pair").is_not_null())
        .then(pl.lit("other_partner"))
        .otherwise(pl.lit("row_changed"))
    )


def _because_gone() -> pl.Expr:
    by = pl.format(" {}", "reason_ref").fill_null("")
    lighter = pl.format("{}: {} -> {}", pl.lit(SAID["low_weight"]), "quality_weight", "weight_now")
    return (
        pl.when(pl.col("why") == "text_changed")
        .then(pl.format("what it says changed at the source; it is {} now", "other_content"))
        .when(pl.col("reason") == "low_weight")
        .then(lighter)
        .when(pl.col("reason").is_not_null())
        .then(pl.concat_str(pl.col("reason").replace(SAID), by))
        .otherwise(
            pl.concat_str(
                pl.col("why").replace(SAID), pl.format(" {}", pl.coalesce("fate_ref", "other_pair")).fill_null("")
            )
        )
    )


def _changes(changed: pl.DataFrame, new_out: pl.DataFrame, fates: pl.DataFrame, as_of: datetime) -> pl.DataFrame:
    """Several things may have changed of one record; the first of them is its `why`."""
    rows = _first_fate(changed, fates).join(_reasons(new_out), on="id", how="left")
    rows = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in ("other_content", "other_pair"))
    is_other_row = pl.col("id") != pl.col("id_b")
    is_aged = (
        (pl.col("split") == "train") & (pl.col("split_b") == "augmentation") & pl.col("tier_b").is_in(LOW_TIERS)
    ) & ~pl.col("tier").is_in(LOW_TIERS)
    is_moved, is_weighed = pl.col("split") != pl.col("split_b"), pl.col("base_weight") != pl.col("base_weight_b")
    rows = rows.with_columns(_why_gone(as_of).alias("why")).with_columns(_because_gone().alias("gone"))
    why = (
        pl.when(is_other_row)
        .then(pl.lit("another_row"))
        .when(pl.col("masking").is_not_null())
        .then(pl.lit("masking"))
        .when(is_weighed)
        .then(pl.lit("base_weight"))
        .when(is_aged)
        .then(pl.lit("became_low_tier"))
        .when(is_moved)
        .then(pl.lit("split"))
        .otherwise(pl.lit("label"))
    )
    said = [
        pl.when(is_other_row).then(pl.format("{} says it now: {} is {}", "id_b", "id", "gone")),
        pl.col("masking"),
        pl.when(is_weighed).then(pl.format("weight at age 0 {} -> {}", "base_weight", "base_weight_b")),
        pl.when(is_aged).then(pl.format("became tier {}", "tier_b")),
        pl.when(is_moved).then(pl.format("moved {} -> {}", "split", "split_b")),
        *(
            pl.when(pl.col(name).ne_missing(pl.col(f"{name}_b"))).then(
                pl.format(
                    "{} {} -> {}", pl.lit(name), pl.col(name).fill_null("none"), pl.col(f"{name}_b").fill_null("none")
                )
            )
            for name in ("source", "domain", "language")
        ),
    ]
    because = pl.concat_list(said).list.drop_nulls().list.join("; ")
    more = [f"{name}_b" for name in ("id", "split", "base_weight", "tier", "origin_ids")]
    return _told(rows.drop("why"), why, pl.when(is_other_row).then("id_b"), because, more)


def _told(
    rows: pl.DataFrame, why: pl.Expr, of: pl.Expr, because: pl.Expr, more: list[str] | None = None
) -> pl.DataFrame:
    rows = rows.with_columns(why.alias("why")).with_columns(of.cast(pl.String).alias("of"), because.alias("because"))
    names = ("format", "content_id", "id", "source", "origin_ids", "split", "tier", "base_weight")
    return rows.select(*names, *(more or ()), "why", "of", "because").sort("format", "why", "content_id", "id")


def _mix(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """How many records of each kind there were and are, and their shares."""
    frames = []
    for by in MIX:
        counted = [rows.group_by(pl.col(by).alias("value")).agg(pl.len().cast(pl.Int64)) for rows in (old, new)]
        counts = [rows.rename({"len": side}) for rows, side in zip(counted, ("a", "b"), strict=True)]
        both = counts[0].join(counts[1], on="value", how="full", coalesce=True, nulls_equal=True)
        frames.append(
            both.select(pl.lit(by).alias("by"), "value", pl.col("a", "b").fill_null(0)).sort("value", nulls_last=True)
        )
    share = (
        (100 * pl.col(side) / max(rows.height, 1)).round(1).alias(f"{side}_pct")
        for rows, side in ((old, "a"), (new, "b"))
    )
    return pl.concat(frames).with_columns(*share)
