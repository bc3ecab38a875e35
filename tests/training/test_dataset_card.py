"""The card names what `load_dataset` can load: JSON Lines with rows, with the type of every field (outputs.md)."""

import json
from typing import Any

import yaml

from dagster_project.columns.templates import FIELDS, IDENTITY
from dagster_project.contracts.anonymised_columns import FIELDS as ANONYMISED_FIELDS
from dagster_project.training.dataset_card import dataset_card


def entry(config: str, split: str | None, rows: int) -> dict[str, Any]:
    return {"format": config, "split": split, "rows": rows, "bytes": 1, "sha256": ""}


def card(anonymised_rows: int) -> dict[str, Any]:
    files = {f"{config}_20260131.jsonl": entry(config, "train", 3) for config in FIELDS}
    files["cot_20260131.test.jsonl"] = entry("cot", "test", 1)
    for kind in ("jsonl", "parquet"):
        files[f"anonymized_feedback.{kind}"] = entry("anonymized_feedback", None, anonymised_rows)
    told = {"release_date": "2026-01-31", "files": files, "anonymised": {"weeks": 2}}
    return yaml.safe_load(dataset_card(told).split("---\n")[1])


def test_every_config_names_json_lines_with_rows() -> None:
    """The loader reads a folder with one builder: one Parquet file among JSON ones is read as JSON, and fails."""
    named = {config["config_name"]: config["data_files"] for config in card(5)["configs"]}
    assert named["cot"] == [
        {"split": "train", "path": "cot_20260131.jsonl"},
        {"split": "test", "path": "cot_20260131.test.jsonl"},
    ]
    assert named["anonymized_feedback"] == [{"split": "train", "path": "anonymized_feedback.jsonl"}]
    assert set(named) == {*FIELDS, "anonymized_feedback"}


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
