"""Evaluation records whose answer stands in the context of a training record (T3): a model would have read it. Found through the
beginnings of answers, then word for word."""

from collections.abc import Callable, Iterator

import polars as pl

from dagster_project.columns.alike import alike_form
from dagster_project.columns.context_turns import parsed
from dagster_project.training.record_traits import LEAST_ANSWER, LEAST_FORM, is_long_answer
from dagster_project.training.source_texts import SourceTexts

DAYS_TOGETHER = 7
CONTEXT_BYTES = 1 << 26  # of contexts looked through at once: to make the list of beginnings ready takes a while
RecordTexts = Callable[[SourceTexts, pl.DataFrame], pl.DataFrame]


def told_in_contexts(rows: pl.DataFrame, texts: SourceTexts, record_texts: RecordTexts) -> pl.Series:
    """The ids of such evaluation records. `rows`: what is left of candidates, with is_evaluation and where their texts are."""
    nothing = pl.Series("id", [], dtype=pl.String)
    answers = pl.concat(
        [pl.DataFrame(schema={"id": pl.String, "form": pl.String}), *_answers(rows, texts, record_texts)]
    )
    if answers.is_empty():
        return nothing
    answers = answers.with_columns(pl.col("form").str.head(LEAST_ANSWER).alias("begin"))
    begins = answers["begin"].unique().sort().to_list()
    distinct = answers.select("form", "begin").unique()
    found = [nothing]
    for contexts in _contexts(rows, texts):
        met = contexts.with_columns(
            pl.col("form").str.extract_many(begins, overlapping=True).list.unique().alias("begin")
        ).explode("begin", keep_nulls=False)
        pairs = met.rename({"form": "context"}).join(distinct, on="begin")
        told = pairs.filter(pl.col("context").str.contains(pl.col("form"), literal=True)).select("form").unique()
        found.append(answers.join(told, on="form", how="semi")["id"])
    return pl.concat(found).unique()


def _answers(rows: pl.DataFrame, texts: SourceTexts, record_texts: RecordTexts) -> Iterator[pl.DataFrame]:
    """The long answers of evaluation records, in their alike form; of a correction the right one."""
    for part in _by_days(rows.filter("is_evaluation")):
        told = record_texts(texts, part)
        if "correction" in told.columns:
            own = pl.when(pl.col("source") == "feedback_correction").then("correction").otherwise("answer")
            told = told.with_columns(own.alias("answer"))
        for name in ("answer", "rejected"):
            given = told if name == "answer" else told.filter(pl.col("format") == "preference")
            forms = given.select("id", alike_form(given[name]).alias("form"))
            yield forms.filter(is_long_answer(given[name], forms["form"]))


def _contexts(rows: pl.DataFrame, texts: SourceTexts) -> Iterator[pl.DataFrame]:
    """The distinct contexts of training records, many at once."""
    waiting, size = [], 0
    for part in _by_days(rows.filter(~pl.col("is_evaluation"))):
        read = texts.of_examples if part["is_distilled"][0] else texts.of_feedback
        found = read(sorted(set(part["event_date"])), part, ["context"])["context"].drop_nulls().unique()
        if not len(found):
            continue
        said = parsed(found)["turns"].list.eval(pl.element().struct.field("content")).list.join(" ")
        forms = alike_form(pl.concat([said, found])).unique()
        waiting.append(forms.filter(forms.str.len_chars() >= LEAST_FORM).to_frame("form"))
        size += int(found.str.len_bytes().sum())
        if size >= CONTEXT_BYTES:
            yield pl.concat(waiting).unique()
            waiting, size = [], 0
    if waiting:
        yield pl.concat(waiting).unique()


def _by_days(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows of one system and some days together."""
    if rows.is_empty():
        return
    first = rows["event_date"].min()
    group = ((pl.col("event_date") - first).dt.total_days() // DAYS_TOGETHER).alias("days")
    parts = rows.with_columns(group).partition_by("is_distilled", "days", as_dict=True)
    for _, part in sorted(parts.items(), key=lambda item: item[0]):
        yield part.drop("days")
