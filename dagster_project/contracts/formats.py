"""The training formats: of each what its records hold, what of that says the same, which rules make them, what they are for."""

from typing import NamedTuple


class TrainingFormat(NamedTuple):
    """One format. What follows the fields of a record is the same for all (T4)."""

    fields: tuple[str, ...]  # of a record, in order
    prompts: tuple[str, ...]  # what is compared as prompts are (T2), beside the context ...
    answers: tuple[str, ...]  # ... and what as answers
    sources: tuple[str, ...]  # the rules that make such records (F6, D7)
    says: str  # what a record is, for people
    trains: str  # what it is for


TRAINING_FORMATS = {
    "instruction": TrainingFormat(
        fields=("instruction", "input", "output"),
        prompts=("instruction", "input"),
        answers=("output",),
        sources=("feedback_positive", "distillation_instruction"),
        says="a question and an answer people liked or a teacher gave",
        trains="SFT",
    ),
    "cot": TrainingFormat(
        fields=("instruction", "input", "output"),
        prompts=("instruction", "input"),
        answers=("output",),
        sources=("distillation_cot",),
        says="a question and a teacher's answer with its steps",
        trains="SFT",
    ),
    "correction": TrainingFormat(
        fields=("instruction", "input", "output", "error_type"),
        prompts=("input",),
        answers=("instruction", "output"),  # the instruction quotes the answer that was wrong
        sources=("feedback_correction", "distillation_correction"),
        says="an answer, what was wrong with it, and the corrected one",
        trains="SFT",
    ),
    "preference": TrainingFormat(
        fields=("prompt", "chosen", "rejected", "votes_for", "votes_against"),
        prompts=("prompt",),
        answers=("chosen", "rejected"),
        sources=(
            *("feedback_preference", "feedback_correction_pair", "feedback_rating_pair"),
            *("distillation_preference", "synthetic_pair"),
        ),
        says="a better and a worse answer to the same prompt",
        trains="DPO, reward models",
    ),
    "unpaired": TrainingFormat(
        fields=("prompt", "completion", "label"),
        prompts=("prompt",),
        answers=("completion", "label"),
        sources=("feedback_rating",),
        says="one answer with a thumb, for KTO",
        trains="KTO, and never SFT",
    ),
}
FORMATS = tuple(TRAINING_FORMATS)
FIELDS = {name: format.fields for name, format in TRAINING_FORMATS.items()}
