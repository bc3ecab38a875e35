"""What a release does with the texts of records, each part by itself on one core, on records of 1 KB: masking, comparing, writing."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

from dagster_project.columns.alike import alike_form
from dagster_project.columns.control_tokens import has_control_tokens
from dagster_project.columns.language import languages_of_records
from dagster_project.columns.masking import masked, without_items
from dagster_project.columns.minhash import SIGNATURE, signatures, stored, unstored
from dagster_project.columns.templates import IDENTITY
from dagster_project.contracts.formats import FIELDS
from dagster_project.engines.stored_tables import shaped
from dagster_project.lake.releases import ReleaseName
from dagster_project.training.decontamination import EvaluationIndex
from dagster_project.training.export.asked import Asked
from dagster_project.training.export.exporting import export_release
from dagster_project.training.format_files import FormatFiles, Part
from dagster_project.training.near_duplicates import near_duplicates
from dagster_project.training.record_lines import RunWriter, merge
from tests.bench.generated_records import Writer, records
from tests.bench.measuring import told
from tests.training.export.release_of_tests import DAY, home_with, messages, record

RECORDS, ITEMS, ITEM_WORDS = 40_000, 100_000, 60
GROUP = 10_000  # records looked at together, about a week of them


def find_near_duplicates(rows: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """As a release does: forms and signatures of each group of days, kept as bytes; then all records compared."""
    kept = []
    for part in rows.iter_slices(GROUP):
        forms = [alike_form(part[name]) for name in ("prompt", "answer")]
        hashes = pl.DataFrame(forms).hash_rows().alias("form_hash")
        kept.append(
            part.select("id", "group", "place").with_columns(
                hashes, *(stored(signatures(form)).alias(form.name) for form in forms)
            )
        )
    sketches = pl.concat(kept)
    compared = sketches.select(
        "id",
        "place",
        "group",
        "form_hash",
        pl.lit("instruction").alias("format"),
        pl.lit(None, pl.String).alias("label"),
        *(
            pl.Series(f"{name}_signature", unstored(sketches[name]), dtype=SIGNATURE).alias(f"{name}_signature")
            for name in ("prompt", "answer")
        ),
    )

    def fetched(group: int, ids: pl.Series) -> pl.DataFrame:
        return rows.filter(pl.col("group") == group, pl.col("id").is_in(ids.implode())).select(
            "id", "prompt", "answer", pl.lit(None, pl.String).alias("rejected")
        )

    found = near_duplicates(compared, fetched, folder)
    return found


def decontamination(rows: pl.DataFrame) -> None:
    """A hundred items are prompts of records."""
    writer = Writer(seed=8)
    items = pl.concat([rows["prompt"].head(100), writer.texts(writer.draw(ITEMS - 100, ITEM_WORDS))])
    items = items.to_frame("text").with_row_index("number").select(pl.format("set:{}", "number").alias("item"), "text")
    made: list[EvaluationIndex] = []
    told("evaluation items indexed", ITEMS, lambda: made.append(EvaluationIndex(items)))
    fields = pl.concat(
        rows.select("id", pl.col(name).alias("text"), pl.lit(name == "prompt").alias("is_asked"))
        for name in ("prompt", "answer")
    ).sort("id", maintain_order=True)
    told("records looked up among 100,000 items (T1)", rows.height, lambda: made[0].contaminated(fields), 15_000)


def export(rows: pl.DataFrame, folder: Path) -> None:
    """The same records as the release's writer takes them, to files of lines and a table, and as one target's lines."""
    told_as = [
        record("instruction", number, instruction=prompt, output=answer, id=id)
        | {"messages": messages(("user", prompt), ("assistant", answer))}
        for number, (id, prompt, answer) in enumerate(rows.select("id", "prompt", "answer").iter_rows())
    ]
    lake = home_with(folder, "instruction", told_as)
    whole = shaped("train__instruction", pl.DataFrame(told_as, infer_schema_length=None))
    groups = [part.sort("id") for part in whole.iter_slices(GROUP)]

    def release() -> None:
        files = FormatFiles(lake, "instruction", ReleaseName(DAY))
        with RunWriter(folder / "runs") as lines:
            for group in groups:
                written = lines.write(group.select(*FIELDS["instruction"], *IDENTITY))
                files.write(Part("instruction", "train", group.to_arrow(), written))
        files.close()
        merge(files.runs["train"], folder / "release.jsonl")

    def exported(out: str) -> Path:
        export_release(lake, Asked("instruction", "openai"), folder / out)
        return folder / out / "train.jsonl"

    release()
    least = told(
        "MB of lines, and their table, by the release's writer (T4)",
        _megabytes(folder / "release.jsonl"),
        release,
        unit=" MB",
    )
    told("MB exported for OpenAI (T9)", _megabytes(exported("first")), lambda: exported("again"), least, " MB")


def _megabytes(file: Path) -> float:
    return file.stat().st_size / 1e6


def main() -> None:
    rows = records(RECORDS).with_row_index("place").with_columns(group=pl.col("place").cast(pl.Int64) // GROUP)
    size = rows.select(pl.sum_horizontal(pl.col("prompt", "answer").str.len_bytes()).sum()).item()
    print(f"    {rows.height:,} records of {size / rows.height:,.0f} bytes", flush=True)
    parts = list(rows.select("prompt", "answer").iter_slices(GROUP))
    sides = [part[name] for part in parts for name in part.columns]
    searched: list[tuple[str, float, Callable[[], object], float, str]] = [
        ("MB searched for secrets, none found (T8)", size / 1e6, lambda: [*map(without_items, sides)], 100, " MB"),
        (
            "MB of records masked, nothing found (T8)",
            size / 1e6,
            lambda: [masked(part, part.columns) for part in parts],
            100,
            " MB",
        ),
        ("MB searched for control tokens (T8)", size / 1e6, lambda: [*map(has_control_tokens, sides)], 0, " MB"),
        (
            "records whose language is told (T4)",
            rows.height,
            lambda: [languages_of_records(part["prompt"], part["answer"]) for part in parts],
            0,
            "",
        ),
    ]
    masked(parts[0].head(10), parts[0].columns)  # compiles the patterns, loads the model
    has_control_tokens(sides[0].head(10))
    languages_of_records(sides[0].head(10), sides[1].head(10))
    for what, count, work, least, unit in searched:
        told(what, count, work, least, unit)
    with tempfile.TemporaryDirectory() as folder:
        find_near_duplicates(rows.head(100), Path(folder))  # imports
        told(
            "records sketched and compared (T6)", rows.height, lambda: find_near_duplicates(rows, Path(folder)), 20_000
        )
        decontamination(rows)
        export(rows, Path(folder))


if __name__ == "__main__":
    main()
