"""For axolotl: chats that say which turns are learned, pairs and KTO, with the YAML that names them.

Axolotl would split an evaluation set off the tail of a file; ours are files of their own, named under `test_datasets`.
"""

from collections.abc import Mapping

import polars as pl

from dagster_project.training.export.shapes import (
    SFT,
    Files,
    Shape,
    Target,
    answered,
    only_last_is_learned,
    with_answer,
)

CONFIG = "axolotl.yaml"
CHAT = """\
    type: chat_template
    field_messages: messages
    message_field_training: train
    roles_to_train: []
"""
PAIRS = """\
    type: chat_template.default
    field_messages: messages
    field_chosen: chosen
    field_rejected: rejected
"""
KTO = """\
    type: chatml.argilla_chat
"""
KINDS = {"preference": ("rl: dpo\n", PAIRS), "unpaired": ("rl: kto\n", KTO)}


def chat(records: pl.DataFrame) -> pl.DataFrame:
    messages = only_last_is_learned(records, "train", learned=True, read=False, everywhere=True)
    return records.select("id").with_columns(messages)


def pair(records: pl.DataFrame) -> pl.DataFrame:
    return records.select("id", "messages", answered("chosen"), answered("rejected"))


def unpaired(records: pl.DataFrame) -> pl.DataFrame:
    return records.select("id", with_answer("completion").alias("completion"), "label")


def _beside(files: Files) -> Mapping[str, str]:
    head, kind = KINDS.get(files.asked.format, ("", CHAT))
    names = files.names[""]
    text = f"# start axolotl in this folder, with base_model and the rest of your configuration beside this\n{head}"
    text += "datasets:\n" + _dataset(names["train"], kind)
    # axolotl evaluates on the validation file; the test file is for you, when training is over
    if "validation" in names:
        text += "test_datasets:\n" + _dataset(names["validation"], kind)
    return {CONFIG: text + "val_set_size: 0\n"}


def _dataset(name: str, kind: str) -> str:
    return f"  - path: {name}\n    ds_type: json\n    split: train\n{kind}"


def _notes(format: str) -> tuple[str, ...]:
    said = [f"`{CONFIG}` names the files; `test_datasets` is the validation file, nothing is split off a tail."]
    if format in SFT:
        said.append("Only the last answer of a record is learned (`train` of a message).")
    if format == "unpaired":
        said.append("axolotl writes KTO prompts for one template: `chatml.argilla_chat`, or `llama3.argilla_chat`.")
    return (*said, "Records have no weight here; `--resample` draws a file by weight.")


AXOLOTL = Target(
    "axolotl",
    {**dict.fromkeys(SFT, (Shape(chat),)), "preference": (Shape(pair),), "unpaired": (Shape(unpaired),)},
    refusals={},
    notes=_notes,
    beside=_beside,
)
