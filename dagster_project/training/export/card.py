"""The card of an export: `load_dataset(<folder>, CONFIG)` works for every config it names, and a person learns what this is.

An export into the same folder, or one of the same name, gives its own rows: the loader keeps what it read by the card's words.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dagster_project.training.dataset_card import held
from dagster_project.training.export.shapes import Shape, Target


def configs(
    shapes: tuple[Shape, ...], format: str, names: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Config -> split -> file; the first is the one that loads where none is named."""
    return {shape.config or format: dict(names[shape.name]) for shape in shapes}


def card(target: Target, about: Mapping[str, Any], found: Mapping[str, Mapping[str, str]]) -> str:
    return "\n".join([*_header(found, about["files"]), "", *_body(target, about), ""])


def _header(found: Mapping[str, Mapping[str, str]], written: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("---", "configs:")
    for number, (name, files) in enumerate(found.items()):
        yield f"- config_name: {name}"
        yield f"  description: {held({path: written[path] for path in files.values()})}"
        yield from ("  default: true",) if number == 0 else ()
        yield "  data_files:"
        for split, path in files.items():
            yield from (f"  - split: {split}", f"    path: {path}")
    yield "---"


def _body(target: Target, about: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {about['format']} of release {about['release']}, for {target.name}"
    yield from ("", "| file | split | records |", "|---|---|---|")
    for name, entry in about["files"].items():
        yield f"| {name} | {entry['split']} | {entry['rows']} |"
    yield ""
    yield from target.notes(about["format"])
    yield from ("", "What was asked for, left out and told another way is counted in `export.json`.")
    if "left_out.jsonl" in about["beside"]:
        yield "`left_out.jsonl` says of every record that was left out why."
