"""Which records of a release leave in an export, and with what weight. Looks at narrow columns, unless tokens are counted."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import polars_hash

from dagster_project.training.export import lengths
from dagster_project.training.export.asked import Asked
from dagster_project.training.export.release_rows import ReleaseRows
from dagster_project.training.export.weights import copies, mean_one

# The splits whose records make a file.
PARTS = {"train": ("train",), "validation": ("validation",), "test": ("test",)}
KEY_LENGTH = 16


@dataclass(frozen=True)
class Selection:
    """The records of one file: of each row of its splits how often it leaves, its weight, how many turns it loses."""

    split: str
    parts: dict[str, pl.DataFrame]
    is_drawn: bool
    counts: Counter[str]
    left_out: pl.DataFrame  # id, split, reason

    @property
    def rows(self) -> int:
        return sum(int(part["copies"].sum()) for part in self.parts.values())

    def chosen(self, part: str, start: int, batch: pl.DataFrame) -> pl.DataFrame:
        """The rows of a batch that leave, with `weight`, `cut` and the `key` their file is in order of."""
        about = self.parts[part].slice(start, batch.height)
        places = np.repeat(np.arange(batch.height, dtype=np.uint32), about["copies"].to_numpy())
        found = batch.with_columns(about["weight"], about["cut"])
        found = found if len(places) == batch.height and not self.is_drawn else found[places]
        if not self.is_drawn:
            return found.with_columns(pl.col("id").alias("key"))
        number = pl.int_range(pl.len()).over("id")  # copies of one record do not stand side by side
        again = pl.format("{}:{}", "id", number)
        key = polars_hash.col("key").chash.sha2_256().str.head(KEY_LENGTH)
        return (
            found.with_columns(again.alias("key"), number.alias("number"))
            .with_columns(pl.when(pl.col("number") == 0).then("id").otherwise(key).alias("key"))
            .drop("number")
        )


def selections(rows: ReleaseRows, asked: Asked, count: lengths.Counter | None) -> Iterator[Selection]:
    """One for every file that has records. Weights are of mean 1 within it (T9); only the training file is drawn by weight."""
    for split, usual in PARTS.items():
        wanted = (*usual, "augmentation") if asked.augmentation and split == "train" else usual
        looked = {part: _looked_at(rows, part, asked, count) for part in wanted if part in rows.files}
        if looked:
            yield _selection(split, looked, is_drawn=asked.resample and split == "train")


def _looked_at(rows: ReleaseRows, part: str, asked: Asked, count: lengths.Counter | None) -> pl.DataFrame:
    """Of every row, in the order they lie in: the tier is wanted; it is too long; turns to cut."""
    narrow = ["id", "quality_weight", "tier"]
    long = [] if count is None else ["messages", *lengths.ANSWERS.get(asked.format, ())]
    found = []
    for batch in rows.batches(part, [*narrow, *long]):
        looked = batch.select("id", "quality_weight", pl.col("tier").is_in(asked.tiers).alias("is_wanted"))
        if count is None or asked.max_tokens is None:
            fits = (pl.lit(0, pl.UInt32).alias("cut"), pl.lit(False).alias("is_too_long"))
            found.append(looked.with_columns(fits))
        else:
            fitted = lengths.fitted(batch, asked.format, count, asked.max_tokens)
            found.append(looked.with_columns(fitted["cut"], fitted["is_too_long"]))
    return pl.concat(found)


def _selection(split: str, looked: dict[str, pl.DataFrame], is_drawn: bool) -> Selection:
    everything = pl.concat(looked.values()).with_row_index("at")
    wanted = everything.filter("is_wanted")
    kept = wanted.filter(~pl.col("is_too_long"))
    is_cut = kept.filter(pl.col("cut") > 0)
    counts = Counter(
        read=everything.height,
        below_tier=everything.height - wanted.height,
        too_long=wanted.height - kept.height,
        cut_records=is_cut.height,
        cut_turns=int(is_cut["cut"].sum()),
    )
    reason = pl.when("is_wanted").then(pl.lit("too_long")).otherwise(pl.lit("below_tier"))
    left_out = everything.filter(~pl.col("is_wanted") | pl.col("is_too_long"))
    left_out = left_out.select("id", pl.lit(split).alias("split"), reason.alias("reason")).sort("id")
    weight = mean_one(kept["quality_weight"]).alias("weight")
    once = pl.repeat(1, kept.height, dtype=pl.UInt32, eager=True)
    times = copies(kept["quality_weight"], kept["id"]) if is_drawn else once
    weighed = kept.select("at").with_columns(weight, times.alias("copies"))
    told = everything.join(weighed, on="at", how="left", maintain_order="left")
    told = told.select("cut", "weight", pl.col("copies").fill_null(0))
    parts, start = {}, 0
    for part, rows in looked.items():
        parts[part] = told.slice(start, rows.height)
        start += rows.height
    return Selection(split, parts, is_drawn, counts, left_out)
