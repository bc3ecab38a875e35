"""The card names what `load_dataset` can load: JSON Lines with rows, with the type of every field (outputs.md)."""

import json
from typing import Any

import yaml

from dagster_project.columns.templates import IDENTITY
from dagster_project.contracts.anonymised_columns import FIELDS as ANONYMISED_FIELDS
from dagster_project.contracts.formats import FIELDS
from dagster_project.training.dataset_card import dataset_card
from dagster_project.training.leak_proof import Proof


def entry(config: str, split: str | None, rows: int) -> dict[str, Any]:
    return {"format": config, "split": split, "rows": rows, "bytes": 1, "sha256": ""}


def told(anonymised_rows: int = 5, **more: Any) -> dict[str, Any]:
    """A manifest as far as the card looks at it."""
    files = {f"{config}_20260131.jsonl": entry(config, "train", 3) for config in FIELDS}
    files["cot_20260131.test.jsonl"] = entry("cot", "test", 1)
    for kind in ("jsonl", "parquet"):
        files[f"anonymized_feedback.{kind}"] = entry("anonymized_feedback", None, anonymised_rows)
    return {"release_date": "2026-01-31", "files": files, "anonymised": {"weeks": 2}, **more}


def card(anonymised_rows: int) -> dict[str, Any]:
    return yaml.safe_load(dataset_card(told(anonymised_rows)).split("---\n")[1])


def test_every_config_names_json_lines_with_rows() -> None:
    """The loader reads a folder with one builder: one Parquet file among JSON ones is read as JSON, and fails."""
    named = {config["config_name"]: config["data_files"] for config in card(5)["configs"]}
    assert named["cot"] == [
        {"split": "train", "path": "cot_20260131.jsonl"},
        {"split": "test", "path": "cot_20260131.test.jsonl"},
    ]
    assert named["anonymized_feedback"] == [{"split": "train", "path": "anonymized_feedback.jsonl"}]
    assert set(named) == {*FIELDS, "anonymized_feedback"}


def test_a_config_says_what_its_files_hold() -> None:
    """The loader keeps what it read by these words: where they stay, it never looks at the files again."""
    files = told()["files"]
    files["cot_20260131.test.jsonl"]["sha256"] = "another"
    changed = yaml.safe_load(dataset_card(told(files=files)).split("---\n")[1])
    said = [[config["description"] for config in found["configs"]] for found in (card(5), changed)]
    assert [one != other for one, other in zip(*said, strict=True)] == [
        name == "cot" for name in (*FIELDS, "anonymized")
    ]


def test_a_config_without_rows_is_not_named() -> None:
    """The loader fails on it."""
    assert "anonymized_feedback" not in json.dumps(card(0))


def test_the_type_of_every_field_is_said() -> None:
    """The loader would take a column that is null throughout the first split for one that is always null."""
    features = {config["config_name"]: config["features"] for config in card(5)["dataset_info"]}
    for config, fields in FIELDS.items():
        assert [feature["name"] for feature in features[config]] == [*fields, *IDENTITY]
    types = {feature.pop("name"): feature for feature in features["unpaired"]}
    assert types["label"] == {"dtype": "bool"}
    assert types["context"] == {"dtype": "string"}
    assert types["quality_weight"] == {"dtype": "float64"}
    assert types["origin_ids"] == {"sequence": "string"}


def test_the_anonymised_fields_nest() -> None:
    features = {config["config_name"]: config["features"] for config in card(5)["dataset_info"]}["anonymized_feedback"]
    assert [feature["name"] for feature in features] == list(ANONYMISED_FIELDS)
    (scores,) = [feature["struct"] for feature in features if feature["name"] == "qualityScores"]
    assert {score["name"]: score["dtype"] for score in scores} == dict.fromkeys(
        ("accuracy", "completeness", "styleMatch"), "float64"
    )


# --- what a person reads ---------------------------------------------------------------------------------------------

FIGURES: dict[str, dict[str, Any]] = {
    "cot": {
        "split": {"test": 12, "train": 80, "validation": 8},
        "tier": {"high": 90, "low": 10},
        "source": {"distillation_cot": 100},
        "domain": {"code": 100},
        "language": {"de": 3, "unknown": 97},
        "low_by_age": {"false": 100},
        "prompt_tokens": {"p5": 1, "p50": 2, "p90": 3, "p95": 4, "p99": 5, "longest": 6},
    },
    "unpaired": {
        "split": {"augmentation": 30, "test": 19, "train": 50},
        "tier": {"low": 20, "standard": 69, "very_low": 10},
        "source": {"feedback_rating": 99},
        "domain": {"general": 99},
        "label": {"false": 24, "true": 75},
        "low_by_age": {"false": 74, "true": 25},
    },
}


