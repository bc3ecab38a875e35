"""A release: JSONL files per format and split, a manifest and a dataset card, written once (T3-T5).

Built whole under staging; the run's commit renames the folder into place.
"""

import contextlib
import filecmp
import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from dagster_project.code_identity import code_identity, pipeline_identity
from dagster_project.columns.templates import IDENTITY, SPLITS
from dagster_project.contracts import TABLES
from dagster_project.contracts.formats import FIELDS, FORMATS
from dagster_project.engines import reading
from dagster_project.engines.stored_tables import shaped, without_long_texts
from dagster_project.engines.workers import in_order
from dagster_project.lake.releases import EXPORTS, ReleaseName, make_way, newest_of
from dagster_project.run.made import Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.distillation import source as distillation
from dagster_project.training.anonymised_export import AnonymisedExport, write_files
from dagster_project.training.anonymised_weeks import KeptWeeks
from dagster_project.training.dataset_card import dataset_card
from dagster_project.training.dataset_info import dataset_info
from dagster_project.training.examples import ENTRIES, SOURCES, Dealt, Masks, Records, Told
from dagster_project.training.format_files import FormatFiles, Part
from dagster_project.training.kept_traits import DISTILLED, FEEDBACK
from dagster_project.training.leak_proof import prove
from dagster_project.training.leaving import candidate_counts, leaving, made_from
from dagster_project.training.prompts import TABLE as PROMPTS
from dagster_project.training.prompts import TEMPLATES
from dagster_project.training.record_figures import SCHEMA, RecordFigures, tally
from dagster_project.training.record_lines import RunWriter, merge

TRAITS = (FEEDBACK, DISTILLED)
CANDIDATES_ADD_UP = Claim("candidates_add_up", "candidates = exported + excluded (G3)")
NOTHING_LEAKS = Claim(
    "nothing_leaks", "nothing for evaluation is known to the training side, by the files themselves (T3)"
)
NO_LEAK = (  # merely counted
    "training_prompts",
    "evaluation_prompts",
    "compared_prompts",
    "training_contexts",
    "template_sentence_prompts",
)


def make_release(run: MillRun) -> list[Made]:
    """Build the release unless what it is made from is unchanged, and count what became of every candidate.

    A run that makes none leaves those there are, and their sums were right when they were made (T5, G3).
    """
    if not run.makes_release:
        held = tuple(Outcome(claim, True) for claim in (CANDIDATES_ADD_UP, NOTHING_LEAKS))
        return [Made(f"train__{format}", True, outcomes=held) for format in FORMATS]
    lake, inputs = run.lake, release_inputs(run)
    is_current, found = lake.catalog.inputs.get("release") == inputs, {}
    if not is_current:
        started = time.process_time()
        found = build_release(run)["proof"]
        lake.catalog.inputs["release"] = inputs
        run.release_cpu_seconds = time.process_time() - started
    counted, excluded = candidate_counts(run), _excluded_counts(run)
    return [
        _of_format(run, format, counted.get(format, 0), sum(excluded.get(format, {}).values()), is_current, found)
        for format in FORMATS
    ]


