"""A release: JSONL files per format and split, a manifest and a dataset card, written once (T3-T5).

Built whole under staging; the run's commit renames the folder into place.
"""

import contextlib
import filecmp
import hashlib
import io
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.code_identity import code_identity, pipeline_identity
from dagster_project.columns.templates import FIELDS, IDENTITY, SPLITS
from dagster_project.contracts import TABLES
from dagster_project.engines.stored_tables import CheckedTogether, shaped
from dagster_project.lake import parquet
from dagster_project.lake.parquet import TableWriter
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.distillation import source as distillation
from dagster_project.training.anonymised_export import AnonymisedExport, write_files
from dagster_project.training.anonymised_weeks import KeptWeeks
from dagster_project.training.dataset_card import dataset_card
from dagster_project.training.examples import CANDIDATES, SOURCES, ExampleSpool

FORMATS = tuple(FIELDS)
LINE_ENDS = "\u0085\u2028\u2029"


@dataclass(frozen=True)
class FormatOutcome:
    """What became of the candidates of a format (G3)."""

    table: str
    candidates: int
    exported: int
    excluded: int
    is_current: bool

    @property
    def adds_up(self) -> bool:
        return self.candidates == self.exported + self.excluded


def bring_release_up_to_date(run: MillRun) -> list[FormatOutcome]:
    """Build the release unless what it is made from is unchanged, and count what became of every candidate."""
    lake, partition = run.lake, f"release_date={run.release_date}"
    made_from = {
        "candidates": [lake.versions(table) for table in CANDIDATES],
        "rivals": [lake.versions(table) for table in ("core__candidate_rivals", "core__pair_votes")],
        "excluded": dict(lake.versions("train__excluded")).get(partition),
        "texts": [lake.versions(table) for table in ("raw_feedback__entries", SOURCES, *distillation.DATED)],
        "code": code_identity(__name__),
        "anonymised": lake.catalog.inputs.get("train__anonymised"),
        "release": partition,
    }
    inputs = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    is_current = lake.catalog.inputs.get("release") == inputs
    if not is_current:
        started = time.process_time()
        build_release(run)
        lake.catalog.inputs["release"] = inputs
        run.release_cpu_seconds = time.process_time() - started
    counted: Counter[str] = Counter()
    for table in CANDIDATES:
        found = parquet.scan(lake.files(table)).group_by("format").len().collect(engine="streaming")
        counted.update(dict(found.iter_rows()))
    excluded = _excluded_counts(run)
    return [
        FormatOutcome(
            table=f"train__{format}",
            candidates=counted[format],
            exported=sum(
                f.rows for p, f in lake.partitions(f"train__{format}").items() if p.startswith(f"{partition}/")
            ),
            excluded=sum(excluded.get(format, {}).values()),
            is_current=is_current,
        )
        for format in FORMATS
    ]


