"""From the queue to a person and back into the release: the whole pipeline on a small home (D8, D6, D7, M1)."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from dagster_project import config as configuration
from dagster_project.demo.distillation.sources import write_distillation
from dagster_project.orchestration.parts_of_runs import run_whole
from dagster_project.registry import open_run
from dagster_project.review.decisions import Decisions
from dagster_project.review.items import ReviewItem
from dagster_project.review.queue import load_queue
from tests.conftest import (
    GRISTMILL,
    catalog,
    change,
    complaint,
    copy_home,
    gristmill,
    made_once,
    main_source,
    published_content,
    run,
)
from tests.review.pseudo_terminal import Person
from tests.tables import table

pytestmark = pytest.mark.slow
DAYS = 12
BATCH, REVIEWED = "pending_review/batch_20260131.json", "approved/reviewed_20260131.jsonl"
EVERYTHING_TWICE = {"GRISTMILL_SECOND_REVIEW_SHARE": "1"}
HOLD_CORRECTIONS = {"GRISTMILL_REVIEW_CORRECTIONS": "true"}


@pytest.fixture(scope="session")
def home_to_review(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dozen days of feedback and 300 distilled interactions, published once. Not to be changed."""
    with made_once(tmp_path_factory, "home_to_review") as (home, is_new):
        if is_new:
            copy_home(demo_home, home)
            feedback = main_source(home)
            feedback.with_name("distillation.db").unlink()
            write_distillation(feedback.with_name("distillation.db"), rows=300, seed=1, days=DAYS, feedback=feedback)
            run(home)
        return home


@pytest.fixture
def home(home_to_review: Path, tmp_path: Path) -> Path:
    return copy_home(home_to_review, tmp_path / "home")


# --- asking the home ---------------------------------------------------------------------------------------------


def queue(home: Path) -> list[ReviewItem]:
    return load_queue(configuration.load(None, home, {}))


def left(home: Path, *ids: str) -> list[dict[str, Any]]:
    """The records of the newest release that came from these."""
    release = home / "exports" / catalog(home)["release"]["name"]
    lines = [
        line
        for file in sorted(release.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").split("\n")
        if line
    ]
    return [record for record in map(json.loads, lines) if set(record["origin_ids"]) & set(ids)]


def reasons(home: Path, *ids: str) -> set[str]:
    """Why candidates made from these did not leave."""
    excluded = table(home, "train__excluded")
    return set(excluded.filter(pl.col("origin_ids").list.first().is_in(ids))["reason"])


def waiting(home: Path, *reasons: str, kind: str = "example") -> list[str]:
    """Ids of the queue that are there for exactly these reasons and have all they need to leave."""
    complete = (item for item in queue(home) if item.kind == kind and item.query.strip() and item.answer.strip())
    return [item.id for item in complete if item.reasons == list(reasons) and "refusal" not in item.flags]


def review(home: Path, *arguments: str, who: str = "ana") -> list[str]:
    done = gristmill(home, "review", *arguments, env={"GRISTMILL_REVIEWER": who, **EVERYTHING_TWICE})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def approved(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / REVIEWED).read_text(encoding="utf-8").split("\n") if line]


def batch(home: Path) -> list[dict[str, Any]]:
    return json.loads((home / BATCH).read_text(encoding="utf-8"))


def fill_in(home: Path, verdicts: dict[str, tuple[str, str]]) -> None:
    """What a person does in an editor: verdict and note of some items, nothing else."""
    text = (home / BATCH).read_text(encoding="utf-8")
    for example_id, (verdict, note) in verdicts.items():
        before, after = text.split(f'"id": "{example_id}"')
        filled = after.replace('"verdict": null', f'"verdict": "{verdict}"', 1).replace(
            '"note": ""', f'"note": "{note}"', 1
        )
        text = f'{before}"id": "{example_id}"{filled}'
    (home / BATCH).write_text(text, encoding="utf-8")


# --- the queue ---------------------------------------------------------------------------------------------------


