"""What every target gets of one record, line for line; and that all of it is what the trainer documents (T7, T9)."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from dagster_project.contracts.formats import FORMATS
from dagster_project.errors import Misused
from dagster_project.training.dataset_info import dataset_info
from dagster_project.training.export.asked import Asked
from dagster_project.training.export.exporting import export_release
from dagster_project.training.export.targets import TARGETS, target_for
from tests.training.export.release_of_tests import UNRULY, Turn, home_with, messages, record
from tests.training.validators import axolotl, fireworks, llamafactory, openai, together, trl
from tests.training.validators.records import Faults

BEFORE = [("user", "Tell me of Rome."), ("assistant", "It is old.")]
ASKED, ANSWERED = ("user", "Question 1?"), ("assistant", "Answer 1.")
CORRECTED = [("assistant", "Wrong 1."), ("user", "Not so."), ("assistant", "Right 1.")]


def line(tmp_path: Path, format: str, target: str, name: str = "train.jsonl") -> dict[str, Any]:
    """The one record of an export, which is about a conversation."""
    home_lake = home_with(tmp_path, format, [record(format, 1, BEFORE)])
    export_release(home_lake, Asked(format, target), tmp_path / "out")
    found = json.loads((tmp_path / "out" / name).read_text(encoding="utf-8"))
    found.pop("id", None)
    return found


def marked(key: str, *turns: tuple[str, str, Any]) -> list[dict[str, Any]]:
    """Messages, some with one more key."""
    return [{"role": role, "content": text, **({} if mark is None else {key: mark})} for role, text, mark in turns]


SAID = messages(*BEFORE, ASKED)
READ_THEN_LEARNED = marked("weight", (*BEFORE[0], None), (*BEFORE[1], 0), (*ASKED, None), (*ANSWERED, 1))
CORRECTED_CHAT = marked(
    "weight",
    *[(*BEFORE[0], None), (*BEFORE[1], 0), (*ASKED, None)],
    *[(*CORRECTED[0], 0), (*CORRECTED[1], None), (*CORRECTED[2], 1)],
)
BETTER, WORSE = messages(("assistant", "Better 1.")), messages(("assistant", "Worse 1."))
PAIR = {"input": {"messages": SAID}, "preferred_output": BETTER, "non_preferred_output": WORSE}
RANKED = {"messages": SAID, "chosen": BETTER[0], "rejected": WORSE[0]}
PAIRED = {"prompt": SAID, "chosen": BETTER, "rejected": WORSE, "weight": 1.0}
RATED = {"prompt": SAID, "completion": messages(ANSWERED), "label": True, "weight": 1.0}
CHAT = {"messages": messages(*BEFORE, ASKED, ANSWERED)}


def trained(*turns: Turn) -> dict[str, Any]:
    return {"messages": marked("train", *[(*turn, turn == turns[-1]) for turn in turns])}


@pytest.mark.parametrize(
    ("target", "format", "expected"),
    [
        ("trl", "instruction", {"prompt": SAID, "completion": messages(ANSWERED), "weight": 1.0}),
        (
            "trl",
            "correction",
            {
                "prompt": messages(*BEFORE, ASKED, *CORRECTED[:2]),
                "completion": messages(CORRECTED[2]),
                "weight": 1.0,
            },
        ),
        ("trl", "preference", PAIRED),
        ("trl", "unpaired", RATED),
        ("openai", "cot", {"messages": READ_THEN_LEARNED}),
        ("openai", "correction", {"messages": CORRECTED_CHAT}),
        ("openai", "preference", PAIR),
        ("together", "instruction", {"messages": READ_THEN_LEARNED}),
        ("together", "preference", PAIR),
        ("fireworks", "instruction", {"messages": READ_THEN_LEARNED, "weight": 1.0}),
        ("fireworks", "correction", {"messages": CORRECTED_CHAT, "weight": 1.0}),
        ("fireworks", "preference", {**PAIR, "weight": 1.0}),
        ("llamafactory", "instruction", CHAT),
        ("llamafactory", "correction", {"messages": messages(*BEFORE, ASKED, *CORRECTED)}),
        ("llamafactory", "preference", RANKED),
        ("llamafactory", "unpaired", {**CHAT, "label": True}),
        ("axolotl", "instruction", trained(*BEFORE, ASKED, ANSWERED)),
        ("axolotl", "correction", trained(*BEFORE, ASKED, *CORRECTED)),
        ("axolotl", "preference", RANKED),
        ("axolotl", "unpaired", {"completion": CHAT["messages"], "label": True}),
    ],
)
def test_a_record_in_its_shape(tmp_path: Path, target: str, format: str, expected: dict[str, Any]) -> None:
    """In the order a person would read: what came before, the question, the answer given, what was wrong, the right answer."""
    assert line(tmp_path, format, target) == expected


def test_trl_takes_whole_conversations_too(tmp_path: Path) -> None:
    assert line(tmp_path, "instruction", "trl", "train.messages.jsonl") == {**CHAT, "weight": 1.0}


def test_of_corrections_trl_gets_no_whole_conversations(tmp_path: Path) -> None:
    """SFT learns all of one: the answer that was wrong as well."""
    line(tmp_path, "correction", "trl")
    assert not (tmp_path / "out" / "train.messages.jsonl").exists()
    assert "There is no config `messages`" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_one_answer_needs_no_weight(tmp_path: Path) -> None:
    lake = home_with(tmp_path, "instruction", [record("instruction", 1)])
    export_release(lake, Asked("instruction", "openai"), tmp_path / "out")
    assert json.loads((tmp_path / "out/train.jsonl").read_text()) == {"messages": messages(ASKED, ANSWERED)}


def test_a_text_that_looks_like_a_key_stays(tmp_path: Path) -> None:
    """Null keys of turns are taken out of the encoded lines."""
    text = ',"weight":null} said "weight":null,'
    lake = home_with(tmp_path, "instruction", [record("instruction", 1, [("user", text), ("assistant", text)])])
    export_release(lake, Asked("instruction", "openai"), tmp_path / "out")
    (found,) = [json.loads(one) for one in (tmp_path / "out/train.jsonl").read_text().splitlines()]
    assert found["messages"][0] == {"role": "user", "content": text}
    assert found["messages"][1] == {"role": "assistant", "content": text, "weight": 0}


def test_parquet_holds_every_column_as_it_is(tmp_path: Path) -> None:
    told = record("unpaired", 1, [("assistant", "Hello."), ("tool", "3")])
    lake = home_with(tmp_path, "unpaired", [told])
    export_release(lake, Asked("unpaired", "parquet"), tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out/train.parquet").to_dicts() == [{**told, "weight": 1.0}]


def test_llamafactory_finds_its_files(tmp_path: Path) -> None:
    lake = home_with(
        tmp_path, "preference", [record("preference", n, split=s) for n, s in enumerate(("train", "test"))]
    )
    export_release(lake, Asked("preference", "llamafactory"), tmp_path / "out")
    found = json.loads((tmp_path / "out/dataset_info.json").read_text(encoding="utf-8"))
    assert {name: entry["file_name"] for name, entry in found.items()} == {
        "gristmill_preference": "train.jsonl",
        "gristmill_preference_test": "test.jsonl",
    }
    assert all(entry["ranking"] and entry["formatting"] == "sharegpt" for entry in found.values())


def test_axolotl_evaluates_on_the_validation_file(tmp_path: Path) -> None:
    splits = ("train", "validation", "test")
    lake = home_with(tmp_path, "instruction", [record("instruction", n, split=s) for n, s in enumerate(splits)])
    export_release(lake, Asked("instruction", "axolotl"), tmp_path / "out")
    config = yaml.safe_load((tmp_path / "out/axolotl.yaml").read_text(encoding="utf-8"))
    assert [entry["path"] for entry in config["datasets"]] == ["train.jsonl"]
    assert [entry["path"] for entry in config["test_datasets"]] == ["validation.jsonl"]
    assert config["datasets"][0]["message_field_training"] == "train"
    assert config["val_set_size"] == 0


@pytest.mark.parametrize("target", ["openai", "fireworks", "together"])
def test_disliked_answers_are_not_for_fine_tuning(target: str) -> None:
    with pytest.raises(Misused, match=rf"^{target} cannot take unpaired: among .* disliked, .* preference") as refused:
        target_for(target, "unpaired")
    assert "\n" not in str(refused.value)


def test_every_target_takes_a_format_or_says_why_not() -> None:
    for target in TARGETS.values():
        assert {*target.shapes} | {*target.refusals} == set(FORMATS)
        assert not {*target.shapes} & {*target.refusals}
        assert all(note and "\n" not in note for format in FORMATS for note in target.notes(format))


SPLITS = ("train", "train", "train", "validation", "test")


def all_faults(folder: Path, target: str, format: str, least: int = 3) -> Faults:
    files = sorted(folder.glob("[!l]*.jsonl"))
    assert len(files) >= least
    if target in ("axolotl", "llamafactory"):
        yield from (axolotl.faults(folder, format) if target == "axolotl" else llamafactory.faults(folder))
    for file in files:
        if target in ("openai", "fireworks"):
            yield from (openai if target == "openai" else fireworks).faults(file, format, least=1)
        if target == "together":
            yield from together.faults(file, format)
        if target == "trl":
            yield from trl.faults(file)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", [name for name in TARGETS if name != "parquet"])
def test_every_conversation_is_what_the_trainer_documents(tmp_path: Path, target: str, format: str) -> None:
    if format in TARGETS[target].refusals:
        return
    records = [
        record(format, f"{number} {split} {place}", before, split=split)
        for number, before in enumerate(UNRULY)
        for place, split in enumerate(SPLITS)
    ]
    export_release(home_with(tmp_path, format, records), Asked(format, target), tmp_path / "out")
    assert list(all_faults(tmp_path / "out", target, format)) == []


def test_the_dataset_info_inside_a_release() -> None:
    """LLaMA-Factory reads a release's own lines (T4)."""
    entry = {"split": "train", "rows": 1}
    manifest = {
        "files": {
            "cot_20260131.jsonl": {"format": "cot", **entry},
            "cot_20260131.test.jsonl": {"format": "cot", **entry, "split": "test"},
            "cot_20260131.validation.jsonl": {"format": "cot", **entry, "split": "validation", "rows": 0},
            "preference_20260131.jsonl": {"format": "preference", **entry},
            "unpaired_20260131.augmentation.jsonl": {"format": "unpaired", **entry, "split": "augmentation"},
            "anonymized_feedback.jsonl": {"format": "anonymized_feedback", **entry, "split": None},
        }
    }
    alpaca = {"prompt": "instruction", "query": "input", "response": "output"}
    assert dataset_info(manifest) == {
        "cot": {"file_name": "cot_20260131.jsonl", "columns": alpaca},
        "cot_test": {"file_name": "cot_20260131.test.jsonl", "columns": alpaca},
        "preference": {
            "file_name": "preference_20260131.jsonl",
            "ranking": True,
            "columns": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
        },
        "unpaired_augmentation": {
            "file_name": "unpaired_20260131.augmentation.jsonl",
            "columns": {"prompt": "prompt", "response": "completion", "kto_tag": "label"},
        },
    }
