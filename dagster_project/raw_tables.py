"""Bring a raw table up to date with its source: choose the days (G7), read, refuse, store, and account for every row (G3).

The account of each day stays in the catalogue: how it looked at the source, how many rows were kept, refused, copies.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import polars as pl

from dagster_project import intake, queries
from dagster_project.contracts import TABLES
from dagster_project.extract import TableSpec
from dagster_project.instants import repair_milliseconds
from dagster_project.intake import DatedTable, DayGroup
from dagster_project.lake import NO_DAY
from dagster_project.mill_run import DATED_SPECS, MillRun, code_hash
from dagster_project.quarantine import Rule, split
from dagster_project.sources import feedback
from dagster_project.tables import store

QUARANTINE = "quarantine__rows"
# What decides how any source table is read; what else decides about a table is named where it is read.
INTAKE_CODE = (
    "extract.py", "sqlite_values.py", "postgres.py", "postgres_session.py", "postgres_tables.py", "postgres_values.py",
    "instants.py", "quarantine.py", "intake.py", "raw_tables.py",
)  # fmt: skip


@dataclass
class Account:
    """What a run did with a source table, and whether its rows add up."""

    days_read: list[date] = field(default_factory=list)
    read: int = 0
    kept: int = 0
    quarantined: int = 0
    copies: int = 0
    not_sampled: int = 0
    waiting: int = 0
    changed_days: list[date] = field(default_factory=list)
    missing_columns: list[str] = field(default_factory=list)
    unknown_columns: list[str] = field(default_factory=list)
    unknown_words: dict[str, int] = field(default_factory=dict)

    @property
    def adds_up(self) -> bool:
        return self.read == self.kept + self.quarantined + self.copies + self.not_sampled


class DatedIntake:
    """The work of one dated table in one run."""

    def __init__(
        self, run: MillRun, asset: str, table: DatedTable, store_kept: Callable[[pl.DataFrame], None],
        companions: Sequence[str] = (), code: Sequence[str] = (), settings: str = "",
    ) -> None:  # fmt: skip
        """`store_kept` writes kept rows of whole days: the table itself and its by-day `companions`.

        `code` and `settings` decide what they hold: another version of them reads everything again (G12).
        """
        self.run, self.lake, self.asset, self.table = run, run.lake, asset, table
        self.files = run.files_with(table.spec)
        self.seen = run.seen(asset)
        self.store_kept = store_kept
        self.tables = (asset, *companions)
        layouts = " ".join(TABLES[name].layout for name in (asset, *companions))
        self.rules = f"{code_hash(*INTAKE_CODE, *code)} {layouts} {settings}"
        stored = self.lake.catalog.sources.get(asset, {})
        self.accounts: dict[str, Any] = dict(stored.get("days", {}))
        self.is_stale = stored.get("rules") != self.rules
        self.read_so_far: set[date] = set()

    def bring_up_to_date(self, more_days: set[date]) -> Account:
        """`more_days` are days the caller knows to be out of date for reasons beyond the table itself."""
        pending = self._chosen_days(more_days)
        self._store_undated()
        while pending:
            for group in intake.read_days(
                self.table, self.files, self.seen, sorted(pending), self.lake.staging / "days"
            ):
                self._store(group)
            for day in pending:
                if not self.seen.rows(day):
                    self._forget(day)
            self.read_so_far |= pending
            pending = self._settle_repeated_keys() if self._changed() else set()
        self.lake.catalog.sources[self.asset] = {"rules": self.rules, "days": dict(sorted(self.accounts.items()))}
        return self._account()

    def _chosen_days(self, more_days: set[date]) -> set[date]:
        known = {date.fromisoformat(day) for day in self.accounts if day != "undated"}
        everything = {*self.seen.dates, *known}
        if self.run.choice.full or self.is_stale:
            return everything
        if self.run.choice.days:
            first, last = self.run.choice.days
            return {day for day in everything if first <= day <= last}
        accounts = {day: entry for day, entry in self.accounts.items() if day != "undated"}
        days = intake.changed_days(self.seen, accounts)
        days |= intake.last_days(self.run.as_of.date()) & everything
        days |= more_days & everything
        refused = self.quarantined()
        days |= intake.days_of_mended_rows(self.table, self.files, refused) & everything
        return days | self._days_of_losers(refused, days)

    def quarantined(self) -> pl.DataFrame:
        """The refused rows of this table as the lake has them."""
        partitions = [p for p in self.lake.partitions(QUARANTINE) if p.startswith(f"{self.asset}/")]
        files = self.lake.files(QUARANTINE, partitions)
        return pl.read_parquet(files, hive_partitioning=False) if files else TABLES[QUARANTINE].empty()

    def _days_of_losers(self, refused: pl.DataFrame, days: set[date]) -> set[date]:
        """A row that lost to another file's (`conflict`) may win again when the winner's day is read again."""
        losers = refused.filter(pl.col("reasons").list.contains(self.table.spec.conflict))
        if losers.is_empty():
            return set()
        key = self.table.spec.key
        winners = pl.scan_parquet(self.lake.files(self.asset), hive_partitioning=False).select(
            key, pl.col("event_date").alias("winner_day")
        )
        linked = losers.lazy().join(winners, left_on="key", right_on=key, how="left").collect()
        more: set[date] = set()
        while found := {
            day
            for day, winner in linked.select("event_date", "winner_day").iter_rows()
            if day not in days | more and (winner is None or winner in days | more)
        }:
            more |= found
        return more

    # --- storing -------------------------------------------------------------------------------------------------

    def _store(self, group: DayGroup) -> None:
        if group.kept.height:
            self.store_kept(self._finished(group.kept))
        kept = Counter(group.kept["event_date"].to_list())
        refused_by_day = group.refused.partition_by("event_date", as_dict=True, maintain_order=True)
        for day in group.days:
            if day is None:
                continue
            if not kept[day]:
                self._drop(day)
            refused = refused_by_day.get((day,), group.refused.clear())
            self._store_refused(refused, f"event_date={day}")
            self.accounts[str(day)] = {
                "files": self.seen.as_stored(day), "kept": kept[day], "quarantined": refused.height,
                "copies": group.copies.get(day, 0),
            }  # fmt: skip
            if left_out := group.not_sampled.get(day):
                self.accounts[str(day)]["not_sampled"] = left_out

    @staticmethod
    def _finished(kept: pl.DataFrame) -> pl.DataFrame:
        return kept.drop("file_order")

    def _store_refused(self, refused: pl.DataFrame, partition: str) -> None:
        if refused.height:
            store(self.lake, QUARANTINE, [refused], f"{self.asset}/{partition}")
        else:
            self.lake.drop(QUARANTINE, f"{self.asset}/{partition}")

    def _store_undated(self) -> None:
        self.accounts.pop("undated", None)
        group = intake.read_undated(self.table, self.files, self.seen) if self.seen.rows(None) else None
        refused = group.refused if group else TABLES[QUARANTINE].empty()
        self._store_refused(refused, NO_DAY)
        if refused.height:
            self.accounts["undated"] = {
                "files": self.seen.as_stored(None), "kept": 0, "quarantined": refused.height, "copies": 0,
            }  # fmt: skip

    def _drop(self, day: date) -> None:
        for table in self.tables:
            self.lake.drop(table, f"event_date={day}")

    def _forget(self, day: date) -> None:
        """A day that vanished at the source vanishes here."""
        self._drop(day)
        self.lake.drop(QUARANTINE, f"{self.asset}/event_date={day}")
        self.accounts.pop(str(day), None)

    # --- one key, one row ----------------------------------------------------------------------------------------

    def _changed(self) -> list[date]:
        now, before = self.lake.catalog.tables.get(self.asset, {}), self.lake.published.tables.get(self.asset, {})
        return sorted(
            date.fromisoformat(p.removeprefix("event_date=")) for p in {*now, *before} if now.get(p) != before.get(p)
        )

    def _settle_repeated_keys(self) -> set[date]:
        """Keys under more than one day: a row that moved makes its old day be read again, else the latest row counts."""
        repeated = repeated_keys(self.run, self.asset)
        if repeated.is_empty():
            return set()
        order = {file.label: file.order for file in self.files}
        moved: set[date] = set()
        losers = []
        for rows in repeated.partition_by("key"):
            unread = {day for day in rows["event_date"] if day not in self.read_so_far}
            if unread:  # their day may hold a row that is no longer there
                moved |= unread
                continue
            ranked = rows.with_columns(pl.col("source_file").replace_strict(order).alias("file_order"))
            losers.append(
                ranked.sort("occurred_at", "file_order", "source_rowid", descending=True)[1:].drop("file_order")
            )
        if not moved and losers:
            self._refuse_losers(pl.concat(losers))
        return moved

    def _refuse_losers(self, losers: pl.DataFrame) -> None:
        key = self.table.spec.key
        files = {file.label: file for file in self.files}
        for (day,), lost in losers.partition_by("event_date", as_dict=True).items():
            partition = f"event_date={day}"
            rows = pl.read_parquet(self.lake.path(self.asset, partition), hive_partitioning=False)
            keys = lost["key"].to_list()
            is_lost = pl.col(key).is_in(keys)
            reasons = pl.lit([self.table.spec.conflict], dtype=pl.List(pl.String)).alias("reasons")
            refused = intake.refusals(rows.filter(is_lost).with_columns(reasons), self.table.spec, files)
            already = [
                pl.read_parquet(path, hive_partitioning=False)
                for path in self.lake.files(QUARANTINE, [f"{self.asset}/{partition}"])
            ]
            kept = rows.filter(~is_lost)
            if kept.height:
                self.store_kept(kept)
            else:
                self._drop(day)
            self._store_refused(pl.concat([*already, refused]).sort("source_file", "source_rowid"), partition)
            account = self.accounts[str(day)]
            account["kept"], account["quarantined"] = kept.height, account["quarantined"] + refused.height

    def _waiting_rows(self) -> int:
        """Valid rows that are not before as_of: no error, their time will come (G6)."""
        late = [p for p in self.lake.partitions(self.asset) if p >= f"event_date={self.run.as_of.date()}"]
        files = self.lake.files(self.asset, late)
        if not files:
            return 0
        rows = pl.scan_parquet(files, hive_partitioning=False).filter(pl.col("occurred_at") >= self.run.as_of)
        return rows.select(pl.len()).collect().item()

    # --- the account ---------------------------------------------------------------------------------------------

    def _account(self) -> Account:
        """Over all days, not just those read: the lake as a whole must add up."""
        for day, entry in self.accounts.items():
            stored = sum(rows for rows, _, _ in entry["files"].values())
            self.lake.catalog.sources[self.asset]["days"][day] = {**entry, "read": stored}
        entries = self.lake.catalog.sources[self.asset]["days"].values()
        shapes = [file.database.shape(self.table.spec) for file in self.files]
        return Account(
            days_read=sorted(self.read_so_far),
            read=sum(entry["read"] for entry in entries),
            kept=self.lake.rows(self.asset),
            quarantined=sum(
                stored.rows for p, stored in self.lake.partitions(QUARANTINE).items() if p.startswith(f"{self.asset}/")
            ),
            copies=sum(entry["copies"] for entry in entries),
            not_sampled=sum(entry.get("not_sampled", 0) for entry in entries),
            waiting=self._waiting_rows(),
            changed_days=self._changed(),
            missing_columns=sorted({column for shape in shapes for column in shape.missing}),
            unknown_columns=sorted({column for shape in shapes for column in shape.unknown}),
        )


def repeated_keys(run: MillRun, asset: str) -> pl.DataFrame:
    """Rows whose key is in the lake under more than one day (G7): a row that moved, or two files that disagree (F3)."""
    key = DATED_SPECS[asset].key
    with queries.engine(run.lake, run.config.memory_limit_mb) as connection:
        rows = queries.relation(connection, run.lake, asset).project(
            f'"{key}" as key, event_date, occurred_at, source_file, source_rowid'
        )
        repeated = (
            rows.aggregate("key, count(*) as row_count", "key")
            .filter("row_count > 1")
            .project("key")
            .set_alias("repeated")
        )
        return rows.join(repeated, "key", how="semi").order("key, event_date").pl()


def unknown_words(run: MillRun, asset: str, vocabularies: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Values of open vocabularies we do not know, with how often they occur (G8)."""
    files = run.lake.files(asset)
    if not files:
        return {}
    rows = pl.scan_parquet(files, hive_partitioning=False)
    found: dict[str, int] = {}
    for column, known in vocabularies.items():
        words = rows.select(pl.col(column).alias("word")).group_by("word").len().collect(engine="streaming")
        is_word = pl.col("word").is_not_null() & (feedback.word("word") != "")
        strange = words.filter(is_word & ~feedback.word("word").is_in(list(known)))
        found |= {f"{column}={word}": count for word, count in strange.sort("word").iter_rows()}
    return found