def worth(home: Path, ids: Iterable[str]) -> list[tuple[Any, ...]]:
    """What D8 orders by, looked up where it comes from."""
    examples = {row["example_id"]: row for row in table(home, "core__distillation").iter_rows(named=True)}
    corrections = {row["feedback_id"]: row for row in table(home, "core__feedback").iter_rows(named=True)}
    found: list[tuple[Any, ...]] = []
    for one in ids:
        if one in examples:
            row = examples[one]
            is_contradicted = row["feedback_verdict"] == "contradicted"
            found.append(
                (not is_contradicted, not row["has_attempt"], not row["feedback_count"], -row["quality_score"], one)
            )
        else:
            row = corrections[one]
            found.append((True, not row["has_answer"], False, -row["quality_weight"], one))
    return found


def test_the_queue_is_the_batch_and_in_order(home: Path) -> None:
    items = queue(home)
    assert {item.kind for item in items} == {"example", "correction"}
    order = worth(home, [item.id for item in items])
    assert order == sorted(order)
    assert [item.rank for item in items] == list(range(1, len(items) + 1))
    assert [(entry["id"], entry["rank"], entry["verdict"]) for entry in batch(home)] == [
        (item.id, item.rank, None) for item in items
    ]
    lake = table(home, "core__review_queue").sort("rank")
    assert lake["item_id"].to_list() == [item.id for item in items]


def test_the_texts_are_those_a_run_compares_verdicts_with(home: Path) -> None:
    hashes = dict(table(home, "core__distilled_answers").select("example_id", "content_hash").iter_rows())
    examples = [item for item in queue(home) if item.kind == "example"]
    assert [item.content_hash for item in examples] == [hashes[item.id] for item in examples]
    rows = {row["feedback_id"]: row for row in table(home, "raw_feedback__entries").iter_rows(named=True)}
    for item in queue(home):
        if item.kind == "correction":
            row = rows[item.id]
            assert (item.query, item.answer) == (row["original_query"], row["correction"])
            assert (item.attempt or "", item.context or "") == (
                row["original_response"].strip() and row["original_response"],
                row["conversation_context"] or "",
            )


def test_what_users_said_stands_beside_it(home: Path) -> None:
    """M1: exactly the examples with feedback have remarks, as many as there are rows."""
    counts = dict(table(home, "core__distillation").select("example_id", "feedback_count").iter_rows())
    examples = [item for item in queue(home) if item.kind == "example"]
    assert [len(item.feedback) for item in examples] == [counts[item.id] for item in examples]
    said = [line for item in examples for line in item.feedback]
    assert any(line.startswith("thumbs down 2026-01-") for line in said)
    assert any(line.startswith("correction 2026-01-") and ', what was wrong: "' in line for line in said)
    wrong = dict(table(home, "raw_feedback__entries").select("feedback_id", "what_was_wrong").iter_rows())
    for item in queue(home):
        if item.kind == "correction" and (wrong[item.id] or "").isprintable():
            assert item.feedback == (
                [f'what was wrong: "{wrong[item.id].strip()}"'] if (wrong[item.id] or "").strip() else []
            )


def test_a_long_queue_is_cut(home: Path) -> None:
    run(home, env={"GRISTMILL_REVIEW_BATCH": "3"})
    assert [entry["rank"] for entry in batch(home)] == [1, 2, 3]
    short = configuration.load(None, home, {"GRISTMILL_REVIEW_BATCH": "3"})
    assert [item.rank for item in load_queue(short)] == list(range(1, 61))
    last = queue(home)[-1]
    assert load_queue(short, [last.id])[60:] == [last]  # whoever names an item gets it


# --- decisions ---------------------------------------------------------------------------------------------------


