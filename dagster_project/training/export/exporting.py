"""An export from beginning to end: which rows, in which shape, into which files, and what is said of it."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.training.export import lengths
from dagster_project.training.export.asked import Asked
from dagster_project.training.export.card import card, configs
from dagster_project.training.export.conversations import alternating, like, turns, without_oldest
from dagster_project.training.export.folder import ABOUT, MADE_BY, whole_folder
from dagster_project.training.export.line_files import json_lines
from dagster_project.training.export.parquet_file import ParquetFile
from dagster_project.training.export.release_rows import ReleaseRows
from dagster_project.training.export.selection import Selection, selections
from dagster_project.training.export.shapes import Files, Shape, Target
from dagster_project.training.export.targets import target_for
from dagster_project.training.record_lines import Run, RunWriter, WrittenFile, merge

CARD, LEFT_OUT = "README.md", "left_out.jsonl"


@dataclass(frozen=True)
class Exported:
    """What `export.json` says."""

    about: dict[str, Any]
    notes: tuple[str, ...]


def export_release(lake: Lake, asked: Asked, out: Path) -> Exported:
    """Write the folder; the same release and options give the same bytes."""
    target = target_for(asked.target, asked.format)
    count, counted_by = lengths.tokenizer(asked.tokenizer) if asked.tokenizer else (None, None)
    rows = ReleaseRows.of(lake, asked.format, asked.release)
    counts: dict[str, Counter[str]] = {}
    with whole_folder(out) as folder:
        files: dict[str, dict[str, Any]] = {}
        left_out: list[pl.DataFrame] = []
        for selection in selections(rows, asked, count):
            left_out.append(selection.left_out)
            counts[selection.split] = selection.counts
            if selection.rows:
                files |= _write(rows, selection, target, folder)
        if not any(entry["split"] == "train" for entry in files.values()):
            raise GristmillError(_nothing(rows, asked, counts))
        shapes = target.shapes[asked.format]
        names = {
            shape.name: {entry["split"]: name for name, entry in files.items() if entry["shape"] == shape.name}
            for shape in shapes
        }
        beside = dict(target.beside(Files(asked, rows.release, names)))
        if (why := pl.concat(left_out)).height:
            beside[LEFT_OUT] = json_lines(why).decode()
        about = {
            "made_by": MADE_BY,
            "release": rows.release,
            "format": asked.format,
            "target": target.name,
            "options": {**asked.options(), "tokenizer": counted_by},
            "files": {name: {key: entry[key] for key in entry if key != "shape"} for name, entry in files.items()},
            "beside": sorted([*beside, CARD]),
            "counts": {split: dict(sorted(found.items())) for split, found in counts.items()},
        }
        for name, text in {**beside, CARD: card(target, about, configs(shapes, asked.format, names))}.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return Exported(about, target.notes(asked.format))


def _nothing(rows: ReleaseRows, asked: Asked, counts: dict[str, Counter[str]]) -> str:
    found = counts.get("train", Counter())
    if not found["read"]:
        return f"release {rows.release} has no training record of the format {asked.format}; nothing was written"
    reasons = [f"{found['below_tier']:,} are below tier {asked.min_tier}"] if found["below_tier"] else []
    reasons += [f"{found['too_long']:,} are longer than {asked.max_tokens:,} tokens"] if found["too_long"] else []
    return f"no training record is left of {found['read']:,}: {', '.join(reasons)}; nothing was written"


def _records(rows: ReleaseRows, selection: Selection, target: Target) -> Iterator[pl.DataFrame]:
    """What leaves, a batch at a time, with conversations as the target takes them."""
    for part in selection.parts:
        start = 0
        for batch in rows.batches(part):
            chosen = selection.chosen(part, start, batch)
            start += batch.height
            if not chosen.height:
                continue
            messages = chosen["messages"]
            if target.is_retold:
                messages, told = alternating(messages, chosen["cut"])
                selection.counts.update(told)
            elif (chosen["cut"] > 0).any():
                messages = _cut(messages, chosen["cut"])
            chosen = chosen.with_columns(messages.alias("messages"))
            yield chosen.drop("weight") if selection.is_drawn else chosen


def _cut(messages: pl.Series, cut: pl.Series) -> pl.Series:
    left = without_oldest(turns(messages), cut)
    sizes = left.group_by("row", maintain_order=True).len()["len"]
    return like(messages, left.select("role", "content"), sizes)


def _write(rows: ReleaseRows, selection: Selection, target: Target, folder: Path) -> dict[str, dict[str, Any]]:
    """The files of one split: every shape is encoded while the rows are in memory."""
    shapes = target.shapes[rows.format]
    names = [shape.file(selection.split, target.suffix) for shape in shapes]
    if target.suffix == ".parquet":
        with ParquetFile(folder / names[0]) as file:
            for records in _records(rows, selection, target):
                file.write(shapes[0].rows(records))
        written = [file.written()]
    else:
        written = _write_lines(_records(rows, selection, target), shapes, folder, names)
    return {
        name: {"split": selection.split, "shape": shape.name, **asdict(entry)}
        for name, shape, entry in zip(names, shapes, written, strict=True)
    }


def _write_lines(
    batches: Iterator[pl.DataFrame], shapes: tuple[Shape, ...], folder: Path, names: list[str]
) -> list[WrittenFile]:
    """Records lie by day and leave by key, as in a release (`record_lines`)."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    spool = folder / "lines.tmp"
    with RunWriter(spool) as lines:
        for records in batches:
            ordered = records.sort("key")
            for name, shape in zip(names, shapes, strict=True):
                encoded = json_lines(shape.rows(ordered), shape.without_null_keys)
                runs[name].append(lines.write_lines(encoded, ordered["key"]))
    written = [merge(runs[name], folder / name) for name in names]
    spool.unlink()
    return written
