"""For TRL: SFT (prompt-completion and conversational), DPO and reward, KTO. Each takes its folder by `load_dataset`."""

import polars as pl

from dagster_project.training.export.shapes import (
    SFT,
    Shape,
    Target,
    answered_list,
    before_the_answer,
    has_weight,
    the_answer,
)


def prompt_completion(records: pl.DataFrame) -> pl.DataFrame:
    return records.select(
        "id", before_the_answer().alias("prompt"), the_answer().alias("completion"), *has_weight(records)
    )


def conversational(records: pl.DataFrame) -> pl.DataFrame:
    return records.select("id", "messages", *has_weight(records))


def preference(records: pl.DataFrame) -> pl.DataFrame:
    answers = (answered_list("chosen"), answered_list("rejected"))
    return records.select("id", pl.col("messages").alias("prompt"), *answers, *has_weight(records))


def unpaired(records: pl.DataFrame) -> pl.DataFrame:
    prompt = pl.col("messages").alias("prompt")
    return records.select("id", prompt, answered_list("completion"), "label", *has_weight(records))


PROMPT_COMPLETION = Shape(prompt_completion, config="prompt_completion")
MESSAGES = Shape(conversational, name="messages", config="messages")
TRAINERS = {"preference": "DPOTrainer and RewardTrainer", "unpaired": "KTOTrainer"}


def notes(format: str) -> tuple[str, ...]:
    said = [f"For {TRAINERS.get(format, 'SFTTrainer')}; `id` is the record's in the release."]
    if format in SFT:
        said.append("`prompt_completion` is learned from the last answer alone, whatever stood before it.")
    if format == "correction":
        said.append("There is no config `messages`: SFTTrainer would learn the wrong answer, too.")
    elif format in SFT:
        said.append("`messages` is learned whole, or from all assistant turns (`assistant_only_loss`).")
    return (*said, "TRL drops `weight` without a word; `--resample` draws a file by weight instead.")


TRL = Target(
    "trl",
    shapes={
        "instruction": (PROMPT_COMPLETION, MESSAGES),
        "cot": (PROMPT_COMPLETION, MESSAGES),
        "correction": (PROMPT_COMPLETION,),
        "preference": (Shape(preference),),
        "unpaired": (Shape(unpaired),),
    },
    refusals={},
    notes=notes,
    weight="weight",
)
