"""Rule D9: what a write-back tells the distillation source, once per release, and that no output depends on it."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.sqlite import SqliteDatabase
from dagster_project.demo.distillation import sources as demo
from dagster_project.intake.marks import Release
from dagster_project.lake.lake import Lake
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.systems.distillation.writeback import judged_examples
from dagster_project.systems.feedback.writeback import exported_feedback
from tests.conftest import (
    ask,
    change,
    complaint,
    content,
    copy_home,
    finish,
    gristmill,
    made_once,
    main_source,
    run,
    start,
)
from tests.tables import table
from tests.training.test_releases import difference, records
from tests.training.test_releases import make_source as make_feedback_source

pytestmark = pytest.mark.slow

TABLE = "distillation_examples"
COLUMNS = (
    "quality_score",
    "quality_flags",
    "human_reviewed",
    "reviewer_notes",
    "training_ready",
    "training_format",
    "export_count",
    "last_exported_at",
)
OTHERS = f"select id, created_at, query, claude_response, sam_attempt, reasoning_type, domain, complexity from {TABLE}"
SCHEMA = Path(demo.__file__).with_name("tables.sql").read_text(encoding="utf-8")
FIRST_DAY = datetime(2026, 1, 8, tzinfo=UTC).timestamp()
RELEASE, EARLIER = "20260112", "20260109"
EXPORTED_AT, EARLIER_AT = datetime(2026, 1, 13, tzinfo=UTC).timestamp(), datetime(2026, 1, 10, tzinfo=UTC).timestamp()
STEPS = json.dumps(["Look at the clock.", "Count the hours that are left."])
LONG = (
    "look at the clock first, and count the hours that are left after that; there is no other way to find out. Then write "
    "the number down, compare it with what you had planned, and decide what can wait until tomorrow morning."
)
PLAIN: dict[str, Any] = {
    "domain": "code",
    "reasoning_type": "chain_of_thought",
    "reasoning_steps": STEPS,
    "tool_usage": "[]",
    "corrections": "{}",
    "principles": json.dumps([{"principle": "Count."}]),
    "complexity": 5,
    "quality_flags": "[]",
}
WEAK = {
    "reasoning_type": "direct",
    "reasoning_steps": "[]",
    "principles": "[]",
    "complexity": 1,
    "quality_flags": '["Outdated"]',
}
ERRORS = {"corrections": json.dumps({"sam_errors": [{"error_type": "incomplete"}]})}
# Day, then what differs from PLAIN.
ROWS: list[tuple[int, dict[str, Any]]] = [
    (0, {"id": "plain"}),
    (0, {"id": "counted", "export_count": 3, "last_exported_at": 7.0}),
    (1, {"id": "pair", "sam_attempt": "No idea.", "export_count": None, **ERRORS}),
    (1, {"id": "weak", "quality_score": 0.9, "training_ready": 2, **WEAK}),
    (2, {"id": "told", "training_ready": 1, **WEAK}),
    (2, {"id": "refused", "human_reviewed": -1, "reviewer_notes": "no", "quality_flags": r'["A \"b\",","é"]'}),
    (2, {"id": "machine", "human_reviewed": 1, "reviewer_notes": "AUTO-APPROVED", **WEAK}),
    (3, {"id": "approved", "human_reviewed": 1, "reviewer_notes": "fine", **WEAK}),
    (3, {"id": "broken", "quality_flags": "not json", "last_exported_at": 1_767_000_000_000.0}),
    (
        4,
        {
            "id": "loser",
            "query": "Question of pair?",
            "claude_response": f"For pair {LONG}",
            "created_at": FIRST_DAY + 1,
        },
    ),
    (4, {"id": "odd", "human_reviewed": 5}),
]
JUDGED = ("plain", "counted", "pair", "weak", "told", "refused", "machine", "approved", "broken")
LEFT = ("plain", "counted", "pair", "told", "approved", "broken")


def rows() -> list[dict[str, Any]]:
    return [
        PLAIN
        | {"created_at": FIRST_DAY + day * 86_400 + 60 * place, "query": f"Question of {row['id']}?"}
        | {"claude_response": f"For {row['id']} {LONG}"}
        | row
        for place, (day, row) in enumerate(ROWS)
    ]


def source_of(home: Path) -> Path:
    return home / "sources" / "distillation.db"


def make_source(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
        for row in rows():
            marks = ", ".join(f":{name}" for name in row)
            database.execute(f"insert into {TABLE} ({', '.join(row)}) values ({marks})", row)
        older = (PLAIN["domain"], FIRST_DAY + 4 * 86_400, LONG)
        database.execute(
            "insert into examples (id, query, domain, created_at, claude_response) values ('e', 'E?', ?, ?, ?)", older
        )
        database.execute(
            "insert into raw_interactions (id, prompt, domain, created_at, response) values ('plain', 'R?', ?, ?, ?)",
            older,
        )
        database.commit()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows above and those of the tests of releases, with two releases. Not to be changed."""
    with made_once(tmp_path_factory, "home_to_write_back") as (home, is_new):
        if is_new:
            make_feedback_source(main_source(home))
            make_source(source_of(home))
            run(home, "--as-of", "2026-01-10")
            run(home)
        return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return copy_home(made, tmp_path / "home")


