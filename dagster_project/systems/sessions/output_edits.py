"""How much of each AI session's output a person changed (S4), kept from before where the texts are as they were.

Edit distances are costly. What is kept is good as long as this module and what it imports are the same (G12).
"""

import polars as pl

from dagster_project.columns.edit_distance import edit_changes

TOO_LONG = "output_edit_distance_pct:too_long"
KEPT = {"session_id": pl.String, "text_hash": pl.Int64, "output_edit_distance_pct": pl.Int64}


def with_edit_distances(rows: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
    """`text_hash` and `output_edit_distance_pct` in place of `original` and `revised`. `kept`: the columns of KEPT.

    Rows that are not `is_sampled`, where that is said, are not measured; a pair that is too long says so in its `repairs`.
    """
    before = kept.rename({"output_edit_distance_pct": "pct_before"}).unique(["session_id", "text_hash"])
    has_both = pl.col("original").is_not_null() & pl.col("revised").is_not_null()
    text_hash = pl.struct("original", "revised").hash(seed=0).reinterpret(signed=True)
    rows = rows.with_columns(pl.when(has_both).then(text_hash).alias("text_hash"))
    meant = before.filter(pl.col("session_id").is_in(rows["session_id"].unique().implode()))
    rows = rows.join(meant, on=["session_id", "text_hash"], how="left", maintain_order="left")
    is_needed = pl.col("pct_before").is_null() & pl.col("text_hash").is_not_null()
    if "is_sampled" in rows.columns:
        is_needed &= pl.col("is_sampled")
    needed = rows.select(is_needed.fill_null(False)).to_series().arg_true()
    pct = rows["pct_before"].cast(pl.Int64)
    if len(needed):
        texts = rows.select("original", "revised")[needed]
        changes = edit_changes(texts["original"], texts["revised"])
        pct = pct.scatter(needed, changes["edit_distance_pct"])
        is_too_long = pl.repeat(False, rows.height, eager=True).scatter(needed, changes["is_too_long"])
        marked = pl.when(is_too_long).then(pl.col("repairs").list.concat(pl.lit([TOO_LONG]))).otherwise("repairs")
        rows = rows.with_columns(marked.alias("repairs"))
    return rows.with_columns(pct.alias("output_edit_distance_pct")).drop("original", "revised", "pct_before")