def body(**more: Any) -> str:
    return dataset_card(told(figures=FIGURES, **more)).split("---\n", 2)[2]


def test_it_says_what_there_is() -> None:
    lines = body().splitlines()
    assert "| `cot` | a question and a teacher's answer with its steps | SFT | 80 | 8 | 12 | 0 |" in lines
    assert "| `unpaired` | one answer with a thumb, for KTO | KTO, and never SFT | 50 | 0 | 19 | 30 |" in lines
    assert "| tier | cot | unpaired |" in lines and "| low | 10 | 20 |" in lines
    assert "| language | cot | unpaired |" in lines and "| de | 3 | 0 |" in lines
    assert "| `cot` | prompt and context, tokens | 1 | 2 | 3 | 4 | 5 | 6 |" in lines


def test_it_warns() -> None:
    """Of answers people disliked, of age, of unequal labels, of few evaluation records."""
    text = body()
    assert (
        "Do not fine-tune on `unpaired` as if its answers were good (SFT): 24 of them are answers people rated down."
        in text
    )
    assert "Of 40 records of a low tier 25 are so by age alone." in text
    assert "`unpaired` has 75 answers rated up and 24 rated down." in text
    assert "desirable_weight from 0.32 to 0.43." in text
    assert "- `unpaired` has 19 evaluation records, fewer than 20: figures on them say little." in text
    assert "`cot` has 20 evaluation records" not in text


def test_masked_kinds_are_there_if_anything_was_masked() -> None:
    assert "## Masked" not in body()
    assert "| `email` | 12 |" in body(masked={"email": 12, "iban": 0}).splitlines()


def test_rights_come_from_the_configuration() -> None:
    assert "Licence: not stated (`licence` in the configuration)" in body()
    words = {"licence": 'ours: "ask"\nfirst', "consent": "terms | 2025"}
    said = dataset_card(told(figures=FIGURES, rights=words))
    _, header, text = said.split("---\n", 2)
    assert (yaml.safe_load(header)["license"], yaml.safe_load(header)["license_name"]) == ("other", words["licence"])
    assert "Consent: terms \\| 2025" in text
    known = dataset_card(told(rights={"licence": "cc-by-4.0"})).split("---\n")[1]
    assert yaml.safe_load(known)["license"] == "cc-by-4.0"


LEFT_OUT = {
    "cot": {"duplicate": 3, "near_duplicate": 2, "refusal": 9},
    "unpaired": {"duplicate": 4, "leak": 5, "near_duplicate": 1},
}


def flowing(**more: Any) -> str:
    return " ".join(body(**more).split())


def test_it_says_what_is_not_repeated() -> None:
    said = flowing(excluded=LEFT_OUT)
    assert "Of records of a config that say the same only the heaviest left: 7 others did not." in said
    assert "four of five of their runs of 5 characters): 3 of them." in said
    kept = flowing(excluded=LEFT_OUT, near_duplicates=False)
    assert "runs of 5 characters)" not in kept
    assert "are still there (`near_duplicates = false`)" in kept


def test_it_says_how_splits_were_drawn() -> None:
    by_prompt = flowing(excluded=LEFT_OUT, split_by="prompt", moved=12)
    assert "Each prompt draws its split by its hash, the same in every config" in by_prompt
    assert "12 prompts that drew validation or test are in train for that." in by_prompt
    assert "5 evaluation records did not leave (`leak`)" in by_prompt
    assert "pinned release" not in by_prompt
    assert "pinned release" in flowing(eval_set="pin")
    by_user = flowing(excluded=LEFT_OUT, split_by="user", moved=12)
    assert "Each user draws its split by the hash of its id" in by_user
    assert "Each prompt draws" not in by_user and "12 prompts" not in by_user


def test_it_says_what_the_proof_found() -> None:
    counts = Proof(training_prompts=80, evaluation_prompts=20, compared_prompts=18, training_contexts=7).counts()
    said = flowing(proof=counts)
    looked = (
        "of 80 training prompts, 20 evaluation prompts, 18 compared prompts, 7 training contexts, no leaks were found."
    )
    assert looked in said
    assert "Template sentence prompts" not in said
    lines = body(proof=counts | {"template_sentence_prompts": 4, "answers_in_contexts": 2}).splitlines()
    assert "| template sentence prompts | 4 |" in lines and "| answers in contexts | 2 |" in lines
    assert "7 training contexts, 2 leaks were found." in " ".join(lines)
    assert not any(line.startswith("| training prompts") for line in lines)
    assert "read back" not in flowing()