def write_back(home: Path, *arguments: str) -> list[str]:
    done = gristmill(home, "writeback", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def held(home: Path) -> dict[str, dict[str, Any]]:
    found = ask(source_of(home), f"select id, {', '.join(COLUMNS)} from {TABLE} order by rowid")
    return {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in found}


def untouched() -> dict[str, dict[str, Any]]:
    """The columns as the source's owner wrote them."""
    defaults = dict.fromkeys(COLUMNS) | {"human_reviewed": 0, "training_ready": 0, "export_count": 0}
    return {row["id"]: defaults | {name: row[name] for name in COLUMNS if name in row} for row in rows()}


def marked(left: tuple[str, ...] = LEFT) -> dict[str, dict[str, Any]]:
    """The columns as D9 wants them after one write-back of the newest release."""
    expected = untouched()
    for key in JUDGED:
        is_weak = key in ("weak", "told", "machine", "approved")
        expected[key] |= {"quality_score": 0.4 if is_weak else 0.75, "quality_flags": "[]"}
        expected[key]["training_ready"] = int(key in LEFT)
    for key in ("weak", "told", "machine", "approved"):
        expected[key]["quality_flags"] = '["outdated"]'
    expected["refused"]["quality_flags"] = r'["a \"b\",", "é"]'
    expected["pair"]["quality_score"] = 0.9
    formats = {"pair": "correction", "told": "instruction", "approved": "instruction"}
    for key in left:
        expected[key] |= {"training_format": formats.get(key, "cot"), "last_exported_at": EXPORTED_AT}
        expected[key]["export_count"] = (expected[key]["export_count"] or 0) + 1
    return expected


def derived(home: Path) -> dict[str, bytes]:
    """Everything made from the raw tables."""
    raw = ["catalog.json", *(folder.name for folder in (home / "lake").iterdir() if folder.name.startswith("raw_"))]
    return {**content(home / "lake", raw), **content(home / "exports")}


def raw_rows(home: Path) -> pl.DataFrame:
    return table(home, f"raw_distillation__{TABLE}").sort("id")


# --- what is written ---------------------------------------------------------------------------------------------


def test_what_is_written(home: Path) -> None:
    """All examples of the table get what we think of them; those in the release also what became of them. Nothing else."""
    tables = ("examples", "raw_interactions", "chain_of_thought", "preference_pairs")
    others = [ask(source_of(home), f"select * from {table}") for table in tables], ask(source_of(home), OTHERS)
    output = write_back(home)
    assert held(home) == marked()
    assert (
        [ask(source_of(home), f"select * from {table}") for table in tables],
        ask(source_of(home), OTHERS),
    ) == others
    assert output[1:2] == [f"  distillation: wrote {len(JUDGED)} rows, 0 already written, 0 left alone"]
    exported = {
        origin
        for file in records(home / "exports" / RELEASE).values()
        for record in file
        if record["source"].startswith("distillation_")
        for origin in record["origin_ids"]
    }
    assert exported == set(LEFT)


def test_systems_do_not_mark_each_others_rows(tmp_path: Path) -> None:
    """A feedback row and an example may have the same id; a record's source says whose it is."""
    folder = tmp_path / "exports" / RELEASE
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"as_of": "2026-01-13T00:00:00+00:00"}), encoding="utf-8")
    for form, source, ids in (
        ("cot", "distillation_cot", ["same"]),
        ("preference", "distillation_preference", ["same"]),
        ("preference", "synthetic_pair", ["preference_pairs:p"]),
        ("preference", "feedback_rating_pair", ["same", "other"]),
        ("instruction", "feedback_positive", ["same"]),
    ):
        with (folder / f"{form}_{RELEASE}.jsonl").open("a", encoding="utf-8") as file:
            file.write(
                json.dumps({"prompt": "?", "context": None, "source": source, "quality_weight": 0.5, "origin_ids": ids})
                + "\n"
            )
    release = Release(Lake(tmp_path), RELEASE)
    feedback = exported_feedback(release).select("feedback_id", "new_training_format").rows()
    assert feedback == [("other", "preference"), ("same", "preference")]
    assert judged_examples(release).select("id", "new_training_format").rows() == [("same", "cot")]


