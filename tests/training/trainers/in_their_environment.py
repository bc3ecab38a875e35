"""Runs in `.venv-trainers`, where nothing of ours is: trainers and loaders read exported files and tell what they made of them.

    python in_their_environment.py JOBS.json      one answer a job, as JSON on the last line

The model is tiny and random, its tokenizer knows bytes: nothing is downloaded.
"""

import importlib.util
import json
import os
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "WANDB_DISABLED": "true"}
os.environ |= {"HF_HOME": tempfile.mkdtemp(), "AXOLOTL_DO_NOT_TRACK": "1"}

import datasets
import tokenizers
import torch
import transformers
import trl
import yaml

datasets.disable_progress_bars()
torch.manual_seed(0)
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ message['content'] }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
Job = dict[str, Any]


def tokenizer() -> Any:
    words = ["<|im_start|>", "<|im_end|>", "<pad>", *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    made = tokenizers.Tokenizer(tokenizers.models.BPE({word: n for n, word in enumerate(words)}, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<pad>")
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = TEMPLATE
    return fast


def model(kind: str, words: Any) -> Any:
    shape = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=2048,
        pad_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
        num_labels=1,
    )
    made = transformers.LlamaForSequenceClassification if kind == "reward" else transformers.LlamaForCausalLM
    return made(shape)


TRAINERS = {
    "sft": (trl.SFTTrainer, trl.SFTConfig),
    "dpo": (trl.DPOTrainer, trl.DPOConfig),
    "kto": (trl.KTOTrainer, trl.KTOConfig),
    "reward": (trl.RewardTrainer, trl.RewardConfig),
}


def trained(job: Job) -> dict[str, Any]:
    """Two steps of a TRL trainer on a config of the card, evaluated on its validation split."""
    loaded = datasets.load_dataset(job["folder"], job["config"])
    kind, words = job["kind"], tokenizer()
    trainer, config = TRAINERS[kind]
    arguments = config(
        output_dir=tempfile.mkdtemp(),
        max_steps=2,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        eval_strategy="steps",
        eval_steps=2,
        report_to=[],
        use_cpu=True,
        bf16=False,
        max_length=2048,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        **job.get("options", {}),
    )
    made = trainer(
        model=model(kind, words),
        args=arguments,
        train_dataset=loaded["train"],
        eval_dataset=loaded["validation"],
        processing_class=words,
        **({"ref_model": model(kind, words)} if kind in ("dpo", "kto") else {}),
    )
    made.train()
    losses = [entry[name] for entry in made.state.log_history for name in ("loss", "eval_loss") if name in entry]
    told = {"splits": {split: len(rows) for split, rows in loaded.items()}, "steps": made.state.global_step}
    told |= {"columns": loaded["train"].column_names, "losses": losses}
    if kind == "sft":
        told["learned"] = learned_by_sft(made, words)
    return told


def learned_by_sft(trainer: Any, words: Any) -> list[str]:
    """Of every record the text the loss is taken over."""
    batches = (trainer.data_collator([row]) for row in trainer.train_dataset)
    return [words.decode(batch["labels"][batch["labels"] != -100]) for batch in batches]


def without_their_init(package: str, *parts: str) -> None:
    """A package whose modules can be imported one by one: its own `__init__` would want everything it trains with."""
    found = importlib.util.find_spec(package)
    assert found and found.submodule_search_locations
    for name in (package, *(f"{package}.{part}" for part in parts)):
        bare = types.ModuleType(name)
        folder = Path(found.submodule_search_locations[0])
        bare.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = bare


def converted_by_llamafactory(job: Job) -> list[dict[str, Any]]:
    if "llamafactory" not in sys.modules:
        without_their_init("llamafactory", "data", "extras")
    from llamafactory.data import converter, parser

    (about,) = parser.get_dataset_list([job["config"]], job["folder"])
    rows = datasets.load_dataset("json", data_files=str(Path(job["folder"]) / about.dataset_name), split="train")
    convert = converter.get_dataset_converter(about.formatting, about, types.SimpleNamespace(media_dir=""))
    return [
        {"prompt": found["_prompt"], "response": found["_response"], "system": found["_system"]}
        for found in map(convert, rows)
    ]


def checked_by_together(job: Job) -> dict[str, Any]:
    if "together" not in sys.modules:
        without_their_init("together", "utils", "types")
        from together.types.files import FilePurpose

        sys.modules["together.types"].FilePurpose = FilePurpose
    from together.utils.files import check_file

    return check_file(Path(job["folder"]) / job["file"])


def read_by_axolotl(job: Job) -> list[Any]:
    """Of every record of the first dataset its YAML names what is learned, or what the preference trainer gets."""
    from axolotl.utils.dict import DictDefault

    folder = Path(job["folder"])
    config = DictDefault(yaml.safe_load((folder / "axolotl.yaml").read_text(encoding="utf-8")))
    config |= {"chat_template": "tokenizer_default", "sequence_len": 2048, "train_on_inputs": False}
    config = DictDefault(config)
    about, words = config.datasets[0], tokenizer()
    rows = datasets.load_dataset("json", data_files=str(folder / about.path), split=about.split)
    if config.rl == "kto":
        from axolotl.prompt_strategies.kto import chatml

        convert = chatml.argilla_chat(config)
        return [{key: convert(dict(row))[key] for key in ("prompt", "completion", "label")} for row in rows]
    if config.rl == "dpo":
        from axolotl.prompt_strategies.dpo import chat_template as pairs

        convert, _ = pairs.default(config)
        return [convert(dict(row), tokenizer=words) for row in rows]
    from axolotl.prompt_strategies import chat_template

    strategy = chat_template.load(words, config, ds_cfg=about)
    found = (strategy.tokenize_prompt(dict(row)) for row in rows)
    return [words.decode([token for token in one["labels"] if token != -100]) for one in found]


def loaded_by_datasets(job: Job) -> dict[str, Any]:
    found = datasets.load_dataset(job["folder"], job["config"])
    return {split: [len(rows), rows.column_names] for split, rows in found.items()}


DOES: dict[str, Callable[[Job], Any]] = {
    **dict.fromkeys(TRAINERS, trained),
    "llamafactory": converted_by_llamafactory,
    "together": checked_by_together,
    "axolotl": read_by_axolotl,
    "datasets": loaded_by_datasets,
}


if __name__ == "__main__":
    answers = [DOES[job["kind"]](job) for job in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    print("\n" + json.dumps(answers))