def test_verdicts_decide_what_leaves(home: Path) -> None:
    """Approved ones leave with at least 0.7, rejected ones do not; users contradict until our own reviewers approve."""
    yes, no, undecided = waiting(home, "not_ready")[:3]
    trusted, *_ = waiting(home, "contradicted")  # the source approved it, which does not count
    doubted, *_ = waiting(home, "contradicted", "not_ready")
    wrong = waiting(home, "user_correction", kind="correction")[0]
    assert left(home, yes, no, undecided, trusted, doubted) == []
    assert reasons(home, trusted) == {"contradicted"}
    assert left(home, wrong)
    assert not (home / REVIEWED).exists()

    assert review(home, "approve", yes, trusted, "--note", "checked") == [
        f"approved {yes} as ana",
        f"approved {trusted} as ana",
    ]
    review(home, "reject", no, wrong)
    run(home)
    for example_id in (yes, trusted):
        records = left(home, example_id)
        assert records
        assert all(record["quality_weight"] >= 0.7 for record in records)
    assert left(home, no, undecided, doubted, wrong) == []
    assert [reasons(home, one) for one in (no, wrong, undecided, doubted)] == [
        {"rejected"},
        {"rejected"},
        {"not_ready"},
        {"not_ready"},
    ]

    rows = {row["example_id"]: row for row in table(home, "core__distillation").iter_rows(named=True)}
    assert [line["id"] for line in approved(home)] == sorted([yes, trusted])
    for line in approved(home):
        assert list(line) == [
            "id",
            "query",
            "sam_attempt",
            "claude_response",
            "domain",
            "reviewer",
            "note",
            "decided_at",
            "quality_score",
            "quality_flags",
        ]
        row = rows[line["id"]]
        assert (line["reviewer"], line["note"], line["domain"]) == ("ana", "checked", row["domain"])
        assert (line["quality_score"], line["quality_flags"]) == (row["quality_score"], row["quality_flags"])
    decided = {yes, trusted, no, wrong}
    assert not decided & {entry["id"] for entry in batch(home)}

    before = published_content(home)
    run(home)
    assert published_content(home) == before


def test_a_verdict_taken_back_is_gone_with_the_next_run(home: Path) -> None:
    first = waiting(home, "not_ready")[0]
    before = published_content(home)
    review(home, "approve", first)
    run(home)
    assert left(home, first)
    review(home, "undo", first)
    assert first in [item.id for item in queue(home)]  # at once, as nobody has judged it
    run(home)
    assert reasons(home, first) == {"not_ready"}
    assert not (home / REVIEWED).exists()
    assert (home / BATCH).read_bytes() == before[BATCH]


def test_what_was_judged_is_offered_to_a_second_person_who_is_not_told(home: Path) -> None:
    first, second = (item.id for item in queue(home)[:2])
    review(home, "reject", first)
    run(home)
    assert review(home, "list", "--limit", "1")[0].split()[:3] == ["1", second, "pending"]
    assert review(home, "list", "--limit", "1", who="bob")[0].split()[:3] == ["1", first, "pending"]
    assert first not in {entry["id"] for entry in batch(home)}
    review(home, "approve", first, who="bob")
    run(home)
    assert dict(table(home, "core__reviews").select("example_id", "review_verdict").iter_rows()) == {first: "disputed"}
    assert batch(home)[0]["id"] == first  # waits until they agree


def test_corrections_leave_unreviewed_unless_that_is_asked_for(home: Path) -> None:
    good, bad, *others = waiting(home, "user_correction", kind="correction")
    assert left(home, good, bad)
    review(home, "approve", good)
    review(home, "reject", bad)
    run(home, env=HOLD_CORRECTIONS)
    assert left(home, good)
    assert left(home, bad, *others) == []
    assert (reasons(home, bad), reasons(home, *others)) == ({"rejected"}, {"not_ready"})
    assert not (home / REVIEWED).exists()  # that file is for distilled examples

    # an approval is of the text that was seen
    change(
        main_source(home), f"update feedback set correction = correction || ' And more.' where feedback_id = '{good}'"
    )
    run(home, "--full", env=HOLD_CORRECTIONS)
    assert left(home, good, bad) == []
    assert reasons(home, good) == {"not_ready"}
    assert good in [entry["id"] for entry in batch(home)]


# --- the file ----------------------------------------------------------------------------------------------------


