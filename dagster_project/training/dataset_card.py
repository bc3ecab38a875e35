"""The card of a release, `README.md`: what a trainer's loader reads, and what a person should know.

`load_dataset(<folder>, CONFIG)` works for every config the card names. The loader reads all files of a folder with one builder, so
every config names JSON Lines; it guesses types from the first rows of the first split, where a column may be all null, so the
card says them; and it fails on a config without rows, so such a one is not named.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from dagster_project.columns.templates import FIELDS, IDENTITY
from dagster_project.contracts import TABLES
from dagster_project.contracts.anonymised_columns import FIELDS as ANONYMISED_FIELDS
from dagster_project.training.anonymised_export import NAME as ANONYMISED

ANONYMISED_NOTE = (
    "`anonymized_feedback` holds rated sessions without saying whose: no ids, and every combination of values is shared by "
    "at least k users of its week (`anonymised` in `manifest.json`). Numbers are the lower ends of quarters and thirds."
)
# What the loader calls our types.
TYPES = {pl.String: "string", pl.Float64: "float64", pl.Boolean: "bool", pl.Int64: "int64"}


def dataset_card(manifest: Mapping[str, Any]) -> str:
    configs = {name: files for name in (*FIELDS, ANONYMISED) if (files := _data_files(manifest["files"], name))}
    lines = ["---", "configs:"]
    for name, files in configs.items():
        lines += [f"- config_name: {name}", "  data_files:"]
        for path, split in files.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    lines += ["dataset_info:"]
    for name in configs:
        lines += [f"- config_name: {name}", "  features:", *_features(_schema(name), "  ")]
    lines += ["---", "", f"# Training sets up to {manifest['release_date']}", ""]
    lines += ["| file | split | records |", "|---|---|---|"]
    lines += [f"| {name} | {entry['split'] or ''} | {entry['rows']} |" for name, entry in manifest["files"].items()]
    lines += [
        "",
        "Each record carries `id`, `source` (the rule that made it), `quality_weight`, `tier`, `domain`, `origin_ids` (the",
        "feedback rows or the distilled example behind it) and `context` (conversation before the prompt, or null).",
        "Prompts never cross splits.",
        "What was left out, and why, is counted in `manifest.json`.",
        *([ANONYMISED_NOTE] if manifest["anonymised"]["weeks"] else []),
        "",
    ]
    return "\n".join(lines)


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
