"""What `responses` shows of answers that somebody flagged as harmful (F8): few, so their texts are compared when asked for."""

import polars as pl

from dagster_project.columns.text_keys import has_text, normal_answers, prompt_keys, thread_keys
from dagster_project.engines.reading import scan
from dagster_project.engines.stored_tables import store
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.feedback.keys import response_key
from dagster_project.systems.feedback.response_texts import ResponseTexts

TABLE, KEYS = "core__flagged_responses", "core__feedback_keys"


def make_flagged_responses(run: MillRun) -> list[Made]:
    """Flags of any time and status: which of them count is SQL."""
    flags = scan(run.lake, KEYS).filter(pl.col("flag_type") == "harmful").select(pl.col("response_id").unique())
    flagged = flags.collect(engine="streaming")["response_id"]
    told = ResponseTexts(run.lake).of(flagged).filter(has_text("query") & has_text("response"))
    store(run.lake, TABLE, [shown_answers(told).sort("response_id")])
    return [Made(TABLE)]


def shown_answers(responses: pl.DataFrame) -> pl.DataFrame:
    """The keys of answers as feedback on them would have: the prompt is the query, without a context."""
    prompts = prompt_keys(responses["query"], "").select("prompt_key")
    threads = thread_keys(prompts.with_columns(pl.lit(None, dtype=pl.String).alias("conversation_context")))
    return responses.select("response_id").with_columns(
        response_key(),
        threads.alias("thread_key"),
        normal_answers(responses["response"]).hash().reinterpret(signed=True).alias("answer_hash"),
    )