def test_reviewing_by_editing_the_file(home: Path) -> None:
    yes, no, *_ = waiting(home, "not_ready")
    fill_in(home, {yes: ("approved", "good"), no: ("reject", "")})
    edited = published_content(home)
    run(home)
    assert published_content(home) == edited  # a run leaves alone what nobody has imported
    assert review(home, "import", str(home / BATCH)) == ["recorded 2 as ana, 0 were recorded before"]
    log = Decisions(home).path.read_bytes()
    assert review(home, "import", str(home / BATCH)) == ["recorded 0 as ana, 2 were recorded before"]
    assert Decisions(home).path.read_bytes() == log
    run(home)
    assert left(home, yes)
    assert reasons(home, no) == {"rejected"}
    assert all(entry["verdict"] is None and entry["id"] not in (yes, no) for entry in batch(home))
    assert [(line["id"], line["note"]) for line in approved(home)] == [(yes, "good")]


def test_edits_outlive_a_run_that_changes_the_queue(home: Path) -> None:
    kept, decided, *_ = waiting(home, "not_ready")
    fill_in(home, {kept: ("approved", "not imported yet")})
    review(home, "reject", decided)
    run(home)
    filled = [entry for entry in batch(home) if entry["verdict"]]
    assert [(entry["id"], entry["note"]) for entry in filled] == [(kept, "not imported yet")]
    assert decided not in {entry["id"] for entry in batch(home)}


def test_a_file_somebody_removed_comes_back(home: Path) -> None:
    before = published_content(home)
    (home / BATCH).unlink()
    run(home)
    assert published_content(home) == before


def test_a_file_somebody_broke_is_put_aside_when_there_is_something_new(home: Path) -> None:
    (home / BATCH).write_text("[{ half", encoding="utf-8")
    assert "is not JSON" in complaint(gristmill(home, "review", "import", str(home / BATCH)))
    before = published_content(home)
    run(home)
    assert published_content(home) == before  # they may not be done yet
    review(home, "reject", waiting(home, "not_ready")[0])
    run(home)
    assert (home / "pending_review" / "batch_20260131.unreadable1.json").read_bytes() == b"[{ half"
    assert len(batch(home)) == table(home, "core__review_queue").height


def test_a_run_in_the_past_hands_out_nothing(home: Path) -> None:
    before = {name: data for name, data in published_content(home).items() if name.startswith(("pending_", "approved"))}
    review(home, "approve", waiting(home, "not_ready")[0])
    run(home, "--as-of", "2026-01-28")
    after = {name: data for name, data in published_content(home).items() if name.startswith(("pending_", "approved"))}
    assert after == before


# --- the window, and the check -----------------------------------------------------------------------------------


def test_the_window_on_this_home(home: Path) -> None:
    first, second, third = queue(home)[:3]
    with Person(home, columns=100, command=[str(GRISTMILL)]) as person:
        person.sees(f" {first.id}  example  {len(queue(home))} left  ana")
        person.sees("users: ")
        person.press("a")
        person.sees(f" {second.id} ")
        person.press("r")
        person.sees(f" {third.id} ")
        person.press("q")
        assert person.leaves() == 0
    run(home)
    log = Decisions(home).log().select("example_id", "verdict", "content_hash").rows()
    assert log == [(first.id, "approved", first.content_hash), (second.id, "rejected", second.content_hash)]
    assert left(home, first.id)
    assert reasons(home, second.id) == {"rejected"}


def test_a_broken_line_of_the_log_is_a_warning(home: Path) -> None:
    first = queue(home)[0].id
    review(home, "reject", first)
    with Decisions(home).path.open("ab") as log:
        log.write(b"{broken}\n")
    with open_run(configuration.load(None, home, {})) as mill, dg.DagsterInstance.ephemeral() as instance:
        result = run_whole(mill, instance)
    (found,) = [one for one in result.get_asset_check_evaluations() if one.check_name == "log_is_readable"]
    assert (found.passed, found.severity, found.blocking) == (False, dg.AssetCheckSeverity.WARN, False)
    assert str(found.metadata["lines"].value).endswith("reviews.jsonl line 2 is left out: it is not JSON")
    assert result.success
    assert table(home, "core__reviews")["example_id"].to_list() == [first]
