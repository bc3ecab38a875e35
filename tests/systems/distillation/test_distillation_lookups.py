"""`gristmill why` and `gristmill stats --system distillation` on a demo home: what they say is what the tables hold."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.config import Config, load
from dagster_project.demo.distillation.sources import write_distillation
from dagster_project.lake.lake import published
from dagster_project.lookups.questions import stats, why
from dagster_project.lookups.why_text import tell
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.systems.distillation.lookups import factors, feedback_about
from tests.conftest import change, complaint, content, copy_home, gristmill, made_once, main_source, run
from tests.tables import table
from tests.training.test_releases import small_home

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dozen days of feedback and 300 distilled interactions, one of them judged by us. Not to be changed."""
    with made_once(tmp_path_factory, "home_to_look_at") as (home, is_new):
        if is_new:
            copy_home(demo_home, home)
            feedback = main_source(home)
            feedback.with_name("distillation.db").unlink()
            write_distillation(feedback.with_name("distillation.db"), rows=300, seed=1, days=12, feedback=feedback)
            run(home)
            Decisions(home).append(
                Decision(judged_by_us(home), "approved", "ana", "Short and right.", None, True),
            )
            run(home)
        return home


@pytest.fixture(scope="module")
def config(made: Path) -> Config:
    return load(None, made, {})


def judged_by_us(home: Path) -> str:
    """A pending example that users contradict."""
    is_meant = (pl.col("feedback_verdict") == "contradicted") & (pl.col("origin") == "distillation_examples")
    return table(home, "core__distillation").filter(is_meant)["example_id"].min()  # pyright: ignore[reportReturnType]


def strict(output: str) -> Any:
    def refuse(constant: str) -> float:
        raise ValueError(constant)

    return json.loads(output, parse_constant=refuse)


# --- why ---------------------------------------------------------------------------------------------------------


def test_every_example_can_say_why(config: Config) -> None:
    """D2, D5, M1: its rows in order, factors that make its score, the feedback its verdict rests on, all its candidates."""
    home = config.home
    candidates = table(home, "core__distillation_candidates").group_by("origin_id").agg(pl.col("id").sort())
    ids = dict(candidates.iter_rows())
    for example in table(home, "core__distillation").iter_rows(named=True):
        found = why(config, example["example_id"])
        (story,) = (told for told in found["distilled"] if told["example_id"] == example["example_id"])
        assert [f"{row['table']}:{row['source_id']}" for row in story["source_rows"]] == example["source_rows"]
        assert set(story["extracted"]) == set(example["extracted"]) - {"reconstructed_response"}
        score = story["score"]
        worth = score["base"] + sum(part["worth"] for part in score["factors"] if part["applies"])
        assert round(min(max(worth, 0), 1), 6) == example["quality_score"] == score["quality_score"]
        assert len(story["feedback"]["rows"]) == example["feedback_count"]
        assert story["feedback"]["verdict"] == example["feedback_verdict"]
        assert story["review"]["status"] == example["review_status"]
        assert {told["id"] for told in found["examples"]} >= set(ids[example["example_id"]])
        strict(json.dumps(found, default=str))
        assert tell(found).startswith(example["example_id"])


def test_by_any_of_its_names(config: Config) -> None:
    """Its id, with or without the table; the id of any source row behind it; the id of a training example of it."""
    examples = table(config.home, "core__distillation")
    merged = examples.filter((pl.col("source_rows").list.len() >= 4) & (pl.col("origin") == "distillation_examples"))
    example_id, rows = merged.select("example_id", "source_rows").row(0)
    for name in (example_id, f"distillation_examples:{example_id}", *rows, *(row.split(":")[1] for row in rows)):
        assert [story["example_id"] for story in why(config, name)["distilled"]] == [example_id]
    older = examples.filter(pl.col("origin") == "raw_interactions")["example_id"][0]
    for name in (older, older.split(":")[1]):
        assert older in [story["example_id"] for story in why(config, name)["distilled"]]
    pair = examples.filter((pl.col("origin") == "synthetic_pair") & pl.col("is_ready"))["example_id"][0]
    (told,) = why(config, pair)["examples"]
    assert (told["source"], told["reason"]) == ("synthetic_pair", "recipe")
    is_of_it = pl.col("origin_id") == example_id
    candidate = table(config.home, "core__distillation_candidates").filter(is_of_it)["id"][0]
    found = why(config, candidate)
    assert ([story["example_id"] for story in found["distilled"]], found["feedback"]) == ([example_id], [])
    assert [told["id"] for told in found["examples"]] == [candidate]


