"""Trainers take what we export: real steps of TRL, the own loaders of axolotl and LLaMA-Factory, Together's own check.

They live in `.venv-trainers`, where the make target `test-trainers` puts them, and run there in one process.
"""

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dagster_project.contracts.formats import FIELDS
from dagster_project.training.dataset_info import dataset_info
from dagster_project.training.export.asked import Asked
from dagster_project.training.export.exporting import export_release
from dagster_project.training.export.targets import TARGETS
from tests.conftest import environment
from tests.training.export.release_of_tests import UNRULY, home_with, record

pytestmark = pytest.mark.trainers
PYTHON = Path(__file__).parents[3] / ".venv-trainers/bin/python"
SCRIPT = Path(__file__).with_name("in_their_environment.py")
SPLITS = ("train", "train", "validation", "test")
ROWS = {"train": 2 * len(UNRULY), "validation": len(UNRULY), "test": len(UNRULY)}
SFT = ("instruction", "cot", "correction")
FORMATS = tuple(FIELDS)
# job -> target, format and config of the export, more
JOBS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    **{f"sft {format}": ("trl", format, "prompt_completion", {"kind": "sft"}) for format in SFT},
    "sft messages": ("trl", "instruction", "messages", {"kind": "sft", "options": {"assistant_only_loss": True}}),
    "dpo": ("trl", "preference", "preference", {"kind": "dpo"}),
    "reward": ("trl", "preference", "preference", {"kind": "reward"}),
    "kto": ("trl", "unpaired", "unpaired", {"kind": "kto"}),
    **{
        f"llamafactory {format}": ("llamafactory", format, f"gristmill_{format}", {"kind": "llamafactory"})
        for format in FORMATS
    },
    **{f"axolotl {format}": ("axolotl", format, "", {"kind": "axolotl"}) for format in FORMATS},
    **{
        f"together {format}": ("together", format, "", {"kind": "together", "file": "train.jsonl"})
        for format in (*SFT, "preference")
    },
    **{f"parquet {format}": ("parquet", format, format, {"kind": "datasets"}) for format in FORMATS},
}