def release_inputs(run: MillRun) -> str:
    """What the release of this as_of is made from, as a hash (G12)."""
    lake, partition = run.lake, f"release_date={run.release_date}"
    parts = {
        "candidates": made_from(run),
        "excluded": dict(lake.versions("train__excluded")).get(partition),
        "texts": [lake.versions(table) for table in (ENTRIES, SOURCES, *distillation.DATED)],
        "code": code_identity(__name__),
        "anonymised": lake.catalog.inputs.get("train__anonymised"),
        "masks": [run.config.mask, run.config.mask_allow],
        "release": partition,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _of_format(
    run: MillRun, format: str, candidates: int, excluded: int, is_current: bool, proof: Mapping[str, int]
) -> Made:
    """What became of the candidates of a format (G3); and what the proof found, which is about all formats together."""
    table, partition = f"train__{format}", f"release_date={run.release_date}/"
    exported = sum(file.rows for name, file in run.lake.partitions(table).items() if name.startswith(partition))
    sums = {"candidates": candidates, "exported": exported, "excluded": excluded}
    leaks = {name: count for name, count in proof.items() if count and name not in NO_LEAK}
    outcomes = (
        Outcome(CANDIDATES_ADD_UP, candidates == exported + excluded, sums),
        Outcome(NOTHING_LEAKS, not leaks, leaks),
    )
    return Made(table, is_current, sums, outcomes)


def build_release(run: MillRun) -> dict[str, Any]:
    """Write the release and the train__* partitions to staging; returns what the manifest says.

    Where the day's newest release holds the same records, it stays the newest (T5), and only the partitions are written anew.
    Groups of days go to the workers; what they tell is noted here, in order, so that no byte depends on their number.
    """
    newest, workers = newest_of(run.lake.home, run.release_date), run.config.worker_count
    expected = newest or ReleaseName(run.release_date)
    folder, spool = run.lake.staging / "release", run.lake.staging / "spool"
    for path in (folder, spool):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    figures = RecordFigures()
    writers = {format: FormatFiles(run.lake, format, expected) for format in FORMATS}
    dealt = Dealt(run.lake, spool, leaving(run), Masks(run.config.mask, run.config.mask_allow))
    masked: Counter[str] = Counter()

    def note(encoded: "_Encoded") -> None:
        masked.update(encoded.told.masked)
        for format, rows in encoded.tallies:
            writers[format].check.add(rows)
            run.report(f"train__{format}", rows.height)
        figures.add(encoded.figures)
        for part in encoded.parts:
            writers[part.format].write(part)

    with contextlib.ExitStack() as stack:
        for writer in writers.values():
            stack.callback(writer.close)
        first = (
            partial(_encoded, expected, spool / f"lines.{group.number}", group.records) for group in dealt.groups()
        )
        for number, encoded in enumerate(in_order(_call, first, workers)):
            note(encoded)
            dealt.keep(number, encoded.told)
        late = (
            partial(_encoded, expected, spool / f"late.{number}", group)
            for number, group in enumerate(dealt.late_groups())
        )
        for encoded in in_order(_call, late, workers):
            note(encoded)
        for writer in writers.values():
            writer.check.finish()
    files = _write_lines(writers, folder, f"{run.release_date:%Y%m%d}", workers)
    proof = prove(folder, spool, _template_sentences(run), 4 * run.config.memory_limit_mb)
    anonymised = AnonymisedExport.of(KeptWeeks(run.lake), run.as_of, run.config.anonymity_k)
    files |= write_files(anonymised, folder)
    shutil.rmtree(spool, ignore_errors=True)
    manifest = {
        "release_date": str(run.release_date),
        "as_of": run.as_of.isoformat(),
        "config_hash": run.config.rules_hash(),
        "code_hash": pipeline_identity(),
        "files": files,
        "exported": figures.exported(),
        "figures": figures.by_format(),
        "excluded": _excluded_counts(run),
        "masked": {kind: masked[kind] for kind in run.config.mask},
        "near_duplicates": run.config.near_duplicates,
        "split_by": run.config.split_by,
        "eval_set": run.config.eval_set,
        "moved": _moved(run),
        "proof": proof.counts(),
        "unread_contexts": _unread_contexts(run),
        "anonymised": anonymised.summary(),
        "rights": {"licence": run.config.licence, "consent": run.config.consent},
    }
    is_same = newest is not None and _same_files(folder, run.lake.home / EXPORTS / str(newest))
    if newest and not is_same:
        make_way(run.lake, newest)
    for writer in writers.values():
        writer.adopt(newest.next if newest and not is_same else expected)
    if is_same:
        shutil.rmtree(folder)
        return manifest
    (folder / "README.md").write_text(dataset_card(manifest), encoding="utf-8")
    for name, told in (("dataset_info.json", dataset_info(manifest)), ("manifest.json", manifest)):
        (folder / name).write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return manifest


@dataclass(frozen=True)
class _Encoded:
    """What a worker makes of a group."""

    told: Told
    parts: list[Part]
    tallies: Records  # the records again, as far as they are checked
    figures: pl.DataFrame


def _call(work: Callable[[], _Encoded]) -> _Encoded:
    return work()


def _encoded(name: ReleaseName, path: Path, told: Callable[[], Told]) -> _Encoded:
    """The records of a group, encoded while their texts are in memory."""
    found, parts, tallies, figures = told(), [], [], [pl.DataFrame(schema=SCHEMA)]
    of_release = pl.lit(str(name)).alias("release"), pl.lit(name.day).alias("release_date")
    with RunWriter(path) as lines:
        for format, records in found.records:
            table = f"train__{format}"
            rows = shaped(table, records.with_columns(*of_release))
            figures.append(tally(format, rows))
            tallies.append((format, without_long_texts(TABLES[table], rows)))
            for (split,), part in rows.partition_by("split", as_dict=True, maintain_order=True).items():
                written = lines.write(part.select(*FIELDS[format], *IDENTITY))
                parts.append(Part(format, str(split), part.to_arrow(), written))
    return _Encoded(replace(found, records=[]), parts, tallies, pl.concat(figures))


def _write_lines(
    writers: Mapping[str, FormatFiles], folder: Path, name: str, workers: int
) -> dict[str, dict[str, Any]]:
    """The JSONL files, each by one worker, and what the manifest says of them."""
    files = [
        (format, split, folder / f"{format}_{name}{'' if split == 'train' else f'.{split}'}.jsonl", writer.runs[split])
        for format, writer in writers.items()
        for split in SPLITS
        if split in writer.runs
    ]
    written = in_order(lambda file: merge(file[3], file[2]), files, workers)
    return {
        path.name: {"format": format, "split": split, **asdict(entry)}
        for (format, split, path, _), entry in zip(files, written, strict=True)
    }


def _excluded_counts(run: MillRun) -> dict[str, dict[str, int]]:
    partition = f"release_date={run.release_date}"
    counts = (
        reading.scan(run.lake, "train__excluded", [partition])
        .group_by("format", "reason")
        .len()
        .sort("format", "reason")
        .collect()
    )
    excluded: dict[str, dict[str, int]] = {}
    for format, reason, rows in counts.iter_rows():
        excluded.setdefault(format, {})[reason] = rows
    return excluded


def _template_sentences(run: MillRun) -> list[str]:
    return reading.columns(run.lake, TEMPLATES, "sentence")["sentence"].to_list()


def _moved(run: MillRun) -> int:
    """Prompts that their own hash means for evaluation, and that are in train for those they belong together with (T3)."""
    prompts = reading.columns(run.lake, PROMPTS, "own_split", "split")
    return prompts.filter(pl.col("own_split") != "train", pl.col("split") == "train").height


def _unread_contexts(run: MillRun) -> int:
    return sum(
        reading.columns(run.lake, table, "is_context_parsed").select((~pl.col("is_context_parsed")).sum()).item()
        for table in TRAITS
    )


def standing_release(run: MillRun, new: ReleaseName | None) -> dict[str, Any]:
    """What the catalogue says of the newest release: `is_behind` where what it would be made from has changed since."""
    if run.makes_release:
        name = new or newest_of(run.lake.home, run.release_date)
        return {"name": str(name), "date": str(run.release_date)} if name else run.lake.catalog.release
    standing = {key: value for key, value in run.lake.catalog.release.items() if key != "is_behind"}
    is_behind = standing and release_inputs(run) != run.lake.catalog.inputs.get("release")
    return standing | ({"is_behind": True} if is_behind else {})


def _same_files(one: Path, other: Path) -> bool:
    """Whether the records are the same; the manifest also names the code that wrote them, which is no content."""
    names = sorted(path.name for path in one.glob("*.jsonl"))
    return names == sorted(path.name for path in other.glob("*.jsonl")) and all(
        filecmp.cmp(one / name, other / name, shallow=False) for name in names
    )