def test_what_left_names_its_file(config: Config) -> None:
    """A candidate without a reason is in the file named, and only such."""
    for row in table(config.home, "core__distillation_candidates").sample(25, seed=1).iter_rows(named=True):
        (told,) = why(config, row["id"])["examples"]
        assert told["origin_id"] == row["origin_id"]
        if told["reason"] is None:
            assert f'"id":"{row["id"]}"' in Path(told["file"]).read_text(encoding="utf-8")
        else:
            excluded = table(config.home, "train__excluded").filter(pl.col("id") == row["id"])
            assert excluded["reason"].to_list() == [told["reason"]]


def test_who_decided(config: Config) -> None:
    """Our reviewers before the source; a machine's verdict is named, and counts for nothing."""
    ours = judged_by_us(config.home)
    review = why(config, ours)["distilled"][0]["review"]
    assert {name: review[name] for name in ("status", "decided_by", "reviewer", "note")} == {
        "status": "approved",
        "decided_by": "our reviewers",
        "reviewer": "ana",
        "note": "Short and right.",
    }
    raw = table(config.home, "raw_distillation__distillation_examples")
    examples = table(config.home, "core__distillation").filter(pl.col("source_rows").list.len() == 1)
    one = raw.join(examples.select(id="example_id"), on="id", how="semi").filter(pl.col("id") != ours)
    is_machine = pl.col("reviewer_notes").str.starts_with("AUTO-").fill_null(False)
    for condition, status, decided_by in (
        (is_machine, "pending", "a machine"),
        (~is_machine & (pl.col("human_reviewed") == 1), "approved", "the source"),
        (~is_machine & (pl.col("human_reviewed") == -1), "rejected", "the source"),
        (~is_machine & (pl.col("human_reviewed") == 0), "pending", None),
    ):
        found = why(config, one.filter(condition)["id"][0])["distilled"][0]["review"]
        assert (found["status"], found["decided_by"]) == (status, decided_by)


def test_refused_waiting_and_unknown(config: Config) -> None:
    """A refused row says why; one dated after as_of that it waits; anything else is one line."""
    refused = table(config.home, "quarantine__rows").filter(
        (pl.col("table") == "distillation_examples") & pl.col("key").is_not_null()
    )
    key = refused["key"][0]
    for name in (key, f"distillation_examples:{key}"):
        assert key in [row["key"] for row in why(config, name)["quarantined"]]
    raw = table(config.home, "raw_distillation__distillation_examples")
    as_of = pl.lit("2026-02-01T00:00:00Z").str.to_datetime("%+", time_zone="UTC")
    late = raw.filter(pl.col("occurred_at") >= as_of)["id"][0]
    assert "not before as_of" in why(config, late)["waiting"]
    assert "waits: dated" in tell(why(config, late))
    assert "'nobody'" in complaint(gristmill(config.home, "why", "nobody"))


def test_in_words_and_as_json(config: Config) -> None:
    """The command prints both; the words hold what a person asks first."""
    name = judged_by_us(config.home)
    told = gristmill(config.home, "why", name).stdout
    feedback = feedback_about(published(config.home), [name])["feedback_id"]
    for words in (
        f"{name}: distilled example in ",
        f"from      distillation_examples {name} (distillation.db row ",
        "approved, by our reviewers, last ana at ",
        "Short and right.",
        "users     contradicted, found by ",
        *feedback,
        "leaves in ",
    ):
        assert words in told
    found = strict(gristmill(config.home, "why", name, "--json").stdout)
    assert list(found) == ["id", "feedback", "distilled", "turns", "reactions", "quarantined", "examples"]


