"""The analysts' warehouse: a snapshot of the lake by hard links, a DuckDB file on top of it, and publishing both.

A reader sees one publication and never half of a run: views point into `<home>/snapshots/<n>`, which no later run
touches, and the file is replaced by rename, so readers neither block a run nor are blocked by one.
"""

import shutil
from pathlib import Path

import duckdb

from dagster_project.contracts import TABLES
from dagster_project.contracts.columns import GLOSSARY
from dagster_project.lake import Lake
from dagster_project.mill_run import MillRun
from dagster_project.review.handout import handout_inputs, is_laid_out, review_handout
from dagster_project.training.release import publication_of_release

KEPT_SNAPSHOTS = 3
PLACE = ".home"
MOST_ROWS_IN_FILE = 50_000
IN_FILE = ("metric__", "core__responses", "core__feedback_sessions", "core__correction_requests", "core__safety_queue")

# What analysts call things, beside the asset keys.
ANALYST_VIEWS = {
    "feedback_metrics_daily": ("select * from metric__session_daily", "metric__session_daily"),
    "restatements": ("select * from metric__restatements", "metric__restatements"),
    "feedback_stats": ("select * from metric__feedback_stats", "metric__feedback_stats"),
    "response_feedback": ("select * from core__responses", "core__responses"),
    "feedback_sessions": ("select * from core__feedback_sessions", "core__feedback_sessions"),
    "signals": ("select * from core__signals", "core__signals"),
    "quarantine": ("select * from quarantine__rows", "quarantine__rows"),
}
OWN_COLUMNS = {
    "answer": "what should be answered: output, chosen or completion",
    "worse_answer": "the rejected answer of a pair",
}
TRAINING_EXAMPLES = """
    select 'instruction' as format, id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release_date,
        context, instruction as prompt, output as answer, null::varchar as worse_answer, null::boolean as label
    from train__instruction
    union all
    select 'cot', id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release_date,
        context, instruction, output, null, null
    from train__cot
    union all
    select 'correction', id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release_date,
        context, input, output, null, null
    from train__correction
    union all
    select 'preference', id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release_date,
        context, prompt, chosen, rejected, null
    from train__preference
    union all
    select 'unpaired', id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release_date,
        context, prompt, completion, null, label
    from train__unpaired
"""


def publish(run: MillRun) -> bool:
    """Make what the run staged visible, all at once. Returns whether anything changed."""
    lake = run.lake
    releases = list(publication_of_release(run, lake.home / "exports"))
    if run.is_in_the_past:
        lake.keep_only("train__")
        if lake.is_changed() or releases:
            lake.commit(before=releases)
        return bool(releases)
    lake.catalog.as_of = run.as_of.isoformat()
    if releases:
        lake.catalog.release = {"name": releases[0][1].name, "date": str(run.release_date)}
    lake.catalog.inputs["review_handout"] = handout_inputs(run)
    if not lake.is_changed() and not releases and not run.state_moves and _is_warehouse_here(lake):
        if is_laid_out(run):
            return False
        review_handout(run).lay_out()  # somebody removed a file
        return True
    lake.catalog.snapshot = lake.next_publication
    snapshot = take_snapshot(lake)
    warehouse = lake.staging / "warehouse.duckdb"
    build_warehouse(lake, snapshot, warehouse)
    handout = review_handout(run)  # last: people may be editing the batch it replaces
    lake.commit(before=releases, after=[(warehouse, lake.home / "warehouse.duckdb"), *run.state_moves, *handout.moves])
    handout.clear_away()
    prune_snapshots(lake)
    return True


def _is_warehouse_here(lake: Lake) -> bool:
    """Views hold absolute paths: a home that was moved or copied needs its warehouse built again."""
    place = lake.home / "snapshots" / str(lake.published.snapshot) / PLACE
    return (lake.home / "warehouse.duckdb").exists() and place.exists() and place.read_text() == str(lake.home)


def take_snapshot(lake: Lake) -> Path:
    """Hard links to every file of the lake as this run sees it."""
    snapshot = lake.home / "snapshots" / str(lake.next_publication)
    temporary = snapshot.with_name(snapshot.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    lake.link_all(temporary)
    (temporary / PLACE).write_text(str(lake.home), encoding="utf-8")
    temporary.replace(snapshot)
    return snapshot


def prune_snapshots(lake: Lake) -> None:
    folder = lake.home / "snapshots"
    numbers = sorted((int(path.name) for path in folder.iterdir() if path.name.isdigit()), reverse=True)
    for number in numbers[KEPT_SNAPSHOTS:]:
        shutil.rmtree(folder / str(number))


def build_warehouse(lake: Lake, snapshot: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("set TimeZone = 'UTC'")
        for name in TABLES:
            _add_table(connection, lake, snapshot, name)
        for view, (sql, table) in ANALYST_VIEWS.items():
            connection.execute(f"create view {view} as {sql}")
            _comment(connection, "view", view, TABLES[table].description)
            _comment_columns(connection, view, {name: m.description for name, m in TABLES[table].meanings.items()})
        connection.execute(f"create view training_examples as {TRAINING_EXAMPLES}")
        _comment(connection, "view", "training_examples", "One exported training record of any format and release.")
        columns = [row[0] for row in connection.execute("describe training_examples").fetchall()]
        comments = {column: OWN_COLUMNS.get(column) or GLOSSARY[column].description for column in columns}
        _comment_columns(connection, "training_examples", comments)
        connection.execute("checkpoint")


def _add_table(connection: duckdb.DuckDBPyConnection, lake: Lake, snapshot: Path, name: str) -> None:
    files = [str(snapshot / name / partition / "part-0.parquet") for partition in lake.partitions(name)]
    kind = "view"
    if not files:
        kind = "table"
        connection.register("empty_table", TABLES[name].empty().to_arrow())
        connection.execute(f"create table {name} as select * from empty_table")
        connection.unregister("empty_table")
    else:
        relation = connection.read_parquet(files, hive_partitioning=False)
        if name.startswith(IN_FILE) and lake.rows(name) <= MOST_ROWS_IN_FILE:
            kind = "table"
            relation.create(name)
        else:
            globs = f"'{_quoted(snapshot / name)}/**/*.parquet'"
            connection.execute(f"create view {name} as select * from read_parquet({globs}, hive_partitioning = false)")
    _comment(connection, kind, name, TABLES[name].description)
    _comment_columns(connection, name, {column: m.description for column, m in TABLES[name].meanings.items()})


def _comment(connection: duckdb.DuckDBPyConnection, kind: str, name: str, text: str) -> None:
    connection.execute(f"comment on {kind} {name} is '{_quoted(text)}'")


def _comment_columns(connection: duckdb.DuckDBPyConnection, name: str, comments: dict[str, str]) -> None:
    for column, text in comments.items():
        connection.execute(f"comment on column {name}.\"{column}\" is '{_quoted(text)}'")


def _quoted(text: object) -> str:
    return str(text).replace("'", "''")