def build_release(run: MillRun) -> dict[str, Any]:
    """Write the release and the train__* partitions to staging; returns what the manifest says."""
    name = run.release_date.strftime("%Y%m%d")
    folder = run.lake.staging / "release"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spool = ExampleSpool(run.lake, run.lake.staging / "spool")
    spool.fill()
    counts: dict[str, Counter[str]] = {by: Counter() for by in ("format", "source", "tier", "domain")}
    writers = {format: _FormatWriter(run, format, folder, name) for format in FORMATS}
    with contextlib.ExitStack() as stack:
        for writer in writers.values():
            stack.callback(writer.close)
        for format, examples in spool.read():
            writers[format].write(examples)
            counts["format"][format] += examples.height
            run.report(f"train__{format}", examples.height)
            for by in ("source", "tier", "domain"):
                counts[by].update(dict(examples[by].value_counts().iter_rows()))
        for writer in writers.values():
            writer.check.finish()
    files = {name: entry for writer in writers.values() for name, entry in writer.files().items()}
    anonymised = AnonymisedExport.of(KeptWeeks(run.lake), run.as_of, run.config.anonymity_k)
    files |= write_files(anonymised, folder)
    shutil.rmtree(run.lake.staging / "spool", ignore_errors=True)
    manifest = {
        "release_date": str(run.release_date),
        "as_of": run.as_of.isoformat(),
        "config_hash": run.config.rules_hash(),
        "code_hash": pipeline_identity(),
        "files": files,
        "exported": {by: dict(sorted(counter.items())) for by, counter in counts.items()},
        "excluded": _excluded_counts(run),
        "anonymised": anonymised.summary(),
    }
    (folder / "README.md").write_text(dataset_card(manifest), encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return manifest


def json_lines(records: pl.DataFrame) -> bytes:
    """One line a record, for readers, too, that end a line at more characters than LF: those are escaped (T4)."""
    lines = io.BytesIO()
    records.write_ndjson(lines)
    written = lines.getvalue()
    for character in LINE_ENDS:
        written = written.replace(character.encode(), f"\\u{ord(character):04x}".encode())
    return written


class _FormatWriter:
    """The files of one format: a JSONL file and a train__ partition per split that has records."""

    def __init__(self, run: MillRun, format: str, folder: Path, name: str) -> None:
        self.run, self.format, self.folder, self.name = run, format, folder, name
        self.table = TABLES[f"train__{format}"]
        self.check = CheckedTogether(self.table.name)
        self._open: dict[str, tuple[Any, TableWriter, Path]] = {}

    def _jsonl(self, split: str) -> Path:
        return self.folder / f"{self.format}_{self.name}{'' if split == 'train' else f'.{split}'}.jsonl"

    def _partition(self, split: str) -> str:
        return f"release_date={self.run.release_date}/split={split}"

    def write(self, examples: pl.DataFrame) -> None:
        examples = examples.with_columns(pl.lit(self.run.release_date).alias("release_date"))
        rows = shaped(self.table.name, examples)
        self.check.add(rows)
        for (split,), part in rows.partition_by("split", as_dict=True, maintain_order=True).items():
            lines, parquet, _ = self._writers(str(split))
            lines.write(json_lines(part.select(*FIELDS[self.format], *IDENTITY)))
            parquet.write(part.to_arrow())

    def _writers(self, split: str) -> tuple[Any, TableWriter, Path]:
        if split not in self._open:
            path = self.run.lake.staging / "lake" / self.table.name / self._partition(split) / "part-0.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet = TableWriter(path, self.table.file_layout)
            self._open[split] = (self._jsonl(split).open("wb"), parquet, path)
        return self._open[split]

    def close(self) -> None:
        for split in SPLITS:
            if split in self._open:
                lines, parquet, path = self._open[split]
                lines.close()
                parquet.__exit__(None)
                self.run.lake.adopt(self.table.name, self._partition(split), path, parquet.rows)
            else:
                self.run.lake.drop(self.table.name, self._partition(split))

    def files(self) -> dict[str, dict[str, Any]]:
        return {
            self._jsonl(split).name: {
                "format": self.format,
                "split": split,
                "rows": self._open[split][1].rows,
                "bytes": self._jsonl(split).stat().st_size,
                "sha256": _sha256(self._jsonl(split)),
            }
            for split in SPLITS
            if split in self._open
        }


def _excluded_counts(run: MillRun) -> dict[str, dict[str, int]]:
    partition = f"release_date={run.release_date}"
    files = run.lake.files("train__excluded", [partition])
    if not files:
        return {}
    counts = parquet.scan(files).group_by("format", "reason").len().sort("format", "reason").collect()
    excluded: dict[str, dict[str, int]] = {}
    for format, reason, rows in counts.iter_rows():
        excluded.setdefault(format, {})[reason] = rows
    return excluded


def publication_of_release(run: MillRun, exports: Path) -> Iterator[tuple[Path, Path]]:
    """Where the built release goes: nowhere if the day's newest holds the same, else under its day, or its day and a number."""
    built = run.lake.staging / "release"
    if not built.exists():
        return
    newest = latest_release(exports, run.release_date)
    if newest.exists() and _same_files(built, newest):
        return
    number = int(newest.suffix[1:] or 1) + 1 if newest.exists() else 1
    name = run.release_date.strftime("%Y%m%d")
    yield built, exports / (name if number == 1 else f"{name}.{number}")


def latest_release(exports: Path, day: date) -> Path:
    """The newest folder of a day's release: YYYYMMDD, or the highest of YYYYMMDD.2, .3, ..."""
    first = exports / day.strftime("%Y%m%d")
    further = [path for path in exports.glob(f"{first.name}.*") if path.suffix[1:].isdigit()]
    return max(further, key=lambda path: int(path.suffix[1:]), default=first)


def _same_files(one: Path, other: Path) -> bool:
    """Whether the records are the same; the manifest also names the code that wrote them, which is no content."""
    names = sorted(path.name for path in one.glob("*.jsonl"))
    return names == sorted(path.name for path in other.glob("*.jsonl")) and all(
        filecmp.cmp(one / name, other / name, shallow=False) for name in names
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
