"""A source table that is kept by day, brought up to date: choose the days (G7), read, refuse, store, account for every row (G3).

The account of each day stays in the catalogue: how it looked at the source, how many rows were kept, refused, copies.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import polars as pl

from dagster_project.contracts import TABLES
from dagster_project.engines import queries, reading
from dagster_project.engines.stored_tables import WrittenFile, fit, take_over, write, write_days
from dagster_project.engines.workers import in_order
from dagster_project.intake.account import Account, unknown_words
from dagster_project.intake.day_buffer import LargeDay
from dagster_project.intake.day_reading import (
    DatedTable,
    JudgedDays,
    ReadDays,
    by_day,
    days_of_mended_rows,
    judged,
    quarantined,
    read_days,
    read_undated,
    refusals,
)
from dagster_project.intake.fingerprints import UNDATED, changed_days, last_days
from dagster_project.intake.held_rows import PLACE, QUARANTINE, Held, HeldRows
from dagster_project.intake.large_days import Make, settle
from dagster_project.intake.open_files import keeps_order, order_of
from dagster_project.intake.reading_again import (
    ASKED,
    DAMAGED,
    DIFFERENT,
    GONE,
    LAST,
    MENDED,
    NEW,
    OTHERS,
    RETURNED,
    RIVALS,
    STALE,
    because,
)
from dagster_project.intake.stage import Stage
from dagster_project.lake import parquet
from dagster_project.lake.lake import NO_DAY, partition_day


class DatedIntake:
    """The work of one dated table in one run."""

    def __init__(
        self,
        run: Stage,
        asset: str,
        table: DatedTable,
        made: Mapping[str, Make],
        code: str,
        settings: str = "",
    ) -> None:
        """`made` says what is made of kept rows, row by row: the table itself and others by day. Many threads ask it at once.

        `code` is the identity of the module that says how; another one, or other `settings`, read everything again (G12).
        """
        self.run, self.lake, self.asset, self.table = run, run.lake, asset, table
        self.files = run.files_with(table.spec)
        self.seen = run.seen(asset)
        self.made = made
        contracts = " ".join(TABLES[name].digest for name in made)
        self.rules = f"{code} {contracts} {settings}"
        self.missing = run.missing_of(table.spec.system)
        rewritten = [table.stored_as.get(column, column) for column in table.rewritten]
        self.held = HeldRows(self.lake, asset, table.spec.key, self.missing, rewritten)
        stored = self.lake.catalog.sources.get(asset, {})
        self.accounts: dict[str, Any] = dict(stored.get("days", {}))
        self.order = order_of(self.files, self.missing)
        self.is_stale = stored.get("rules") != self.rules or not keeps_order(stored.get("order", []), self.order)
        self.read_so_far: set[date] = set()
        self.spill_folder, self.workers = self.lake.staging / "days", run.config.worker_count

    def bring_up_to_date(self, more_days: set[date]) -> Account:
        """`more_days` are days the caller knows to be out of date for reasons beyond the table itself."""
        chosen = self._chosen_days(more_days)
        self.run.planned[self.asset] = {**chosen}
        if self.run.choice.is_dry:
            self.lake.catalog.sources.setdefault(self.asset, {})
            return Account(days_read=sorted(chosen))
        pending = {*chosen}
        self._store_undated()
        while pending:
            groups = read_days(self.table, self.files, self.seen, sorted(pending), self.spill_folder, self._hold)
            # One thread, this one, reads the sources and notes what came of it; judging, keys and files are the workers'.
            for group, kept, files in in_order(self._written, groups, self.workers, self.run.check_stop):
                self._store(group, kept, files)
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
        account = self._account()
        self._tell_unknown_words(account)
        return account

    def _tell_unknown_words(self, account: Account) -> None:
        """Counted anew only where rows changed."""
        known = self.lake.published.sources.get(self.asset, {}).get("unknown_words")
        if self.is_stale or account.changed_days or known is None:
            known = unknown_words(self.run, self.asset, self.table.vocabularies)
        self.lake.catalog.sources[self.asset]["unknown_words"] = account.unknown_words = known

    def _chosen_days(self, more_days: set[date]) -> dict[date, str]:
        """The days that are read again, each with why (G7); where there are several reasons, the first."""
        accounts = {day: entry for day, entry in self.accounts.items() if day != UNDATED}
        known = {date.fromisoformat(day) for day in accounts}
        everything = {*self.seen.dates, *known}
        if self.run.choice.full:
            return dict.fromkeys(everything, ASKED)
        if self.is_stale:
            return {day: STALE if day in known else NEW for day in everything}
        looks_different = changed_days(self.seen, accounts)
        returned = self._days_of_returned_files(accounts)
        damaged = self.run.damage.days & everything
        if self.run.choice.days:
            wanted = {day for day in everything if self.run.choice.includes(day)}
            never = self._never_read_whole(looks_different | returned)
            return because((ASKED, wanted), (NEW, never - known), (DIFFERENT, never), (DAMAGED, damaged))
        gone = {day for day in known if not self.seen.rows(day)}
        refused = self._refused()
        found = because(
            (NEW, looks_different - known),
            (GONE, looks_different & gone),
            (DIFFERENT, looks_different),
            (RETURNED, returned),
            (DAMAGED, damaged),
            (LAST, last_days(self.run.as_of.date()) & everything),
            (OTHERS, more_days & everything),
            (MENDED, days_of_mended_rows(self.table, self.files, refused) & everything),
        )
        return found | dict.fromkeys(self._days_of_losers(refused, {*found}), RIVALS)

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

    def _written(self, read: ReadDays | LargeDay) -> tuple[JudgedDays, dict[date, int], list[WrittenFile]]:
        """Days that were read, judged and written to files. Touches nothing that others share: many threads do this at once."""
        if isinstance(read, LargeDay):
            check = self.run.check_stop
            group, kept, files = settle(self.lake, self.table, read, self.made, self.spill_folder, self.workers, check)
            return group, {read.day: kept}, files
        group = judged(self.table, read)
        rows, group.kept = group.kept, pl.DataFrame()
        return group, by_day(rows), self._write(rows.drop("file_order")) if rows.height else []

    def _write(self, rows: pl.DataFrame) -> list[WrittenFile]:
        """All that is made of kept rows of whole days."""
        return [file for table, make in self.made.items() for file in write_days(self.lake, table, make(rows))]

    def _store(self, group: JudgedDays, kept: Mapping[date, int], files: list[WrittenFile]) -> None:
        """Note what became of some days, and store what is not kept of them."""
        take_over(self.lake, files)
        self.run.report(self.asset, sum(kept.values()))
        found = quarantined(self.table, group, {file.label: file for file in self.files})
        all_refused = fit(QUARANTINE, found) if found.height else TABLES[QUARANTINE].empty()
        refused_by_day = all_refused.partition_by("event_date", as_dict=True, maintain_order=True)
        for day in group.days:
            if day is None:
                continue
            if not kept.get(day):
                self._drop(day)
            refused = refused_by_day.get((day,), all_refused.clear())
            self._store_refused(refused, f"event_date={day}")
            before = self.accounts.get(str(day), {})
            account = self.accounts[str(day)] = {
                "files": self.seen.as_stored(day),
                "kept": kept.get(day, 0),
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

    def _store_refused(self, refused: pl.DataFrame, partition: str) -> None:
        if refused.height:
            write(self.lake, QUARANTINE, refused.sort(*PLACE), f"{self.asset}/{partition}")
        else:
            self.lake.drop(QUARANTINE, f"{self.asset}/{partition}")

    def _store_undated(self) -> None:
        self.accounts.pop(UNDATED, None)
        undated = read_undated(self.table, self.files, self.seen) if self.seen.rows(None) else pl.DataFrame()
        parts = [undated] if undated.height else []
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
        for table in self.made:
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
        return sorted(partition_day(p) for p in {*now, *before} if now.get(p) != before.get(p))

    def _settle_repeated_keys(self) -> set[date]:
        """Keys under more than one day: a row that moved makes its old day be read again, else the latest row counts."""
        repeated = repeated_keys(self.run, self.asset, self.table.spec.key, self._changed())
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
            refused = refusals(rows.filter(is_lost).with_columns(reasons), self.table.spec, files)
            already = [parquet.read(path) for path in self.lake.files(QUARANTINE, [f"{self.asset}/{partition}"])]
            kept = rows.filter(~is_lost)
            if kept.height:
                take_over(self.lake, self._write(kept))
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


def repeated_keys(run: Stage, asset: str, key: str, days: Sequence[date]) -> pl.DataFrame:
    """Rows whose key is in the lake under more than one day (G7): a row that moved, or two files that disagree (F3).

    Only keys of `days`, those that changed: of all others the published lake has one row.
    """
    with queries.engine(run.lake, run.config.memory_limit_mb) as connection:
        rows = queries.relation(connection, run.lake, asset).project(
            f'"{key}" as key, event_date, occurred_at, source_file, source_rowid'
        )
        changed = queries.relation(connection, run.lake, asset, [f"event_date={day}" for day in days])
        repeated = (
            rows.join(changed.project(f'"{key}" as key').set_alias("changed"), "key", how="semi")
            .aggregate("key, count(*) as row_count", "key")
            .filter("row_count > 1")
            .project("key")
            .set_alias("repeated")
        )
        return rows.join(repeated, "key", how="semi").order("key, event_date").pl()
