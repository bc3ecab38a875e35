"""`gristmill evaluate`: how well a detector does on labels of your own. What it measures is in `evaluation`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dagster_project.config import OF_A_RUN

if TYPE_CHECKING:
    import polars as pl

    from dagster_project.systems.conversations.evaluation import Evaluation
    from dagster_project.systems.conversations.own_labels import OwnLabels

evaluate_app = typer.Typer(help="Measure a detector on labels of your own.", no_args_is_help=True)
LONGEST_SHOWN = 100
COLUMNS_OF_OWN_LABELS = (("precision", 10), ("recall", 9), ("f1", 9), ("calibration_error", 19))
MODEL: str = OF_A_RUN["similarity_model"].default
THRESHOLD: float = OF_A_RUN["similarity_threshold"].default


@evaluate_app.callback()
def evaluate() -> None:
    """Measure a detector on labels of your own."""


@evaluate_app.command()
def implicit(
    file: Annotated[
        Path,
        typer.Argument(help="JSONL: prev_query, prev_response, next_message, label; source and more if there are."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    mistakes: Annotated[int, typer.Option(min=0, help="How many of the surest mistakes to show.")] = 10,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Similarity above which a request is repeated.")
    ] = THRESHOLD,
    model: Annotated[str, typer.Option(help="wordllama, or package.module:factory of your own.")] = MODEL,
    own_labels: Annotated[
        int | None,
        typer.Option("--with-own-labels", min=1, help="Per source, what so many labels of your own would give."),
    ] = None,
) -> None:
    """Implicit feedback: precision, recall and F1 per label and source, a confusion matrix, the worst mistakes."""
    from dagster_project.columns.similarity import load_model
    from dagster_project.systems.conversations import evaluation
    from dagster_project.systems.conversations.own_labels import what_labels_give

    rows = evaluation.read_labelled(file)
    decisions = evaluation.judged(rows, load_model(model), threshold)
    sources, everything = evaluation.evaluate(decisions)
    given = what_labels_give(decisions, own_labels) if own_labels else {}
    if as_json:
        told = {"with_own_labels": {name: asdict(found) for name, found in given.items()}} if own_labels else {}
        typer.echo(json.dumps(evaluation.as_json(sources, everything) | told, indent=2))
        return
    for name, found in sources.items():
        _print(_shown(name), found)
    if len(sources) > 1:
        _print("all sources (what annotators were asked may differ: read the sources first)", everything)
    for name, of_source in given.items():
        _print_own_labels(_shown(name), of_source)
    if mistakes:
        _print_mistakes(evaluation.worst_mistakes(decisions, mistakes))


def _print(title: str, found: "Evaluation") -> None:
    typer.echo(f"{title}: {found.n:,} pairs" + (", labelled rejected or not" if found.binary else ""))
    typer.echo(f"  {'':<10}{'precision':>10}{'recall':>9}{'f1':>9}  {'95 % interval':<16}{'support':>8}")
    for name, scores in found.labels.items():
        if found.binary and name in ("accepted", "neutral"):
            continue  # the labels do not tell them apart
        interval = "{:.3f}..{:.3f}".format(*scores.f1_interval) if scores.f1_interval else "-"
        typer.echo(
            f"  {name:<10}{scores.precision:>10.3f}{scores.recall:>9.3f}{scores.f1:>9.3f}"
            f"  {interval:<16}{scores.support:>8,}"
        )
    names = list(found.confusion)
    typer.echo(f"  {'labelled':<10}" + "".join(f"{'-> ' + name:>13}" for name in names))
    for label, counts in found.confusion.items():
        if any(counts.values()):
            typer.echo(f"  {label:<10}" + "".join(f"{counts[name]:>13,}" for name in names))
    typer.echo("")


def _print_own_labels(title: str, found: "OwnLabels") -> None:
    typer.echo(
        f"{title}: a head fitted on {found.labels:,} labels ({found.rejected_labels:,} rejected), the other {found.judged:,} judged: "
        f"{'used' if found.is_used else 'not used'}, {found.reason.replace('_', ' ')}"
    )
    typer.echo(f"  {'rejected':<10}{'precision':>10}{'recall':>9}{'f1':>9}{'calibration error':>19}")
    for name, figures in (("rules", found.rules), ("with head", found.with_head)):
        shown = (f"{figures[key]:>{width}.3f}" for key, width in COLUMNS_OF_OWN_LABELS)
        typer.echo(f"  {name:<10}{''.join(shown)}")
    typer.echo("")


def _print_mistakes(wrong: "pl.DataFrame") -> None:
    typer.echo("the surest mistakes:" if wrong.height else "no mistakes")
    for row in wrong.iter_rows(named=True):
        typer.echo(
            f"  {row['feedback_confidence']:.2f} {row['feedback_status']}, labelled {row['label']}: {row['reason']}"
            f" ({_shown(row['source'])})"
        )
        for who, text in (
            ("asked", row["prev_query"]),
            ("answer", row["prev_response"]),
            ("then", row["next_message"]),
        ):
            typer.echo(f"    {who:<7} {_shown(text or '', from_end=who == 'answer')}")


def _shown(text: str, from_end: bool = False) -> str:
    from dagster_project.columns.printable import one_line

    line = one_line(text)
    if len(line) <= LONGEST_SHOWN:
        return line
    return "..." + line[-LONGEST_SHOWN:] if from_end else line[:LONGEST_SHOWN] + "..."
