"""Measure every rule of the detector on labelled conversations: `python -m dagster_project.systems.conversations.measure_rules FILE`.

Writes `rule_figures.json` (counts per rule and source, no texts) and prints how honest the confidences are: their expected
calibration error, and a reliability diagram, by five folds over dialogues, so that a row is judged by figures it is not in.
Run it after a change of any rule. The file's format is that of `gristmill evaluate implicit`, with `dialog` (rows of one
share it) where there is one.

The figures the project ships with come from five public sets, whose rows are not in the repository: the human feedback of
UKPLab/emnlp2023-learning-from-free-text-human-feedback (`UKP-*`, as one source), google-research-datasets/dstc8-schema-guided-dialogue
(`SGD-test-acts`), Clemenciah/AB-ReDial, dbd-challenge/dbdc3 (`DBDC3-en-eval`) and themehulpatwari/llm-implicit-feedback (`IFLLM`).
"""

import argparse
import hashlib
import json
from pathlib import Path

import polars as pl

from dagster_project.columns.similarity import load_model
from dagster_project.systems.conversations.evaluation import is_right, judged, read_labelled
from dagster_project.systems.conversations.implicit_confidence import FIGURES, Figure, figures

POOLED = {"UKP-": "UKP"}  # sources whose names begin so are one
FOLDS = 5
BINS = 10


def measured(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with what the detector says of them, whether that is right, and the fold of their dialogue."""
    found = judged(rows, load_model("wordllama"))
    source = pl.col("source")
    for begin, name in POOLED.items():
        source = pl.when(pl.col("source").str.starts_with(begin)).then(pl.lit(name)).otherwise(source)
    folds = [int(hashlib.sha256(f"fold {dialog}".encode()).hexdigest(), 16) % FOLDS for dialog in found["dialog"]]
    return found.with_columns(is_right(found).alias("is_right"), source.alias("source"), pl.Series("fold", folds))


def counts(rows: pl.DataFrame) -> dict[str, dict[str, tuple[int, int]]]:
    """Per rule and source how often it was right, and how often it decided."""
    grouped = rows.group_by("reason", "source").agg(pl.col("is_right").sum(), pl.len()).sort("reason", "source")
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for reason, source, right, n in grouped.iter_rows():
        found.setdefault(reason, {})[source] = (right, n)
    return found


def cross_judged(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the confidence their rule has by the rows of the other folds."""
    parts = []
    for fold in range(FOLDS):
        known = figures(counts(rows.filter(pl.col("fold") != fold)))
        held_out = rows.filter(pl.col("fold") == fold)
        confidence = {reason: figure.confidence for reason, figure in known.items()}
        parts.append(
            held_out.with_columns(
                pl.col("reason").replace_strict(confidence, default=0.5, return_dtype=pl.Float64).alias("confidence")
            )
        )
    return pl.concat(parts)


def reliability(rows: pl.DataFrame) -> pl.DataFrame:
    """Per tenth of confidence what was claimed and what was so."""
    tenth = (pl.col("confidence") * BINS).floor().clip(upper_bound=BINS - 1).cast(pl.Int64).alias("bin")
    return (
        rows.group_by(tenth)
        .agg(pl.len().alias("n"), pl.col("is_right").sum().alias("right"), pl.col("confidence").mean())
        .sort("bin")
    )


def calibration_error(rows: pl.DataFrame) -> float:
    """How far the claims are off on average: each tenth weighs as many rows as it has."""
    bins = reliability(rows)
    off = (bins["right"] - bins["confidence"] * bins["n"]).abs().sum()
    return float(off / max(rows.height, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure every rule of the detector of implicit feedback.")
    parser.add_argument("files", nargs="+", type=Path, help="labelled conversations, JSONL")
    parser.add_argument("--print-only", action="store_true", help="leave rule_figures.json as it is")
    asked = parser.parse_args()
    rows = measured(pl.concat([read_labelled(path) for path in asked.files]))
    found = counts(rows)
    if not asked.print_only:
        lines = ",\n".join(f"{json.dumps(reason)}: {json.dumps(sources)}" for reason, sources in found.items())
        FIGURES.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print("| Rule | n | Precision | 90 % interval | Confidence |\n|---|---|---|---|---|")
    for reason, figure in figures(found).items():
        print(_row(reason, figure))
    crossed = cross_judged(rows)
    claims = crossed.filter(pl.col("feedback_status") != "neutral")
    for title, some in (("all", crossed), ("rejected and accepted", claims)):
        print(f"\nExpected calibration error, {title}: {calibration_error(some):.3f} ({some.height:,} rows)")
    for (source,), some in crossed.group_by("source", maintain_order=True):
        print(f"  {source}: {calibration_error(some):.3f} ({some.height:,} rows)")
    print("\n| Claimed | n | Mean claim | Right |\n|---|---|---|---|")
    for tenth, n, right, confidence in reliability(claims).iter_rows():
        print(f"| {tenth / BINS:.1f}..{(tenth + 1) / BINS:.1f} | {n} | {confidence:.2f} | {right / n:.2f} |")


def _row(reason: str, figure: Figure) -> str:
    precision = "-" if figure.precision is None else f"{figure.precision:.2f}"
    return f"| `{reason}` | {figure.n} | {precision} | {figure.low:.2f}..{figure.high:.2f} | {figure.confidence:.2f} |"


if __name__ == "__main__":
    main()