def test_our_reviewers_verdicts(home: Path) -> None:
    """Their word is written; taken back, what the source had comes back; the source's machine stays what it is."""
    decisions = Decisions(home)
    decisions.append(
        Decision("weak", "approved", "ana", "Short and right.", None, True),
        Decision("plain", "rejected", "ana", "", None, True),
        Decision("refused", "approved", "ana", "A second look.", None, True),
    )
    run(home)
    write_back(home)
    found = held(home)
    verdicts = {key: (row["human_reviewed"], row["reviewer_notes"]) for key, row in found.items()}
    assert verdicts["weak"] == (1, "Short and right.")
    assert verdicts["plain"] == (-1, None)
    assert verdicts["refused"] == (1, "A second look.")
    assert verdicts["machine"] == (1, "AUTO-APPROVED")
    assert verdicts["approved"] == (1, "fine")
    assert [found[key]["export_count"] for key in ("weak", "plain", "refused")] == [1, 0, 1]
    assert [found[key]["training_ready"] for key in ("weak", "plain", "refused")] == [1, 0, 1]
    decisions.append(*(Decision(key, "undone", "ana", "", None, True) for key in ("weak", "plain", "refused")))
    run(home)
    write_back(home)
    expected = untouched()
    for key, row in held(home).items():
        assert {name: row[name] for name in COLUMNS[2:4]} == {name: expected[key][name] for name in COLUMNS[2:4]}


# --- once --------------------------------------------------------------------------------------------------------


def test_a_second_time_nothing_happens(home: Path) -> None:
    """Not in the source, not in the home; nor after a run in between."""
    write_back(home)
    before, in_home = held(home), content(home, ["runs", "lock"])
    again = f"  distillation: wrote 0 rows, {len(JUDGED)} already written, 0 left alone"
    assert write_back(home)[1] == again
    assert write_back(home, "--release", RELEASE)[1] == again
    assert held(home) == before
    assert difference(in_home, content(home, ["runs", "lock"])) == ([], [], [])
    run(home)
    assert write_back(home)[1] == again
    assert held(home) == before


