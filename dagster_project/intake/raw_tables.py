"""Bring a raw table up to date with its source: choose the days (G7), read, refuse, store, and account for every row (G3).

The account of each day stays in the catalogue: how it looked at the source, how many rows were kept, refused, copies.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import polars as pl

from dagster_project.columns.instants import INSTANT, instant, repair_milliseconds
from dagster_project.columns.words import word as as_word
from dagster_project.contracts import TABLES
from dagster_project.contracts.checks import Schema
from dagster_project.contracts.source_table import TableSpec
from dagster_project.engines import queries, reading
from dagster_project.engines.stored_tables import fit, store, write
from dagster_project.intake import days as intake
from dagster_project.intake.days import UNDATED, DatedTable, DayGroup, OpenFile
from dagster_project.intake.held_rows import PLACE, QUARANTINE, Held, HeldRows
from dagster_project.intake.quarantine import split
from dagster_project.intake.relations import resolve_copies
from dagster_project.intake.stage import Stage
from dagster_project.lake import parquet
from dagster_project.lake.lake import NO_DAY, Lake


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


@dataclass(frozen=True)
class WholeTable:
    """What became of the rows of a table: refused ones (as in quarantine__rows), and how many were left out and why."""

    refused: pl.DataFrame
    copies: int
    not_sampled: int


class DatedIntake:
    """The work of one dated table in one run."""

    def __init__(
        self,
        run: Stage,
        asset: str,
        table: DatedTable,
        store_kept: Callable[[pl.DataFrame], None],
        code: str,
        companions: Sequence[str] = (),
        settings: str = "",
    ) -> None:
        """`store_kept` writes kept rows of whole days: the table itself and its by-day `companions`.

        `code` is the identity of the module that says how; another one, or other `settings`, read everything again (G12).
        """
        self.run, self.lake, self.asset, self.table = run, run.lake, asset, table
        self.files = run.files_with(table.spec)
        self.seen = run.seen(asset)
        self.store_kept = store_kept
        self.tables = (asset, *companions)
        layouts = " ".join(TABLES[name].layout for name in (asset, *companions))
        self.rules = f"{code} {layouts} {settings}"
        self.missing = run.missing_of(table.spec.system)
        rewritten = [table.stored_as.get(column, column) for column in table.rewritten]
        self.held = HeldRows(self.lake, asset, table.spec.key, self.missing, rewritten)
        stored = self.lake.catalog.sources.get(asset, {})
        self.accounts: dict[str, Any] = dict(stored.get("days", {}))
        self.order = _order(self.files, self.missing)
        self.is_stale = stored.get("rules") != self.rules or not _keeps_order(stored.get("order", []), self.order)
        self.read_so_far: set[date] = set()

    def bring_up_to_date(self, more_days: set[date]) -> Account:
        """`more_days` are days the caller knows to be out of date for reasons beyond the table itself."""
        pending = self._chosen_days(more_days)
        self._store_undated()
        while pending:
            spill = self.lake.staging / "days"
            for group in intake.read_days(self.table, self.files, self.seen, sorted(pending), spill, self._hold):
                self._store(group)
            for day in pending:
                if not self.seen.rows(day):
                    self._forget(day)
            self.read_so_far |= pending
            pending = self._settle_repeated_keys() if self._changed() else set()
        self.lake.catalog.sources[self.asset] = {
            "rules": self.rules,
            "order": self.order,
            "days": dict(sorted(self.accounts.items())),
        }
        return self._account()

    def _chosen_days(self, more_days: set[date]) -> set[date]:
        accounts = {day: entry for day, entry in self.accounts.items() if day != UNDATED}
        known = {date.fromisoformat(day) for day in accounts}
        everything = {*self.seen.dates, *known}
        if self.run.choice.full or self.is_stale:
            return everything
        days = intake.changed_days(self.seen, accounts) | self._days_of_returned_files(accounts)
        damaged = self.run.damage.days & everything
        if self.run.choice.days:
            wanted = {day for day in everything if self.run.choice.includes(day)}
            return damaged | wanted | self._never_read_whole(days)
        days |= damaged | intake.last_days(self.run.as_of.date()) & everything
        days |= more_days & everything
        refused = self._refused()
        days |= intake.days_of_mended_rows(self.table, self.files, refused) & everything
        return days | self._days_of_losers(refused, days)

    def _never_read_whole(self, changed: set[date]) -> set[date]:
        """Days before as_of that the lake lacks, or has only a piece of: no range of days leaves them out (G14)."""
        published = self.lake.published.as_of
        over = datetime.fromisoformat(published).date() if published else date.min
        return {
            day for day in changed if day <= self.run.release_date and (str(day) not in self.accounts or day >= over)
        }

    def _hold(self, day: date) -> Held | None:
        """What missing files gave of a day before (G13); null where they have no row of it."""
        rows = sum(mark.rows for label, mark in self.seen.days.get(day, {}).items() if label in self.missing)
        return self.held.on(f"event_date={day}", rows) if rows else None

    def _days_of_returned_files(self, accounts: Mapping[str, Any]) -> set[date]:
        """Days that were written anew while a file was missing that is there again: it may tell more, or otherwise, now."""
        return {
            date.fromisoformat(day) for day, entry in accounts.items() if {*entry.get("held", ())} - {*self.missing}
        }

    def quarantined(self) -> pl.DataFrame:
        """The refused rows of this table as the lake has them, but for those of missing files: nobody judges them again."""
        return self._refused().filter(~pl.col("source_file").is_in(list(self.missing)))

    def _refused(self) -> pl.DataFrame:
        partitions = [p for p in self.lake.partitions(QUARANTINE) if p.startswith(f"{self.asset}/")]
        return reading.read(self.lake, QUARANTINE, partitions)

    def _days_of_losers(self, refused: pl.DataFrame, days: set[date]) -> set[date]:
        """A row that lost to another file's (`conflict`) may win again when the winner's day is read again."""
        losers = refused.filter(pl.col("reasons").list.contains(self.table.spec.conflict))
        if losers.is_empty():
            return set()
        key = self.table.spec.key
        winners = reading.scan(self.lake, self.asset).select(key, pl.col("event_date").alias("winner_day"))
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
        all_refused = fit(QUARANTINE, group.refused) if group.refused.height else TABLES[QUARANTINE].empty()
        refused_by_day = all_refused.partition_by("event_date", as_dict=True, maintain_order=True)
        for day in group.days:
            if day is None:
                continue
            if not kept[day]:
                self._drop(day)
            refused = refused_by_day.get((day,), all_refused.clear())
            self._store_refused(refused, f"event_date={day}")
            before = self.accounts.get(str(day), {})
            account = self.accounts[str(day)] = {
                "files": self.seen.as_stored(day),
                "kept": kept[day],
                "quarantined": refused.height,
                "copies": group.copies.get(day, 0),
            }
            if left_out := group.not_sampled.get(day):
                account["not_sampled"] = left_out
            is_meant = pl.col("event_date") == day
            self.held.store(f"event_date={day}", group.copied.filter(is_meant), group.lost.filter(is_meant))
            if held := group.held.get(day):
                self._account_for(held, account, before)

    def _account_for(self, held: Held, account: dict[str, Any], before: Mapping[str, Any]) -> None:
        """Note which missing files the day's rows are from, and what of them nobody can tell apart any more."""
        account["held"] = sorted(label for label in account["files"] if label in self.missing)
        not_sampled = min(held.left_over, before.get("not_sampled", 0))
        account["copies"] += held.left_over - not_sampled
        if not_sampled:
            account["not_sampled"] = account.get("not_sampled", 0) + not_sampled

    @staticmethod
    def _finished(kept: pl.DataFrame) -> pl.DataFrame:
        return kept.drop("file_order")

    def _store_refused(self, refused: pl.DataFrame, partition: str) -> None:
        if refused.height:
            write(self.lake, QUARANTINE, refused.sort(*PLACE), f"{self.asset}/{partition}")
        else:
            self.lake.drop(QUARANTINE, f"{self.asset}/{partition}")

    def _store_undated(self) -> None:
        self.accounts.pop(UNDATED, None)
        group = intake.read_undated(self.table, self.files, self.seen) if self.seen.rows(None) else None
        parts = [group.refused] if group and group.refused.height else []
        parts += [self.held.on(NO_DAY, 0).refused] if self.missing else []
        refused = fit(QUARANTINE, pl.concat(parts).sort(PLACE)) if parts else TABLES[QUARANTINE].empty()
        self._store_refused(refused, NO_DAY)
        if refused.height:
            self.accounts[UNDATED] = {
                "files": self.seen.as_stored(None),
                "kept": 0,
                "quarantined": refused.height,
                "copies": 0,
            }

    def _drop(self, day: date) -> None:
        for table in self.tables:
            self.lake.drop(table, f"event_date={day}")

    def _forget(self, day: date) -> None:
        """A day that vanished at the source vanishes here."""
        self._drop(day)
        self.held.drop(f"event_date={day}")
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
        repeated = repeated_keys(self.run, self.asset, self.table.spec.key)
        if repeated.is_empty():
            return set()
        order = {**{file.label: file.order for file in self.files}, **self.missing}
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
            rows = parquet.read(self.lake.path(self.asset, partition))
            keys = lost["key"].to_list()
            is_lost = pl.col(key).is_in(keys)
            reasons = pl.lit([self.table.spec.conflict], dtype=pl.List(pl.String)).alias("reasons")
            refused = intake.refusals(rows.filter(is_lost).with_columns(reasons), self.table.spec, files)
            already = [parquet.read(path) for path in self.lake.files(QUARANTINE, [f"{self.asset}/{partition}"])]
            kept = rows.filter(~is_lost)
            if kept.height:
                self.store_kept(kept)
            else:
                self._drop(day)
            self._store_refused(fit(QUARANTINE, pl.concat([*already, refused])), partition)
            account = self.accounts[str(day)]
            account["kept"], account["quarantined"] = kept.height, account["quarantined"] + refused.height
            self.held.lose(partition, rows.filter(is_lost))

    def _waiting_rows(self) -> int:
        """Valid rows that are not before as_of: no error, their time will come (G6)."""
        late = [p for p in self.lake.partitions(self.asset) if p >= f"event_date={self.run.as_of.date()}"]
        files = self.lake.files(self.asset, late)
        if not files:
            return 0
        rows = parquet.scan(files).filter(pl.col("occurred_at") >= self.run.as_of)
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


