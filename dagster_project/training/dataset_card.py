"""The card of a release, `README.md`: what a trainer's loader reads; what a person should know is in `card_text.py`.

`load_dataset(<folder>, CONFIG)` works for every config the card names. The loader reads all files of a folder with one builder, so
every config names JSON Lines; it guesses types from the first rows of the first split, where a column may be all null, so the
card says them; and it fails on a config without rows, so such a one is not named. What it has read it keeps under the folder's last
name and the card's words about a config, whatever the files hold by then; so a config's `description` says what they hold.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from dagster_project.columns.templates import IDENTITY
from dagster_project.contracts import TABLES
from dagster_project.contracts.anonymised_columns import FIELDS as ANONYMISED_FIELDS
from dagster_project.contracts.formats import FIELDS
from dagster_project.training.anonymised_export import NAME as ANONYMISED
from dagster_project.training.card_text import text

# What the loader calls our types.
TYPES = {pl.String: "string", pl.Float64: "float64", pl.Boolean: "bool", pl.Int64: "int64"}


def dataset_card(manifest: Mapping[str, Any]) -> str:
    configs = {name: files for name in (*FIELDS, ANONYMISED) if (files := _data_files(manifest["files"], name))}
    lines = ["---", "configs:"]
    for name, files in configs.items():
        lines += [f"- config_name: {name}", f"  description: {held({path: manifest['files'][path] for path in files})}"]
        lines.append("  data_files:")
        for path, split in files.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    lines += ["dataset_info:"]
    for name in configs:
        lines += [f"- config_name: {name}", "  features:", *_features(_schema(name), "  ")]
    return "\n".join([*lines, *_licence(manifest.get("rights", {})), "---", *text(manifest)])


def held(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Words that are others where one of the files is."""
    told = "".join(f"{name} {files[name]['sha256']}\n" for name in sorted(files))
    return f"files with sha256 {hashlib.sha256(told.encode()).hexdigest()[:16]} together"


def _licence(rights: Mapping[str, str]) -> Iterator[str]:
    """A name that is no known one's form is quoted, so that whatever is configured is YAML."""
    if licence := rights.get("licence"):
        is_identifier = re.fullmatch(r"[a-z0-9][a-z0-9.-]*", licence)
        yield f"license: {json.dumps(licence) if is_identifier else 'other'}"
        if not is_identifier:
            yield f"license_name: {json.dumps(licence)}"


def _data_files(files: Mapping[str, Mapping[str, Any]], config: str) -> dict[str, str]:
    """The JSON Lines files of a config that have rows, each with its split."""
    return {
        name: entry["split"] or "train"
        for name, entry in files.items()
        if entry["format"] == config and entry["rows"] and name.endswith(".jsonl")
    }


def _schema(config: str) -> dict[str, pl.DataType]:
    if config == ANONYMISED:
        return dict(ANONYMISED_FIELDS)
    columns = TABLES[f"train__{config}"].polars_schema
    return {name: columns[name] for name in (*FIELDS[config], *IDENTITY)}


def _features(schema: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, dtype in schema.items():
        yield f"{indent}- name: {name}"
        if isinstance(dtype, pl.Struct):
            yield f"{indent}  struct:"
            yield from _features({field.name: field.dtype for field in dtype.fields}, f"{indent}  ")
        elif isinstance(dtype, pl.List):
            yield f"{indent}  sequence: {_type(dtype.inner)}"
        else:
            yield f"{indent}  dtype: {_type(dtype)}"


def _type(dtype: Any) -> str:
    return TYPES[dtype.base_type()]
