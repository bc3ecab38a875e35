"""The validators reject what the trainers reject, or they would prove nothing of our files."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.validators import axolotl, fireworks, llamafactory, openai, together, trl
from tests.training.validators.records import Faults

ASKED, ANSWERED = {"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}
CHAT: dict[str, Any] = {"messages": [ASKED, ANSWERED]}
PAIR: dict[str, Any] = {
    "input": {"messages": [ASKED]},
    "preferred_output": [ANSWERED],
    "non_preferred_output": [ANSWERED],
}
Spoil = Callable[[dict[str, Any]], object]


def written(folder: Path, *records: dict[str, Any], name: str = "train.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def spoilt(record: dict[str, Any], spoil: Spoil) -> dict[str, Any]:
    broken = copy.deepcopy(record)
    spoil(broken)
    return broken


CHATS: list[Spoil] = [
    lambda r: r.pop("messages"),
    lambda r: r.update(messages=[]),
    lambda r: r.update(id="1"),
    lambda r: r["messages"].pop(),
    lambda r: r["messages"][0].update(role="human"),
    lambda r: r["messages"][0].update(role="tool"),
    lambda r: r["messages"][1].update(content=" "),
    lambda r: r["messages"][1].update(content=None),
    lambda r: r["messages"][1].pop("content"),
    lambda r: r["messages"][1].update(weight=0.5),
    lambda r: r["messages"][1].update(weight=0),
    lambda r: r["messages"][0].update(weight=1),
    lambda r: r["messages"][1].update(weight=None),
    lambda r: r["messages"].insert(1, {"role": "system", "content": "S"}),
]
PAIRS: list[Spoil] = [
    lambda r: r.pop("input"),
    lambda r: r.pop("non_preferred_output"),
    lambda r: r.update(id="1"),
    lambda r: r["input"]["messages"].append(ANSWERED),
    lambda r: r["preferred_output"].append(ANSWERED),
    lambda r: r["preferred_output"][0].update(role="user"),
    lambda r: r["non_preferred_output"][0].update(content=""),
]
BOTH = [*(("instruction", CHAT, spoil) for spoil in CHATS), *(("preference", PAIR, spoil) for spoil in PAIRS)]


@pytest.mark.parametrize(("format", "record", "spoil"), BOTH)
@pytest.mark.parametrize("faults", [openai.faults, fireworks.faults, together.faults])
def test_hosted_trainers_reject_it(
    tmp_path: Path, faults: Callable[..., Faults], format: str, record: dict[str, Any], spoil: Spoil
) -> None:
    good = [record] * 10
    assert list(faults(written(tmp_path, *good), format)) == []
    assert list(faults(written(tmp_path, *good, spoilt(record, spoil)), format)) != []


def test_too_few_records(tmp_path: Path) -> None:
    assert list(openai.faults(written(tmp_path, *[CHAT] * 9), "instruction")) == ["fewer than 10 records"]
    assert list(fireworks.faults(written(tmp_path, *[CHAT] * 2), "instruction")) == ["fewer than 3 records"]
    assert list(together.faults(written(tmp_path), "instruction")) != []


@pytest.mark.parametrize("text", ["{}\n[1]\n", '{"a": NaN}\n', "{\n", "\udcff\n", '{"messages": []}'])
def test_what_is_no_line_of_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert list(trl.faults(path)) != []


def test_fireworks_wants_a_weight_on_all_or_none(tmp_path: Path) -> None:
    weighed = {**CHAT, "weight": 1.5}
    assert list(fireworks.faults(written(tmp_path, *[weighed] * 3), "instruction")) == []
    assert list(fireworks.faults(written(tmp_path, weighed, weighed, CHAT), "instruction")) != []
    assert list(fireworks.faults(written(tmp_path, *[{**CHAT, "weight": "1"}] * 3), "instruction")) != []


def test_together_wants_no_weight_and_roles_in_turn(tmp_path: Path) -> None:
    assert list(together.faults(written(tmp_path, {**CHAT, "weight": 1.0}), "instruction")) != []
    for turns in ([ASKED, ASKED, ANSWERED], [ANSWERED, ASKED, ANSWERED]):
        assert list(together.faults(written(tmp_path, {"messages": turns}), "instruction")) != []
    asked = {**PAIR, "input": {"messages": [ASKED, ASKED]}}
    assert list(together.faults(written(tmp_path, asked), "preference")) != []


AXOLOTL = {
    "instruction": {"id": "1", "messages": [{**ASKED, "train": False}, {**ANSWERED, "train": True}]},
    "preference": {"id": "1", "messages": [ASKED], "chosen": ANSWERED, "rejected": ANSWERED},
    "unpaired": {"id": "1", "completion": [ASKED, ANSWERED], "label": True},
}
AXOLOTL_SPOILT: list[tuple[str, Spoil]] = [
    ("instruction", lambda r: r["messages"][0].update(train=True)),
    ("instruction", lambda r: r["messages"][1].update(train=False)),
    ("instruction", lambda r: r["messages"][1].pop("train")),
    ("instruction", lambda r: r["messages"].reverse()),
    ("preference", lambda r: r["messages"].append(ANSWERED)),
    ("preference", lambda r: r.update(chosen=[ANSWERED])),
    ("preference", lambda r: r.pop("rejected")),
    ("unpaired", lambda r: r.update(label=1)),
    ("unpaired", lambda r: r["completion"].pop()),
]


def axolotl_folder(folder: Path, format: str, record: dict[str, Any], **more: Any) -> Path:
    written(folder, record)
    config: dict[str, Any] = {"val_set_size": 0}
    config |= {"rl": {"preference": "dpo", "unpaired": "kto"}[format]} if format in axolotl.TYPES else {}
    kind = axolotl.TYPES.get(format, "chat_template")
    config |= {"datasets": [{"path": "train.jsonl", "type": kind}], **more}
    (folder / "axolotl.yaml").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("format", "spoil"), AXOLOTL_SPOILT)
def test_axolotl_rejects_it(tmp_path: Path, format: str, spoil: Spoil) -> None:
    record = AXOLOTL[format]
    assert list(axolotl.faults(axolotl_folder(tmp_path, format, record), format)) == []
    assert list(axolotl.faults(axolotl_folder(tmp_path, format, spoilt(record, spoil)), format)) != []


@pytest.mark.parametrize(
    "more",
    [
        {"val_set_size": 0.05},
        {"rl": "dpo"},
        {"datasets": []},
        {"datasets": [{"path": "nowhere.jsonl", "type": "chat_template"}]},
        {"datasets": [{"path": "train.jsonl", "type": "alpaca"}]},
        {"test_datasets": [{"path": "nowhere.jsonl", "type": "chat_template"}]},
    ],
)
def test_axolotls_yaml_names_what_is_there(tmp_path: Path, more: dict[str, Any]) -> None:
    folder = axolotl_folder(tmp_path, "instruction", AXOLOTL["instruction"], **more)
    assert list(axolotl.faults(folder, "instruction")) != []


TRL: dict[str, dict[str, Any]] = {
    "messages": CHAT,
    "sft": {"prompt": [ASKED], "completion": [ANSWERED], "weight": 1.0},
    "dpo": {"prompt": [ASKED], "chosen": [ANSWERED], "rejected": [ANSWERED]},
    "kto": {"prompt": [ASKED], "completion": [ANSWERED], "label": False},
}
TRL_SPOILT: list[tuple[str, Spoil]] = [
    ("messages", lambda r: r["messages"].reverse()),
    ("sft", lambda r: r.update(prompt="Q?")),
    ("sft", lambda r: r.update(weight="1")),
    ("sft", lambda r: r.pop("completion")),
    ("dpo", lambda r: r.pop("rejected")),
    ("dpo", lambda r: r["prompt"].append(ANSWERED)),
    ("kto", lambda r: r.update(label=0)),
]


@pytest.mark.parametrize(("kind", "spoil"), TRL_SPOILT)
def test_trl_rejects_it(tmp_path: Path, kind: str, spoil: Spoil) -> None:
    assert list(trl.faults(written(tmp_path, TRL[kind]))) == []
    assert list(trl.faults(written(tmp_path, spoilt(TRL[kind], spoil)))) != []


def test_trl_wants_the_same_keys_in_every_row(tmp_path: Path) -> None:
    assert list(trl.faults(written(tmp_path, TRL["sft"], CHAT))) == ["rows have different keys"]


NATIVE = {"columns": {"prompt": "prompt", "response": "completion", "kto_tag": "label"}}
SHAREGPT = {"formatting": "sharegpt", "columns": {"messages": "messages"}}
RANKED = {**SHAREGPT, "ranking": True, "columns": {"messages": "messages", "chosen": "chosen", "rejected": "rejected"}}
PREFERRED = {"messages": [ASKED], "chosen": ANSWERED, "rejected": ANSWERED}


@pytest.mark.parametrize(
    ("entry", "record", "spoil"),
    [
        (NATIVE, {"prompt": "Q?", "completion": "A.", "label": True}, lambda r: r.update(label="true")),
        (NATIVE, {"prompt": "Q?", "completion": "A.", "label": True}, lambda r: r.pop("prompt")),
        (SHAREGPT, CHAT, lambda r: r["messages"].pop()),
        (SHAREGPT, CHAT, lambda r: r["messages"].insert(0, ASKED)),
        (RANKED, PREFERRED, lambda r: r.update(chosen="A.")),
        (RANKED, PREFERRED, lambda r: r["messages"].append(ANSWERED)),
    ],
)
def test_llamafactory_rejects_it(tmp_path: Path, entry: dict[str, Any], record: dict[str, Any], spoil: Spoil) -> None:
    info = {"ours": {"file_name": "train.jsonl", **entry}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(info), encoding="utf-8")
    written(tmp_path, record)
    assert list(llamafactory.faults(tmp_path)) == []
    written(tmp_path, spoilt(record, spoil))
    assert list(llamafactory.faults(tmp_path)) != []
    (tmp_path / "train.jsonl").unlink()
    assert list(llamafactory.faults(tmp_path)) == ["ours: train.jsonl is not there"]