def test_each_release_counts_once(home: Path) -> None:
    """An earlier release tells what it contains and no more, and never turns a later one's marks back."""
    assert write_back(home, "--release", EARLIER)[1].startswith("  distillation: wrote 3 rows")
    expected = untouched()
    for key, form, count in (("plain", "cot", 1), ("counted", "cot", 4), ("pair", "correction", 1)):
        expected[key] |= {"training_format": form, "export_count": count, "last_exported_at": EARLIER_AT}
    assert held(home) == expected
    write_back(home)
    expected = marked()
    for key in ("plain", "counted", "pair"):
        expected[key]["export_count"] += 1
    assert held(home) == expected
    for release in (EARLIER, RELEASE, EARLIER):
        assert write_back(home, "--release", release)[1].startswith("  distillation: wrote 0 rows")
    assert held(home) == expected


def test_an_earlier_release_after_a_later_one(home: Path) -> None:
    """It counts, but it was not the last export."""
    write_back(home)
    assert write_back(home, "--release", EARLIER)[1].startswith("  distillation: wrote 3 rows")
    expected = marked()
    for key in ("plain", "counted", "pair"):
        expected[key]["export_count"] += 1
    assert held(home) == expected


def test_a_row_changed_since_is_left_alone(home: Path) -> None:
    """Named and as its owner made it, be it judged, rewritten, of another type, or gone. All others are written."""
    change(
        source_of(home),
        f"update {TABLE} set human_reviewed = 1 where id = 'weak'",
        f"update {TABLE} set claude_response = claude_response || '!' where id = 'plain'",
        f"update {TABLE} set sam_confidence = 'high' where id = 'broken'",
        f"delete from {TABLE} where id = 'pair'",
    )
    output = write_back(home)
    keys = ("plain", "pair", "weak", "broken")
    assert output[:4] == [f"left alone, changed since it was read: {key}" for key in keys]
    expected = marked()
    for key in keys:
        expected[key] = untouched()[key]
    expected["weak"]["human_reviewed"] = 1
    del expected["pair"]
    assert held(home) == expected
    assert output[-2] == f"  distillation: wrote {len(JUDGED) - 4} rows, 0 already written, 4 left alone"


def test_a_source_that_lacks_some_of_the_columns(home: Path) -> None:
    """An older table: the columns it has are written."""
    change(source_of(home), f"alter table {TABLE} drop column last_exported_at")
    run(home)
    assert write_back(home)[1].startswith(f"  distillation: wrote {len(JUDGED)} rows")
    found = ask(source_of(home), f"select id, export_count, training_format from {TABLE}")
    assert found == [(key, row["export_count"], row["training_format"]) for key, row in marked().items()]
    assert write_back(home)[1].startswith("  distillation: wrote 0 rows")


# --- no output depends on it -------------------------------------------------------------------------------------


def test_no_output_depends_on_it(home: Path) -> None:
    """The same bytes; of the raw table all but the mark, repairs included. So it stays when only the state survives."""
    before, raw = derived(home), raw_rows(home)
    write_back(home)
    run(home, "--full")
    assert difference(before, derived(home)) == ([], [], [])
    now = raw_rows(home)
    assert now.drop("is_written_back").equals(raw.drop("is_written_back"))
    assert dict(now.select("id", "is_written_back").iter_rows()) == {
        row["id"]: row["id"] in JUDGED for row in rows() if row["id"] != "odd"
    }
    assert "bad_json:quality_flags" in now.filter(pl.col("id") == "broken")["repairs"][0]
    elsewhere = home.with_name("elsewhere")
    for part in ("state", "sources"):
        copy_home(home / part, elsewhere / part)
    run(elsewhere)
    exports = content(home / "exports" / RELEASE)
    assert difference(exports, content(elsewhere / "exports" / RELEASE)) == ([], [], [])


