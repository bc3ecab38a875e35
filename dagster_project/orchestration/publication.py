"""Publishing: what a run staged becomes visible all at once, the lake, the release, the warehouse and the files for reviewers."""

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.contracts.work import ALERTS, REVIEW_DAILY, ROWS_READ_DAILY
from dagster_project.engines import reading, shown_texts
from dagster_project.engines.warehouse_file import (
    copy_for_people,
    is_snapshot_here,
    prune_snapshots,
    put_warehouse_back,
    take_snapshot,
)
from dagster_project.lake.lake import WAREHOUSE
from dagster_project.lake.placing import discard_log
from dagster_project.lake.releases import ReleaseName
from dagster_project.lookups import alerts
from dagster_project.review.review_files import are_review_files_there, review_files, review_files_inputs
from dagster_project.review.waiting import decided_daily, waiting_now
from dagster_project.run import work_tables
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.run.missing_files import missing_since
from dagster_project.run.missing_files import told as told_of_missing
from dagster_project.training.kept_releases import drop_partitions, publication_of_release, remove_folders, to_prune
from dagster_project.training.release import standing_release

SIGNALS_DAILY = "metric__satisfaction_daily"
SHOWN = ("read", "kept", "quarantined", "copies", "not_sampled", "drift_count", "new_drift_count", "failed_check_count")


def publish(run: MillRun) -> list[Made]:
    """Make what the run staged visible, all at once; nothing of it if a table was left behind."""
    run.check_whole()
    is_changed = _publish(run)
    run.record.published(is_changed)
    told = {
        "publication": run.lake.published.publication,
        "changed": is_changed,
        "as_of": run.as_of.isoformat(),
        "missing_files": told_of_missing(run.missing, run.lake.published),
        **{name: value for name, value in run.record.entry().items() if name in SHOWN},
    }
    return [Made("warehouse", not is_changed, told)]


def _publish(run: MillRun) -> bool:
    lake = run.lake
    releases = list(publication_of_release(run))
    if run.is_in_the_past:
        lake.keep_only("train__")
        if lake.is_changed() or releases:
            lake.commit(releases)
        return bool(releases)
    lake.catalog.as_of = run.as_of.isoformat()
    lake.catalog.missing = missing_since(run.missing, lake.next_publication, lake.catalog.as_of)
    new = ReleaseName.parsed(releases[0][1].name) if releases else None
    lake.catalog.release = standing_release(run, new)
    pruned = to_prune(run, new)
    drop_partitions(lake, pruned)
    lake.catalog.inputs["review_files"] = review_files_inputs(run)
    masks = shown_texts.Masks(run.config.mask, run.config.mask_allow, code_identity(shown_texts.__name__))
    lake.catalog.inputs["warehouse"] = f"{code_identity(__name__)} {masks.identity}"
    shown_texts.keep_masked_texts(lake, masks, run.config.worker_count)
    if not lake.is_changed() and not releases and not run.state_moves and is_snapshot_here(lake):
        if is_put_back := put_warehouse_back(lake):
            run.damage.notes.append(f"a client had written to {WAREHOUSE} or beside it: it is as published again")
        remove_folders(lake.home, pruned)
        if are_review_files_there(run):
            return is_put_back or bool(pruned)
        review_files(run).lay_out()  # somebody removed a file
        return True
    lake.catalog.snapshot = lake.next_publication
    warehouse = take_snapshot(lake, about_the_work(run))
    files = review_files(run)  # last: people may be editing the batch it replaces
    lake.commit([*releases, (copy_for_people(warehouse, lake), lake.home / WAREHOUSE), *run.state_moves, *files.moves])
    discard_log(lake.home / WAREHOUSE)  # of a client that had the old file open meanwhile
    files.clear_away()
    prune_snapshots(lake)
    remove_folders(lake.home, pruned)
    return True


def about_the_work(run: MillRun) -> dict[str, pl.DataFrame]:
    """The tables about the work up to this publication, the run that makes it among them; what is to be kept of them once it
    is made."""
    lake = run.lake
    before = work_tables.kept(lake.home, REVIEW_DAILY.name)
    queues = work_tables.with_waiting(before, run.began.date(), waiting_now(lake), decided_daily(lake))
    run.daily = {ROWS_READ_DAILY.name: work_tables.rows_read_daily(lake.catalog), REVIEW_DAILY.name: queues}
    rows = run.daily[ROWS_READ_DAILY.name]
    known = alerts.series(rows, reading.read(lake, SIGNALS_DAILY), run.as_of.date())
    odd = alerts.alerts(known, run.record.drift if run.record.has_run_before else (), run.as_of.date())
    run.record.alerts = alerts.told(odd, work_tables.kept(lake.home, ALERTS.name))
    found = run.record.checks.values(), run.record.drift, run.record.alerts
    entry = {**run.record.entry(**run.facts(lake.next_publication)), "outcome": "published"}
    return work_tables.work_tables(lake.home, entry, found, run.daily)