def bring_snapshot_up_to_date(
    run: MillRun, asset: str, spec: TableSpec, rules: Sequence[Rule], is_united: bool,
    mend: Callable[[pl.DataFrame], pl.DataFrame] = lambda rows: rows, settings: str = "",
) -> Account:  # fmt: skip
    """An optional table that is not kept by day: read whole when it looks different from when it was read.

    `is_united`: files are united by key, else each file's row stands for itself. `mend` makes a batch canonical; other
    `settings` read everything again (G12).
    """
    lake, files = run.lake, run.files(spec.system, spec.name)
    seen = intake.look(files, spec, run.looks)
    rules_code = code_hash(*INTAKE_CODE, f"sources/{spec.system}.py")
    stored = {"rules": f"{rules_code} {TABLES[asset].layout} {settings}", "files": seen.as_stored(None)}
    known = lake.catalog.sources.get(asset, {})
    if run.choice.full or {key: known.get(key) for key in stored} != stored:
        frames = [
            mend(repair_milliseconds(batch, [c for c in ("timestamp",) if c in spec.columns])).with_columns(
                pl.lit(file.label).alias("source_file"), pl.lit(file.order, dtype=pl.Int32).alias("file_order"),
                pl.lit(None, dtype=pl.Datetime("us", "UTC")).alias("occurred_at"),
            )
            for file in files
            for batch in file.database.read_all(spec)
        ]  # fmt: skip
        refused, copies, not_sampled = TABLES[QUARANTINE].empty(), 0, 0
        if frames:
            kept, bad = split(pl.concat(frames), rules)
            conflicts, same = kept.clear().with_columns(bad["reasons"].clear()), kept.clear()
            if is_united:
                kept, conflicts, same = intake.resolve_copies(kept, spec, ())
            labels = {file.label: file for file in files}
            refused = pl.concat([intake.refusals(bad, spec, labels), intake.refusals(conflicts, spec, labels)])
            copies = same.height
            kept, left_out = intake.sampled(kept)
            not_sampled = left_out.height
            store(lake, asset, [kept.sort(spec.key, "file_order", "source_rowid")])
        else:
            lake.drop(asset, "")
        if refused.height:
            store(lake, QUARANTINE, [refused], f"{asset}/{NO_DAY}")
        else:
            lake.drop(QUARANTINE, f"{asset}/{NO_DAY}")
        lake.catalog.sources[asset] = {**stored, "read": seen.rows(None), "copies": copies, "not_sampled": not_sampled}
    entry = lake.catalog.sources[asset]
    quarantined = lake.partitions(QUARANTINE).get(f"{asset}/{NO_DAY}")
    return Account(
        read=entry["read"],
        kept=lake.rows(asset),
        quarantined=quarantined.rows if quarantined else 0,
        copies=entry["copies"],
        not_sampled=entry.get("not_sampled", 0),
    )
