"""The analysts' warehouse: a snapshot of the lake by hard links, and a DuckDB file on top of it.

A reader sees one publication and never half of a run: views point into `<home>/snapshots/<n>`, which no later run
touches, and the file is replaced by rename, so readers neither block a run nor are blocked by one.

The snapshot has the file too, for ourselves: `<home>/warehouse.duckdb` is a copy that people open with clients of their own.
It can only be read (0444), which keeps everybody but root from writing into it, from leaving a log beside it and from
locking others out; where root did so all the same, the next run puts the copy back.
"""

import filecmp
import shutil
from pathlib import Path

import duckdb

from dagster_project.contracts import TABLES
from dagster_project.contracts.columns import GLOSSARY
from dagster_project.engines import queries
from dagster_project.engines.shown_texts import shown_query
from dagster_project.lake.damage import is_whole
from dagster_project.lake.lake import WAREHOUSE, Lake
from dagster_project.lake.parquet import as_pattern
from dagster_project.lake.placing import discard_log, move_file, sync

KEPT_SNAPSHOTS = 3
PLACE = ".home"
STORAGE = "v1.4.0"  # since then a file and its log know each other: DuckDB refuses a log of another file's
MOST_ROWS_IN_FILE = 50_000

OWN_COLUMNS = {
    "answer": "what should be answered: output, chosen or completion",
    "worse_answer": "the rejected answer of a pair",
}
TRAINING_EXAMPLES = """
    select 'instruction' as format, id, content_id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release,
        release_date, context, instruction as prompt, output as answer, null::varchar as worse_answer, null::boolean as label
    from train__instruction
    union all
    select 'cot', id, content_id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release,
        release_date, context, instruction, output, null, null
    from train__cot
    union all
    select 'correction', id, content_id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release,
        release_date, context, input, output, null, null
    from train__correction
    union all
    select 'preference', id, content_id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release,
        release_date, context, prompt, chosen, rejected, null
    from train__preference
    union all
    select 'unpaired', id, content_id, source, origin_ids, prompt_key, split, quality_weight, tier, domain, release,
        release_date, context, prompt, completion, null, label
    from train__unpaired
"""


def own_warehouse(lake: Lake) -> Path:
    """The publication's own copy, which nobody holds open for writing and nobody leaves a log beside."""
    return lake.home / "snapshots" / str(lake.published.snapshot) / WAREHOUSE


def is_snapshot_here(lake: Lake) -> bool:
    """Whether the publication's snapshot is whole. Views hold absolute paths: a home that was moved needs another one."""
    place = own_warehouse(lake).with_name(PLACE)
    if not (own_warehouse(lake).is_file() and place.is_file() and place.read_text(encoding="utf-8") == str(lake.home)):
        return False
    return is_whole(lake)


def is_warehouse_right(lake: Lake) -> bool:
    """Whether what people open is what was published: no log beside it, and not written into."""
    public, log = lake.home / WAREHOUSE, lake.home / f"{WAREHOUSE}.wal"
    if log.is_file() or public.is_symlink() or not public.is_file():
        return False
    return filecmp.cmp(own_warehouse(lake), public, shallow=False)


def put_warehouse_back(lake: Lake) -> bool:
    """For a run that publishes nothing: what a client did to the file ends here. Returns whether there was anything."""
    if is_warehouse_right(lake):
        return False
    copy = copy_for_people(own_warehouse(lake), lake)
    discard_log(lake.home / WAREHOUSE)
    move_file(copy, lake.home / WAREHOUSE)
    return True


def copy_for_people(warehouse: Path, lake: Lake) -> Path:
    lake.staging.mkdir(parents=True, exist_ok=True)
    copy = lake.staging / WAREHOUSE
    copy.unlink(missing_ok=True)
    shutil.copyfile(warehouse, copy)
    copy.chmod(_mode(lake.home))
    sync(copy)
    return copy


def _mode(home: Path) -> int:
    """Read-only. Who may enter the home may read it; where that is more than its owner, only the owner may."""
    return 0o400 if home.stat().st_mode & 0o077 else 0o444