def test_feedback_is_told_as_before(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A feedback id, and the id of a training example made of two feedback rows."""
    config = load(None, small_home(tmp_path_factory), {})
    is_pair = pl.col("source") == "feedback_rating_pair"
    (pair,) = table(config.home, "core__feedback_candidates").filter(is_pair).rows(named=True)
    found = why(config, pair["id"])
    told = {story["derived"]["feedback_id"] for story in found["feedback"]}
    assert (told, found["distilled"]) == ({"down", "copy"}, [])
    for name in ("down", "copy"):
        assert pair["id"] in [one["id"] for one in why(config, name)["examples"]]
    assert "weight " in tell(found) and "leaves in " in tell(found)


def test_factors() -> None:
    """D5: seed 2's eight factors; of complexity only a stored value counts."""
    answer = {
        "step_count": 1,
        "error_count": 1,
        "principle_count": 0,
        "stored_complexity": None,
        "reasoning_type": "direct",
        "quality_flags": ["incomplete", "refusal"],
    }
    applied = {part["factor"]: part["worth"] for part in factors(answer, "x" * 99) if part["applies"]}
    assert applied == {
        "names SAM's errors": 0.15,
        "answer under 100 characters": -0.2,
        "direct answer": -0.1,
        "incomplete": -0.2,
    }


# --- stats -------------------------------------------------------------------------------------------------------


def test_distillation_stats(config: Config) -> None:
    """Every figure adds up to what the tables and the release hold."""
    found = strict(gristmill(config.home, "stats", "--system", "distillation", "--json").stdout)
    everything = table(config.home, "core__distillation")
    examples = everything.filter(pl.col("origin") != "synthetic_pair")
    total = examples.height
    daily = table(config.home, "metric__distillation_daily")
    assert found["total_examples"] == total == daily["example_count"].sum()
    assert found["synthetic_pairs"] == everything.height - total > 0
    for name in ("by_domain", "by_reasoning_type", "by_format", "review"):
        assert sum(found[name].values()) == total
    for name in ("pending", "approved", "rejected"):
        assert found["review"][name] == daily[f"{name}_count"].sum()
    for name in ("chain_of_thought", "tool_use", "correction", "direct", "multi_step", "meta_cognitive"):
        assert found["by_reasoning_type"][name] == daily[f"{name}_count"].sum()
    for name in ("instruction", "cot", "correction", "preference"):
        assert found["by_format"][name] == daily[f"{name}_format_count"].sum()
    assert found["training_ready"] == examples["is_ready"].sum() > 0
    assert found["quality"]["avg_score"] == pytest.approx(examples["quality_score"].mean(), abs=1e-6)
    flags = examples.explode("quality_flags")["quality_flags"].drop_nulls()
    assert found["flags"].items() >= dict(flags.value_counts().iter_rows()).items()
    verdicts = examples["feedback_verdict"].drop_nulls()
    assert found["feedback"] == dict(verdicts.value_counts().iter_rows())
    release = config.home / "exports" / found["exported"].pop("release")
    lines = b"".join(content(release).values()).splitlines()
    sources = [json.loads(line)["source"] for line in lines if line.startswith(b'{"') and b'"origin_ids"' in line]
    assert found["exported"].pop("synthetic_pair") == sources.count("synthetic_pair") == 0
    assert found["exported"] == {name: sources.count(f"distillation_{name}") for name in found["exported"]}
    assert sum(found["exported"].values()) > 0


def test_stats_of_feedback_stay_the_default(config: Config) -> None:
    """Seed 0's object; another system is one line."""
    plain = gristmill(config.home, "stats", "--json").stdout
    assert plain == gristmill(config.home, "stats", "--system", "feedback", "--json").stdout
    assert list(json.loads(plain)) == ["total_feedback", "by_type", "sentiment", "processed", "quality", "recent_24h"]
    assert "by_reasoning_type chain_of_thought" in gristmill(config.home, "stats", "--system", "distillation").stdout
    assert "'turns'" in complaint(gristmill(config.home, "stats", "--system", "turns"))


def test_without_a_distillation_source(made: Path, tmp_path: Path) -> None:
    """Nothing is counted, and nothing breaks."""
    home = tmp_path / "home"
    (home / "sources").mkdir(parents=True)
    main_source(home).write_bytes(main_source(made).read_bytes())
    change(main_source(home), "delete from feedback where rowid > 20")
    run(home)
    found = stats(load(None, home, {}), "distillation")
    assert (found["total_examples"], found["quality"]["avg_score"], found["synthetic_pairs"]) == (0, None, 0)
    assert set(found["by_domain"].values()) == set(found["flags"].values()) == {0}
