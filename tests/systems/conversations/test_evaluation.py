"""`gristmill evaluate implicit`: the figures, the shape of its JSON, and what it says to files it cannot use."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from dagster_project.cli import app
from dagster_project.errors import GristmillError
from dagster_project.systems.conversations import evaluation

WRONG, THANKS, VAGUE = "That's wrong.", "Thanks a lot!", "Towers of the old town wall"


def row(message: str, label: str, **more: Any) -> dict[str, Any]:
    return {
        "prev_query": "Which tower is the tallest?",
        "prev_response": "The north one.",
        "next_message": message,
        "label": label,
        **more,
    }


def write(folder: Path, rows: list[Any]) -> Path:
    file = folder / "labelled.jsonl"
    file.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return file


def ask(file: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["evaluate", "implicit", str(file), *options])
    assert result.exit_code == 0, result.output
    return result.output


THREE_WAY = [
    row(WRONG, "rejected"),
    row("You misunderstood me", " Rejected "),
    row(THANKS, "rejected"),
    row(WRONG, "accepted"),
    row(THANKS, "accepted"),
    row("Perfect", "ACCEPTED"),
    row(VAGUE, "neutral"),
    row(VAGUE, "accepted"),
]


def test_exact_figures(tmp_path: Path) -> None:
    found = json.loads(ask(write(tmp_path, THREE_WAY), "--json"))
    assert set(found) == {"sources", "all"}
    assert list(found["sources"]) == ["all data"]
    assert found["sources"]["all data"] == found["all"]
    assert set(found["all"]) == {"n", "labels", "confusion"}
    assert found["all"]["n"] == 8
    figures = {
        label: tuple(scores[name] for name in ("precision", "recall", "f1", "support"))
        for label, scores in found["all"]["labels"].items()
    }
    assert figures == {
        "rejected": (0.6667, 0.6667, 0.6667, 3),
        "accepted": (0.6667, 0.5, 0.5714, 4),
        "neutral": (0.5, 1.0, 0.6667, 1),
    }
    assert found["all"]["confusion"] == {
        "rejected": {"rejected": 2, "accepted": 1, "neutral": 0},
        "accepted": {"rejected": 1, "accepted": 2, "neutral": 1},
        "neutral": {"rejected": 0, "accepted": 0, "neutral": 1},
    }
    for scores in found["all"]["labels"].values():
        low, high = scores["f1_interval"]
        assert 0 <= low <= scores["f1"] <= high <= 1


def test_the_same_file_gives_the_same_intervals(tmp_path: Path) -> None:
    file = write(tmp_path, THREE_WAY)
    assert ask(file, "--json") == ask(file, "--json")


def test_sources_stand_apart(tmp_path: Path) -> None:
    rows = [row(WRONG, "rejected", source="b"), row(THANKS, "accepted", source="b"), row(WRONG, "neutral", source="a")]
    found = json.loads(ask(write(tmp_path, rows), "--json"))
    assert list(found["sources"]) == ["b", "a"]
    assert [part["n"] for part in (*found["sources"].values(), found["all"])] == [2, 1, 3]
    assert found["sources"]["a"]["labels"]["rejected"] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "support": 0,
        "f1_interval": None,
    }


def test_labels_that_only_tell_rejected_from_the_rest_are_scored_so(tmp_path: Path) -> None:
    rows = [
        row(WRONG, "rejected", eval_mode="rejected_vs_rest"),
        row(THANKS, "neutral", eval_mode="rejected_vs_rest"),
        row(VAGUE, "neutral", eval_mode="rejected_vs_rest"),
        row(WRONG, "neutral", eval_mode="rejected_vs_rest"),
    ]
    shown = ask(write(tmp_path, rows))
    assert "labelled rejected or not" in shown
    assert "  rest           1.000    0.667    0.800" in shown
    assert shown.count("labelled neutral:") == 1  # an accepted one that is labelled neutral is no mistake here
    assert set(json.loads(ask(write(tmp_path, rows), "--json"))["all"]["labels"]) == set(evaluation.LABELS)


def test_the_surest_mistakes_come_first_with_their_reason(tmp_path: Path) -> None:
    shown = ask(write(tmp_path, [row(VAGUE, "accepted"), row(WRONG, "accepted\n"), row(THANKS, "accepted")]))
    told = shown[shown.index("the surest mistakes") :]
    assert told.index("explicit:wrong_answer") < told.index("neutral:no_clear_signal")
    assert "0.82 rejected, labelled accepted" in told
    assert "the surest mistakes" not in ask(write(tmp_path, [row(WRONG, "accepted")]), "--mistakes", "0")
    assert "no mistakes" in ask(write(tmp_path, [row(WRONG, "rejected")]))


def test_repetition_is_measured_with_the_model_and_intents_count(tmp_path: Path) -> None:
    again = "Which tower is the tallest, please?"
    rows = [row(again, "rejected"), row(again, "rejected", prev_intent="Ask ", next_intent="order")]
    decisions = evaluation.judged(evaluation.read_labelled(write(tmp_path, rows)), _Constant())
    assert decisions["similarity"].to_list() == [1.0, 1.0]
    assert decisions["reason"][0] == "rephrased"
    assert decisions["reason"][1] != "rephrased"


class _Constant:
    name = "constant"

    def vectors(self, texts: Any) -> Any:
        import numpy as np  # noqa: PLC0415

        return np.ones((len(texts), 2))


def test_a_response_may_be_null_and_lines_blank(tmp_path: Path) -> None:
    rows = [row(THANKS, "accepted", prev_response=None), "", row("a b\u2028c", "neutral"), row("\ud800", "neutral")]
    assert json.loads(ask(write(tmp_path, rows), "--json"))["all"]["n"] == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no rows"),
        (["", "  "], "has no rows"),
        ([row(WRONG, "rejected"), "{not json"], "line 2: is not JSON"),
        ([row(WRONG, "rejected"), "[" * 100_000], "line 2: is nested too deep"),
        (["[1]"], "line 1: is no JSON object"),
        ([row(WRONG, "bad")], "line 1: label must be rejected, accepted, neutral, not 'bad'"),
        ([{"prev_query": "a", "prev_response": "b", "label": "neutral"}], "line 1: next_message is missing"),
        ([row(WRONG, "rejected", prev_query=7)], "line 1: prev_query must be a string, not 7"),
        ([row(WRONG, "rejected") | {"label": None}], "line 1: label must be a string, not null"),
        ([row(WRONG, "rejected", source=["x"])], "line 1: source must be a string"),
    ],
)
def test_bad_files_are_told_in_one_line(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(GristmillError) as error:
        evaluation.read_labelled(write(tmp_path, rows))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(GristmillError, match="cannot be read"):
        evaluation.read_labelled(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(GristmillError, match="is not UTF-8"):
        evaluation.read_labelled(tmp_path / "latin.jsonl")


def test_the_interval_narrows_with_more_rows() -> None:
    few = pl.DataFrame(
        {"label": ["rejected", "rejected", "accepted"], "feedback_status": ["rejected", "accepted", "accepted"]}
    )
    many = pl.concat([few] * 200)
    (low, high), (lower, higher) = (
        evaluation.scored(rows).labels["rejected"].f1_interval or (0, 0) for rows in (many, few)
    )
    assert lower <= low < high <= higher
    assert high - low < 0.15