def _order(files: Sequence[OpenFile], missing: Mapping[str, int]) -> list[str]:
    """The labels of a table's files as they are configured, those that are missing now among them."""
    places = {file.label: file.order for file in files} | dict(missing)
    return sorted(places, key=lambda label: (places[label], label))


def _keeps_order(before: Sequence[str], now: Sequence[str]) -> bool:
    """Whether the files that are in both are in the same order: it decides which of two rows is kept (F3)."""
    return [label for label in before if label in now] == [label for label in now if label in before]


def repeated_keys(run: Stage, asset: str, key: str) -> pl.DataFrame:
    """Rows whose key is in the lake under more than one day (G7): a row that moved, or two files that disagree (F3)."""
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


def unknown_words(run: Stage, asset: str, vocabularies: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Values of open vocabularies we do not know, with how often they occur (G8)."""
    files = run.lake.files(asset)
    if not files:
        return {}
    rows = parquet.scan(files)
    found: dict[str, int] = {}
    for column, known in vocabularies.items():
        words = rows.select(pl.col(column).alias("word")).group_by("word").len().collect(engine="streaming")
        is_word = pl.col("word").is_not_null() & (as_word("word") != "")
        strange = words.filter(is_word & ~as_word("word").is_in(list(known)))
        found |= {f"{column}={word}": count for word, count in strange.sort("word").iter_rows()}
    return found


def as_it_is(rows: pl.DataFrame) -> pl.DataFrame:
    """What a table needs that has nothing to mend."""
    return rows


def bring_snapshot_up_to_date(
    run: Stage,
    asset: str,
    spec: TableSpec,
    schema: Schema,
    is_united: bool,
    code: str,
    mend: Callable[[pl.DataFrame], pl.DataFrame] = as_it_is,
    settings: str = "",
) -> Account:
    """An optional table that is not kept by day: read whole when it looks different from when it was read.

    `is_united`: files are united by key, else each file's row stands for itself. `mend` makes a batch canonical. `code` is
    the identity of the module that says so; another one, or other `settings`, read everything again (G12).
    """
    lake, files, missing = run.lake, run.files(spec.system, spec.name), run.missing_of(spec.system)
    known = lake.catalog.sources.get(asset, {})
    seen = intake.look(files, spec, run.looks)
    seen = intake.remembered(seen, {UNDATED: {"files": known.get("files", {})}}, missing)
    stored = {
        "rules": f"{code} {TABLES[asset].layout} {settings}",
        "order": _order(files, missing),
        "files": seen.as_stored(None),
    }
    is_returned = {*known.get("held", ())} - {*missing}
    if run.choice.full or is_returned or {key: known.get(key) for key in stored} != stored:
        gone = sum(mark.rows for label, mark in seen.days.get(None, {}).items() if label in missing)
        held_rows = HeldRows(lake, asset, spec.key, missing)
        held = held_rows.on("", gone) if gone else None
        batches = (_snapshot_rows(file, batch, mend) for file in files for batch in file.database.read_all(spec))
        labels = {file.label: file for file in files}
        found = WholeTable(TABLES[QUARANTINE].empty(), 0, 0)
        if not seen.rows(None):
            lake.drop(asset, "")
            held_rows.drop("")
        else:
            found = _store_united(lake, asset, spec, schema, list(batches), labels, held_rows, held, is_united)
        if found.refused.height:
            store(lake, QUARANTINE, [found.refused], f"{asset}/{NO_DAY}")
        else:
            lake.drop(QUARANTINE, f"{asset}/{NO_DAY}")
        copies, not_sampled = found.copies, found.not_sampled
        if held:
            unsampled = min(held.left_over, known.get("not_sampled", 0))
            copies, not_sampled = copies + held.left_over - unsampled, not_sampled + unsampled
        entry = {**stored, "read": seen.rows(None), "copies": copies, "not_sampled": not_sampled}
        lake.catalog.sources[asset] = entry | ({"held": sorted(missing)} if held else {})
    entry = lake.catalog.sources[asset]
    quarantined = lake.partitions(QUARANTINE).get(f"{asset}/{NO_DAY}")
    shapes = [file.database.shape(spec) for file in files]
    return Account(
        read=entry["read"],
        kept=lake.rows(asset),
        quarantined=quarantined.rows if quarantined else 0,
        copies=entry["copies"],
        not_sampled=entry.get("not_sampled", 0),
        missing_columns=sorted({column for shape in shapes for column in shape.missing}),
        unknown_columns=sorted({column for shape in shapes for column in shape.unknown}),
    )


def _store_united(
    lake: Lake,
    asset: str,
    spec: TableSpec,
    schema: Schema,
    frames: list[pl.DataFrame],
    files: Mapping[str, OpenFile],
    held_rows: HeldRows,
    held: Held | None,
    is_united: bool,
) -> WholeTable:
    """A table of several files: which of two rows counts may depend on a file that is missing (G13), so all are looked at together."""
    kept, bad = split(pl.concat(frames), schema) if frames else (pl.DataFrame(), None)
    moment = instant(pl.col("timestamp")) if "timestamp" in spec.columns else pl.lit(None, dtype=INSTANT)
    live = [held.live.with_columns(moment.alias("occurred_at"))] if held else []
    kept = intake.beside(kept, live)
    copied = conflicts = kept.clear().with_columns(pl.lit(None, dtype=pl.List(pl.String)).alias("reasons"))
    if is_united:
        compared = list(live[0].columns) if live else None
        kept, conflicts, copied = resolve_copies(kept, spec, (), compared)
        held_rows.store("", copied.filter("is_of_kept"), intake.lost_rows(conflicts, copied))
    parts = [intake.refusals(part, spec, files) for part in (bad, conflicts) if part is not None]
    refused = pl.concat([*parts, *([held.refused] if held else [])]).sort(PLACE)
    kept, left_out = intake.sampled(kept)
    store(lake, asset, [kept.sort(spec.key, "file_order", "source_rowid")])
    return WholeTable(refused, copied.height, left_out.height)


def _snapshot_rows(file: OpenFile, batch: pl.DataFrame, mend: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """A batch of a table without days, made canonical; where it has a `timestamp`, its instant says which row is later."""
    times = [column for column in ("timestamp",) if column in batch.columns]
    moment = instant(pl.col("timestamp")) if times else pl.lit(None, dtype=INSTANT)
    return mend(repair_milliseconds(batch, times)).with_columns(
        pl.lit(file.label).alias("source_file"),
        pl.lit(file.order, dtype=pl.Int32).alias("file_order"),
        moment.alias("occurred_at"),
    )
