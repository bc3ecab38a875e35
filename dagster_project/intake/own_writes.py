"""What a write-back wrote into a source and what was there before (F10, D9): a ledger in the state, a row per marked row.

With it a run reads our own values back as what they replaced, column by column: what the source's owner has changed since
is the owner's. So outputs do not depend on whether a write-back took place.

The ledger is saved before the source commits. Until the source has, an entry is `is_under_way` and also holds what the
write replaces: a row that still looks like that was never reached, whatever stopped us.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dagster_project.contracts.source_table import POLARS_TYPES, TableSpec
from dagster_project.lake import parquet

RELEASES = pl.List(pl.String)


@dataclass(frozen=True)
class MarkedTable:
    """A source table a write-back marks, and the columns it may set."""

    asset: str
    spec: TableSpec
    columns: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.spec.key

    @property
    def schema(self) -> pl.Schema:
        """A ledger row: where, the release written last, our values, the source's own, and the releases that hold the row."""
        kinds = {column: POLARS_TYPES[self.spec.columns[column]] for column in self.columns}
        return pl.Schema(
            {"source_file": pl.String, self.key: pl.String, "release": pl.String}
            | kinds
            | {f"before_{column}": kind for column, kind in kinds.items()}
            | {"releases": RELEASES, "is_under_way": pl.Boolean}
            | {f"replaced_{column}": kind for column, kind in kinds.items()}
            | {"replaced_releases": RELEASES}
        )


def ledger_path(home: Path, table: MarkedTable) -> Path:
    return home / "state" / f"writeback_{table.spec.system}.parquet"


def read_ledger(home: Path, table: MarkedTable) -> pl.DataFrame:
    """The ledger; one written by an earlier version, which knew a row's last release only, is read as it was meant."""
    path, empty = ledger_path(home, table), pl.DataFrame(schema=table.schema)
    if not path.exists():
        return empty
    return pl.concat([empty, parquet.read(path)], how="diagonal").with_columns(
        pl.coalesce("releases", pl.concat_list("release")), pl.col("is_under_way").fill_null(False)
    )


def save_ledger(home: Path, table: MarkedTable, ledger: pl.DataFrame) -> None:
    path = ledger_path(home, table)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    ledger.sort("source_file", table.key).write_parquet(temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def settled(entries: pl.DataFrame) -> pl.DataFrame:
    """Entries once the source has committed."""
    replaced = [name for name in entries.columns if name.startswith("replaced_")]
    return entries.with_columns(
        pl.lit(False).alias("is_under_way"),
        *(pl.lit(None, dtype=entries.schema[name]).alias(name) for name in replaced),
    )


def undo_own_writes(table: MarkedTable, ledger: pl.DataFrame, rows: pl.DataFrame, source_file: str) -> pl.DataFrame:
    """Rows as read, before any repair, with the source's own values in place of ours; marked where there were any."""
    if ledger.is_empty():
        return rows.with_columns(pl.lit(False).alias("is_written_back"))
    compared = with_own_values(table, ledger, rows, source_file)
    return compared.with_columns(pl.col(f"own_{column}").alias(column) for column in table.columns).select(
        *rows.columns, "is_written_back"
    )


def with_own_values(table: MarkedTable, ledger: pl.DataFrame, rows: pl.DataFrame, source_file: str) -> pl.DataFrame:
    """Rows as read, beside them `own_<column>` without our writes, and the `releases` written into the row so far."""
    ours = ledger.filter(pl.col("source_file") == source_file).drop("source_file")
    ours = ours.rename({column: f"our_{column}" for column in table.columns})
    joined = rows.join(ours, on=table.key, how="left", maintain_order="left")
    was_never_reached = pl.col("is_under_way") & pl.all_horizontal(
        pl.col(column).eq_missing(pl.col(f"replaced_{column}")) for column in table.columns
    )
    known = joined.with_columns(was_never_reached.fill_null(False).alias("was_never_reached"))
    own = [
        pl.when(
            pl.col("release").is_not_null()
            & (pl.col("was_never_reached") | pl.col(column).eq_missing(pl.col(f"our_{column}")))
        )
        .then(f"before_{column}")
        .otherwise(column)
        .alias(f"own_{column}")
        for column in table.columns
    ]
    releases = pl.when("was_never_reached").then("replaced_releases").otherwise("releases")
    is_changed = pl.any_horizontal(pl.col(column).ne_missing(pl.col(f"own_{column}")) for column in table.columns)
    return known.with_columns(*own, releases.fill_null([]).alias("releases")).select(
        *rows.columns, *(f"own_{column}" for column in table.columns), "releases", is_changed.alias("is_written_back")
    )