def test_what_the_owner_changes_afterwards_is_the_owners(home: Path) -> None:
    """A review at the source of a row that holds our marks: just as if they were not there."""
    without = copy_home(home, home.with_name("without"))
    write_back(home)
    for place in (home, without):
        change(
            source_of(place),
            f"update {TABLE} set human_reviewed = 1, reviewer_notes = 'good' where id = 'weak'",
            f"update {TABLE} set human_reviewed = -1 where id = 'plain'",
            f"update {TABLE} set training_format = 'instruction' where id = 'counted'",
        )
        run(place)
    assert difference(derived(without), derived(home)) == ([], [], [])
    assert raw_rows(home).drop("is_written_back").equals(raw_rows(without).drop("is_written_back"))
    write_back(home)
    found = held(home)
    assert (found["weak"]["human_reviewed"], found["weak"]["reviewer_notes"], found["weak"]["export_count"]) == (
        1,
        "good",
        1,
    )
    assert (found["plain"]["human_reviewed"], found["plain"]["export_count"]) == (-1, 1)
    assert (found["counted"]["training_format"], found["counted"]["export_count"]) == ("instruction", 5)


@pytest.mark.parametrize("earlier", [False, True], ids=["first", "after another release"])
def test_stopped_before_the_source_has_it(home: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool) -> None:
    """The ledger is written first. If the source never gets its part, outputs are as before, and the next try does it."""
    if earlier:
        write_back(home, "--release", EARLIER)
    before, stands = derived(home), held(home)

    update_rows = SqliteDatabase.update_rows

    def stop(database: SqliteDatabase, spec: TableSpec, changes: pl.DataFrame) -> None:
        if spec.name == TABLE:
            raise OSError("the plug was pulled")
        update_rows(database, spec, changes)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "update_rows", stop)
        assert "the plug was pulled" in complaint(gristmill(home, "writeback"))
    assert held(home) == stands
    assert pl.read_parquet(home / "state" / "writeback_distillation.parquet")["is_under_way"].sum() == len(JUDGED)
    run(home, "--full")
    assert difference(before, derived(home)) == ([], [], [])
    write_back(home)
    expected = marked()
    for key in ("plain", "counted", "pair") if earlier else ():
        expected[key]["export_count"] += 1
    assert held(home) == expected
    run(home, "--full")
    assert difference(before, derived(home)) == ([], [], [])


# --- a live source -----------------------------------------------------------------------------------------------


def test_a_reader_beside_it_sees_all_or_nothing(home: Path) -> None:
    """One transaction per file. The command is a process of its own: locks of one process do not keep each other out."""
    with closing(sqlite3.connect(source_of(home), isolation_level=None)) as reader:
        assert reader.execute("pragma journal_mode = wal").fetchone() == ("wal",)
        count = f"select count(*) from {TABLE} where last_exported_at = {EXPORTED_AT}"
        reader.execute("begin")
        assert reader.execute(count).fetchone() == (0,)
        done = finish(start(home, "writeback"))
        assert done.returncode == 0, done.stderr
        assert reader.execute(count).fetchone() == (0,)
        reader.execute("commit")
        assert reader.execute(count).fetchone() == (len(LEFT),)
    assert held(home) == marked()


def test_a_writer_beside_it_is_waited_for(home: Path) -> None:
    """Not for ever; what it then wrote counts as changed since. Without the lock nothing is written, the ledger included."""
    with closing(sqlite3.connect(source_of(home), isolation_level=None)) as writer:
        writer.execute("begin immediate")
        writer.execute(f"update {TABLE} set reviewer_notes = 'mine' where id = 'plain'")
        done = finish(start(home, "writeback", env={"GRISTMILL_BUSY_TIMEOUT_SECONDS": "0.2"}))
        assert "lock" in complaint(done)
        assert not (home / "state" / "writeback_distillation.parquet").exists()
        waiting = start(home, "writeback")
        writer.execute("commit")
        done = finish(waiting)
    assert done.returncode == 0, done.stderr
    assert "left alone, changed since it was read: plain" in done.stdout
    expected = marked()
    expected["plain"] = untouched()["plain"] | {"reviewer_notes": "mine"}
    assert held(home) == expected
