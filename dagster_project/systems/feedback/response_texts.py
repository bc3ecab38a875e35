"""Texts for feedback that came without any: the API sends a response_id, and `responses` knows the rest (F1).

The ids of all responses are in memory, their texts are not: `responses` lies in the order it was written in, feedback follows
its answers closely, so a batch of feedback needs few row groups of the file.
"""

from functools import cached_property

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.columns.text_keys import has_text
from dagster_project.lake import parquet
from dagster_project.lake.lake import Lake

RESPONSES = "raw_feedback__responses"
TEXTS = {"original_query": "query", "original_response": "response"}
TOLD = {**TEXTS, "response_timestamp": "timestamp", "response_confidence": "confidence"}
SHOWN = {
    "query": pl.String,
    "response": pl.String,
    "timestamp": pl.Float64,
    "confidence": pl.Float64,
    "escalated": pl.Int64,
}
NOWHERE = 0  # in `filled_from`: no row of `responses` to fill from
_LACKS_TEXT = pl.any_horizontal(~has_text(column) for column in TEXTS)


class ResponseTexts:
    """The table `responses` as the lake has it; empty where the source has none."""

    def __init__(self, lake: Lake) -> None:
        self._files = lake.files(RESPONSES)

    @cached_property
    def index(self) -> pl.DataFrame:
        """response_id, response_hash and the row's place in the file, in the file's order."""
        if not self._files:
            schema = {"place": pl.UInt32, "response_id": pl.String, "response_hash": pl.Int64}
            return pl.DataFrame(schema=schema)
        return parquet.read(self._files, columns=["response_id", "response_hash"]).with_row_index("place")

    def of(self, ids: pl.Series) -> pl.DataFrame:
        """What is known of these responses: response_id, response_hash and what the answer was."""
        meant = self.index.filter(pl.col("response_id").is_in(ids.unique().implode()))
        if meant.is_empty():
            return pl.DataFrame(schema={"response_id": pl.String, "response_hash": pl.Int64, **SHOWN})
        with pq.ParquetFile(self._files[0]) as file:
            return pl.concat(_rows(file, *group) for group in _by_row_group(file.metadata, meant["place"]))

    def filled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Feedback rows with what they lack, said in `repairs`; `filled_from` says what a row without texts was shown."""
        is_lacking = rows.select(_LACKS_TEXT).to_series()
        whole = rows.with_columns(pl.lit(None, dtype=pl.Int64).alias("filled_from"))
        if not is_lacking.any():
            return whole
        places = pl.concat([(~is_lacking).arg_true(), is_lacking.arg_true()])
        return pl.concat([whole.filter(~is_lacking), self._with_told(rows.filter(is_lacking))])[places.arg_sort()]

    def _with_told(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that lack a text. They are few: joining all of a batch would copy its texts."""
        found = self.of(rows["response_id"]).rename({c: f"told_{c}" for c in SHOWN})
        rows = rows.join(found, on="response_id", how="left", maintain_order="left")
        given = {
            column: _LACKS_TEXT
            & (_gives(column) if column in TEXTS else pl.col(column).is_null() & _told(column).is_not_null())
            for column in TOLD
        }
        has_new_text = pl.any_horizontal(given[column] for column in TEXTS)
        is_escalated = (
            has_new_text & (pl.col("told_escalated") == 1) & (pl.col("escalated_to_claude").fill_null(0) == 0)
        )
        given["escalated_to_claude"] = is_escalated.fill_null(False)
        told = {column: _told(column) for column in TOLD} | {"escalated_to_claude": pl.lit(1, dtype=pl.Int64)}
        notes = [pl.when(is_given).then(pl.lit(f"filled:{column}")) for column, is_given in given.items()]
        return rows.with_columns(
            *(pl.when(given[column]).then(told[column]).otherwise(column).alias(column) for column in given),
            pl.concat_list("repairs", *notes).list.drop_nulls().alias("repairs"),
            pl.when(_LACKS_TEXT).then(pl.col("response_hash").fill_null(NOWHERE)).alias("filled_from"),
        ).drop("response_hash", *(f"told_{c}" for c in SHOWN))


def _told(column: str) -> pl.Expr:
    return pl.col(f"told_{TOLD[column]}")


def _gives(column: str) -> pl.Expr:
    """An empty text fills nothing."""
    return ~has_text(column) & has_text(f"told_{TEXTS[column]}")


def _by_row_group(footer: pq.FileMetaData, places: pl.Series) -> list[tuple[int, pl.Series]]:
    """Row groups with some of these places, and the places within each."""
    sizes = pl.Series([footer.row_group(number).num_rows for number in range(footer.num_row_groups)])
    starts = sizes.cum_sum() - sizes
    groups = starts.search_sorted(places, side="right") - 1
    spread = pl.DataFrame({"group": groups, "place": places})
    return [
        (int(number), mine["place"] - starts[int(number)])
        for (number,), mine in spread.partition_by("group", as_dict=True, maintain_order=True).items()
    ]


def _rows(file: pq.ParquetFile, group: int, places: pl.Series) -> pl.DataFrame:
    table: pa.Table = file.read_row_group(group, columns=["response_id", "response_hash", *SHOWN])
    rows = pl.from_arrow(table.take(places.to_arrow()))
    assert isinstance(rows, pl.DataFrame)
    return rows.select("response_id", "response_hash", *SHOWN)
