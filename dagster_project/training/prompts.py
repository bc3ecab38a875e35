"""Which prompts belong together, and the split of each (T3): the components of all candidates' prompts, kept as `core__prompts`.

Only keys are known of most; the texts of distinct prompts are read again here, because how alike they are no key can tell.
"""

import hashlib
import json
from collections.abc import Iterator

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.columns.alike import alike_form, longest_sentences
from dagster_project.contracts import TABLES
from dagster_project.contracts.formats import FORMATS
from dagster_project.engines import queries, reading
from dagster_project.engines.kept_days import grouped
from dagster_project.engines.stored_tables import store
from dagster_project.engines.workers import in_order
from dagster_project.lake import parquet
from dagster_project.lake.releases import record_files
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.training.alike_prompts import Means
from dagster_project.training.components import Components, components
from dagster_project.training.kept_releases import pinned_releases
from dagster_project.training.source_texts import SourceTexts

TABLE, TEMPLATES = "core__prompts", "core__template_sentences"
PROMPTS, EXCHANGES = "release__prompts", "release__exchanges"
GROUP_ROWS = 50_000  # prompts whose texts are in memory together
GROUPS = "prompt groups"  # in the catalogue: by what code `alike_group` was found


def make_prompts(run: MillRun) -> list[Made]:
    """All prompts anew if anything about them changed; what is known of older ones shortens the search, and changes nothing."""
    inputs = prompts_inputs(run)
    if not run.makes_release or run.lake.catalog.inputs.get(TABLE) == inputs:
        return [Made(TABLE, is_current=True), Made(TEMPLATES, is_current=True)]
    found = found_components(run)
    kinds = found.crossing.sort("kind").unique("prompt_key", keep="first", maintain_order=True)
    told = found.prompts.join(kinds.rename({"kind": "crossing"}), on="prompt_key", how="left").sort("prompt_key")
    store(run.lake, TABLE, [told])
    store(run.lake, TEMPLATES, [found.template_sentences.to_frame("sentence")])
    run.lake.catalog.inputs[TABLE] = inputs
    run.lake.catalog.inputs[GROUPS] = _code(run)
    run.report(TABLE, told.height)
    moved = told.filter(pl.col("own_split") != "train", pl.col("split") == "train").height
    return [Made(TABLE, told={"moved": moved, **found.templates}), Made(TEMPLATES)]


def found_components(run: MillRun) -> Components:
    """The components as they are now."""
    limit = run.config.memory_limit_mb
    rows = queries.fetch(run.lake, PROMPTS, run.params, limit)
    exchanges = queries.fetch(run.lake, EXCHANGES, run.params, limit)
    is_cut_back = run.config.split_by == "prompt"  # else what crosses is told by whole components
    run.lake.staging.mkdir(parents=True, exist_ok=True)
    means = Means(run.lake.staging, run.config.worker_count, run.check_stop)
    return components(_with_texts(run, rows), exchanges, _known(run), pinned_prompts(run), is_cut_back, means)


def prompts_inputs(run: MillRun) -> str:
    asked = [queries.query(name) for name in (PROMPTS, EXCHANGES)]
    pins = pinned_releases(run.lake.home) if run.config.eval_set == "pin" else []
    parts = {
        "code": _code(run),
        "queries": [query.hash for query in asked],
        "as_of": run.as_of.isoformat(),
        "tables": {name: run.lake.versions(name) for query in asked for name in query.inputs},
        "pins": [str(name) for name in pins],
        "split_by": run.config.split_by,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _code(run: MillRun) -> str:
    return f"{code_identity(__name__)} {TABLES[TABLE].digest} {run.config.mask_allow}"


def _known(run: MillRun) -> pl.DataFrame | None:
    """What the last publication knows of prompts, if the same code found it."""
    lake = run.lake
    if lake.published.inputs.get(GROUPS) != _code(run):
        return None
    return reading.columns(lake, TABLE, "prompt_key", "alike_group")


def _with_texts(run: MillRun, rows: pl.DataFrame) -> pl.DataFrame:
    """Prompts with their alike form and longest sentence; some days are read at a time."""
    texts = SourceTexts(run.lake, run.config.mask_allow)

    def work(part: pl.DataFrame) -> pl.DataFrame:
        read = texts.of_examples if part["is_distilled"][0] else texts.of_feedback
        found = read(sorted(set(part["event_date"])), part, ["query"])
        return found.select(
            "prompt_key",
            alike_form(found["query"]).alias("form"),
            longest_sentences(found["query"]).alias("sentence"),
            "own_split",
        )

    found = list(in_order(work, _by_days(rows), run.config.worker_count, run.check_stop))
    empty = pl.DataFrame(schema=dict.fromkeys(("prompt_key", "form", "sentence", "own_split"), pl.String))
    return pl.concat([empty, *found])


def _by_days(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows of one kind and some days together."""
    for (_,), kind in sorted(rows.partition_by("is_distilled", as_dict=True).items()):
        by_day = {day: some for (day,), some in kind.partition_by("event_date", as_dict=True).items()}
        for days in grouped(sorted(by_day), lambda day, found=by_day: found[day].height, GROUP_ROWS):
            yield pl.concat([by_day[day] for day in days])


def pinned_prompts(run: MillRun) -> pl.DataFrame:
    """`prompt_key` and `split` of what pinned releases evaluate with, if those stay for evaluation."""
    nothing = pl.DataFrame(schema={"prompt_key": pl.String, "split": pl.String})
    if run.config.eval_set != "pin":
        return nothing
    files = [
        file
        for name in pinned_releases(run.lake.home)
        for format in FORMATS
        for split, file in record_files(run.lake, f"train__{format}", name).items()
        if split in ("validation", "test")
    ]
    found = pl.concat([nothing, *(parquet.read(file, columns=["prompt_key", "split"]) for file in files)])
    return found.sort("split", descending=True).unique("prompt_key", keep="first", maintain_order=True)