def records(format: str) -> list[dict[str, Any]]:
    return [
        record(
            format,
            f"{number}.{place}",
            before,
            split=split,
            **({"label": bool(place % 2)} if format == "unpaired" else {}),
        )
        for number, before in enumerate(UNRULY)
        for place, split in enumerate(SPLITS)
    ]


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training files as a release has them, with its dataset_info.json."""
    folder = tmp_path_factory.mktemp("release")
    files = {f"{format}_20260131.jsonl": {"format": format, "split": "train", "rows": 1} for format in FORMATS}
    for name, entry in files.items():
        told = record(entry["format"], 1)
        line = {key: told[key] for key in (*FIELDS[entry["format"]], "context", "id") if key in told}
        (folder / name).write_text(json.dumps(line) + "\n", encoding="utf-8")
    (folder / "dataset_info.json").write_text(json.dumps(dataset_info({"files": files})), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, native: Path) -> dict[str, Any]:
    """What the trainers told of every export."""
    assert PYTHON.is_file(), "the trainers are not installed: make test-trainers does that"
    folder = tmp_path_factory.mktemp("exports")
    lakes = {format: home_with(folder / format, format, records(format)) for format in FORMATS}
    for target in TARGETS:
        for format in FORMATS:
            if format in TARGETS[target].shapes:
                export_release(lakes[format], Asked(format, target), folder / target / format)
    jobs = {
        name: {"folder": str(folder / target / format), "config": config, **more}
        for name, (target, format, config, more) in JOBS.items()
    }
    jobs |= {
        f"native {format}": {"kind": "llamafactory", "folder": str(native), "config": format} for format in FORMATS
    }
    (folder / "jobs.json").write_text(json.dumps(list(jobs.values())), encoding="utf-8")
    command = [str(PYTHON), str(SCRIPT), str(folder / "jobs.json")]
    done = subprocess.run(
        command, cwd=folder, env=environment(PYTHONPATH=""), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(zip(jobs, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if job[0] == "trl"])
def test_trl_trains(answers: dict[str, Any], name: str) -> None:
    told = answers[name]
    assert told["splits"] == ROWS
    assert told["steps"] == 2
    assert len(told["losses"]) == 3
    assert all(math.isfinite(loss) for loss in told["losses"])


@pytest.mark.parametrize(
    ("name", "word"), [("sft instruction", "Answer"), ("sft cot", "Answer"), ("sft correction", "Right")]
)
def test_sft_learns_the_last_answer_alone(answers: dict[str, Any], name: str, word: str) -> None:
    """Not what was said before it, and of a correction not the answer that was wrong."""
    wanted = {f"{word} {number}.{place}." for number in range(len(UNRULY)) for place in (0, 1)}
    assert {text.removesuffix("\n").removesuffix("<|im_end|>") for text in answers[name]["learned"]} == wanted


@pytest.mark.parametrize(("format", "word"), [("instruction", "Answer"), ("cot", "Answer"), ("correction", "Right")])
def test_axolotl_learns_the_last_answer_alone(answers: dict[str, Any], format: str, word: str) -> None:
    wanted = {f"{word} {number}.{place}." for number in range(len(UNRULY)) for place in (0, 1)}
    assert {text.replace("<|im_end|>", "").strip() for text in answers[f"axolotl {format}"]} == wanted


def test_axolotl_gives_dpo_and_kto_whole_conversations(answers: dict[str, Any]) -> None:
    for pair in answers["axolotl preference"]:
        assert (pair["chosen"][:6], pair["rejected"][:5]) == ("Better", "Worse")
        assert pair["prompt"].endswith("<|im_start|>assistant\n")
    assert any("It is old." in pair["prompt"] for pair in answers["axolotl preference"])
    assert {row["label"] for row in answers["axolotl unpaired"]} == {True, False}
    assert all(row["completion"].startswith("Answer") for row in answers["axolotl unpaired"])


@pytest.mark.parametrize("format", FORMATS)
def test_llamafactory_converts_every_record(answers: dict[str, Any], format: str) -> None:
    """It makes an empty conversation of one it cannot read."""
    found = answers[f"llamafactory {format}"]
    assert len(found) == ROWS["train"]
    first = {"instruction": "Answer", "cot": "Answer", "correction": "Right", "preference": "Better"}
    for row in found:
        roles = [turn["role"] for turn in row["prompt"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        said = [turn["content"] for turn in row["response"]]
        if format == "unpaired":  # the empty side says which it is
            assert sorted(said)[0] == "" and sorted(said)[1].startswith("Answer")
        else:
            assert said[0].startswith(first[format])
    assert any("Tell me of Rome." in turn["content"] for row in found for turn in row["prompt"])
    assert any("Be brief." in row["system"] for row in found)


@pytest.mark.parametrize("format", FORMATS)
def test_llamafactory_reads_a_release_as_it_is(answers: dict[str, Any], format: str) -> None:
    (row,) = answers[f"native {format}"]
    told = record(format, 1)
    asked = "\n".join(told[name] for name in ("instruction", "input") if told.get(name)) or told["prompt"]
    assert row["prompt"] == [{"role": "user", "content": asked}]
    texts = [turn["content"] for turn in row["response"]]
    given = {"preference": ["chosen", "rejected"], "unpaired": ["completion"]}.get(format, ["output"])
    assert [text for text in texts if text] == [told[name] for name in given]


@pytest.mark.parametrize("format", [*SFT, "preference"])
def test_together_accepts_the_file(answers: dict[str, Any], format: str) -> None:
    told = answers[f"together {format}"]
    assert told["is_check_passed"], told["message"]
    assert told["num_samples"] == ROWS["train"]


@pytest.mark.parametrize("format", FORMATS)
def test_parquet_loads(answers: dict[str, Any], format: str) -> None:
    told = answers[f"parquet {format}"]
    assert {split: rows for split, (rows, _) in told.items()} == ROWS
    assert {"messages", "weight", "split", "release_date", *FIELDS[format]} <= set(told["train"][1])