def take_snapshot(lake: Lake) -> Path:
    """Hard links to every file of the lake as this run sees it, and a warehouse on top of them; returns the latter."""
    snapshot = lake.home / "snapshots" / str(lake.next_publication)
    temporary = snapshot.with_name(snapshot.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    lake.link_all(temporary)
    (temporary / PLACE).write_text(str(lake.home), encoding="utf-8")
    temporary.replace(snapshot)
    build_warehouse(lake, snapshot, snapshot / WAREHOUSE)
    return snapshot / WAREHOUSE


def prune_snapshots(lake: Lake) -> None:
    folder = lake.home / "snapshots"
    numbers = sorted((int(path.name) for path in folder.iterdir() if path.name.isdigit()), reverse=True)
    for number in numbers[KEPT_SNAPSHOTS:]:
        shutil.rmtree(folder / str(number))


def build_warehouse(lake: Lake, snapshot: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path), config={"storage_compatibility_version": STORAGE}) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute("begin")  # a commit for each of a thousand comments would take longer than everything else
        for name in [name for name in TABLES if name not in lake.catalog.views]:
            _add_table(connection, lake, snapshot, name)
        for name in queries.views_behind(lake, lake.catalog.views):
            connection.execute(f"create view {name} as {queries.view_query(lake, name)}")
            _comment_table(connection, "view", name)
        for table in [table for table in TABLES.values() if table.view]:
            connection.execute(f"create view {table.view} as select * from {table.name}")
            _comment(connection, "view", str(table.view), table.description)
            _comment_columns(connection, str(table.view), {name: m.description for name, m in table.meanings.items()})
        connection.execute(f"create view training_examples as {TRAINING_EXAMPLES}")
        _comment(connection, "view", "training_examples", "One exported training record of any format and release.")
        columns = [row[0] for row in connection.execute("describe training_examples").fetchall()]
        comments = {column: OWN_COLUMNS.get(column) or GLOSSARY[column].description for column in columns}
        _comment_columns(connection, "training_examples", comments)
        connection.execute("commit")
        connection.execute("checkpoint")
    path.chmod(_mode(lake.home))
    sync(path)


def _add_table(connection: duckdb.DuckDBPyConnection, lake: Lake, snapshot: Path, name: str) -> None:
    files = [as_pattern(snapshot / name / partition / "part-0.parquet") for partition in lake.partitions(name)]
    kind = "view"
    if not files:
        kind = "table"
        connection.execute(f"create table {name} ({TABLES[name].duckdb_columns})")
    else:
        is_in_file = name.startswith("metric__") or TABLES[name].is_in_warehouse
        if is_in_file and lake.rows(name) <= MOST_ROWS_IN_FILE:
            kind = "table"
            listed = ", ".join(f"'{_quoted(file)}'" for file in files)
            connection.execute(f"create table {name} as {shown_query(lake, name, f'[{listed}]', snapshot)}")
        else:
            globs = f"'{_quoted(as_pattern(snapshot / name))}/**/*.parquet'"
            connection.execute(f"create view {name} as {shown_query(lake, name, globs, snapshot)}")
    _comment_table(connection, kind, name)


def _comment_table(connection: duckdb.DuckDBPyConnection, kind: str, name: str) -> None:
    _comment(connection, kind, name, TABLES[name].description)
    _comment_columns(connection, name, {column: m.description for column, m in TABLES[name].meanings.items()})


def _comment(connection: duckdb.DuckDBPyConnection, kind: str, name: str, text: str) -> None:
    connection.execute(f"comment on {kind} {name} is '{_quoted(text)}'")


def _comment_columns(connection: duckdb.DuckDBPyConnection, name: str, comments: dict[str, str]) -> None:
    # a table's at once: one by one they take twice as long, 0.2 s of every run that finds something new
    comments_on = (f"comment on column {name}.\"{column}\" is '{_quoted(text)}'" for column, text in comments.items())
    connection.execute("; ".join(comments_on))


def _quoted(text: object) -> str:
    return str(text).replace("'", "''")
