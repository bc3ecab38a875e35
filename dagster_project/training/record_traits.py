"""What a release must know of the texts behind candidates, row by row (T1, T3, T6, T8): keys and marks, no text.

A row's texts play roles: what was `asked` (context and question), the `answer` that was given, the `better` one, the `note` on
what was wrong. A record is made of some of them, so everything is said per role, and queries put it together. Texts are looked
at as they leave, with secrets and personal data as their kinds (T8); only lengths are those of the source.
"""

from collections.abc import Callable, Mapping

import polars as pl

from dagster_project.columns.alike import alike_form
from dagster_project.columns.context_turns import exchanges, parsed
from dagster_project.columns.control_tokens import begins_with_role, has_control_tokens
from dagster_project.columns.language import languages_of_records
from dagster_project.columns.masking import without_items
from dagster_project.columns.minhash import signatures, stored
from dagster_project.columns.transcript_markers import USER
from dagster_project.contracts.train import ROLES
from dagster_project.training.decontamination import EvaluationIndex

TEXTS = ("context", "query", "answer", "better", "note")
MASKED_KEYS = ("prompt_key", "split", "thread_key", "answer_hash", "better_hash", "record_hash")
# What hides characters in JSON: encoders for the web write `+`, quotes and angle brackets so, others all but ASCII, or slashes.
HIDING_ESCAPE = r"(?s)\A\s*[\[{].*\\[u/]"
LEAST_ANSWER = 40  # characters: a shorter answer tells nothing when it stands in a context (T3) ...
LEAST_FORM = 8  # ... nor does one of which less is left in its alike form: a line of dashes is in many
BETWEEN = "\n\n"  # stands between a context and the question after it

Keys = Callable[[pl.DataFrame], pl.DataFrame]


def traits(
    rows: pl.DataFrame, keys: Keys, allow: tuple[str, ...] = (), evaluation: EvaluationIndex | None = None
) -> pl.DataFrame:
    """`rows` have origin_id, `TEXTS`, `is_better_taught` (the better answer is what a record teaches) and `is_correction` (by a user).

    `keys` gives the `MASKED_KEYS` of rows whose texts were masked; it is asked for those alone whose texts are not what they were.
    """
    revealed = _revealed(rows["context"])
    masked, said = _without_items(rows, revealed, allow)
    has_items = pl.select(
        pl.any_horizontal((masked[name] != rows[name]).fill_null(False) for name in TEXTS)
        | (said != revealed).fill_null(False)
    ).to_series()
    asked = masked.select(pl.concat_str("context", "query", separator=BETWEEN, ignore_nulls=True)).to_series()
    # a correction's output tells what was wrong, then what is right
    output = pl.when("is_correction").then(pl.concat_str("note", "better", separator=BETWEEN, ignore_nulls=True))
    told = {
        "asked": asked,
        **{role: masked[role] for role in ("answer", "better")},
        "note": masked.select(output.alias("note")).to_series(),
    }
    forms = {role: alike_form(texts) for role, texts in told.items()}
    target = pl.select(
        pl.when(masked["is_better_taught"]).then(masked["better"]).otherwise(masked["answer"])
    ).to_series()
    conversations = _conversations(masked)
    contexts = parsed(conversations["context"])
    found = {
        "language": _on_distinct(masked["query"], target),
        **{f"{role}_has_tokens": _has_tokens(masked, revealed, role) for role in ROLES},
        **{f"{role}_item": item for role, item in _items(masked, evaluation).items()},
        **{f"{role}_length": _length(rows, role) for role in ROLES},
        **{f"{role}_form": _form_hash(form) for role, form in forms.items()},
        **{f"{role}_signature": _signature(form) for role, form in forms.items()},
        "exchanges": _own_exchanges(
            alike_form(masked["query"]), *((masked[role], forms[role]) for role in ("answer", "better"))
        ),
        **_of_contexts(conversations, contexts, rows.height),
    }
    return pl.DataFrame(
        [rows["origin_id"], has_items.alias("has_items"), *_masked_keys(masked, has_items, keys)]
        + [series.alias(name) for name, series in found.items()]
    )


def _without_items(rows: pl.DataFrame, revealed: pl.Series, allow: tuple[str, ...]) -> tuple[pl.DataFrame, pl.Series]:
    """The rows with their texts masked, and what was revealed. All in one search, since one costs 0.1 s whatever the texts."""
    texts = [*(rows[name] for name in TEXTS), revealed]
    found = without_items(pl.concat([text.alias("text") for text in texts]), allow)
    parts = [found.slice(place * rows.height, rows.height) for place in range(len(texts))]
    return rows.with_columns(part.alias(name) for name, part in zip(TEXTS, parts[:-1], strict=True)), parts[-1]


def _masked_keys(masked: pl.DataFrame, has_items: pl.Series, keys: Keys) -> list[pl.Series]:
    """Null where nothing was masked: the row's own keys hold."""
    told = keys(masked.filter(has_items)).select(*MASKED_KEYS)
    places = has_items.arg_true()
    return [
        pl.Series(f"masked_{name}", [None], dtype=told[name].dtype)
        .new_from_index(0, masked.height)
        .scatter(places, told[name])
        if told.height
        else pl.Series(f"masked_{name}", [None], dtype=told[name].dtype).new_from_index(0, masked.height)
        for name in MASKED_KEYS
    ]


def _on_distinct(prompts: pl.Series, answers: pl.Series) -> pl.Series:
    """Languages, each distinct question and answer looked at once: people rate one answer many times."""
    both = pl.DataFrame({"prompt": prompts, "answer": answers})
    distinct = both.unique(maintain_order=True)
    told = distinct.with_columns(languages_of_records(distinct["prompt"], distinct["answer"]).alias("language"))
    return both.join(told, on=["prompt", "answer"], how="left", maintain_order="left", nulls_equal=True)["language"]


def _revealed(contexts: pl.Series) -> pl.Series:
    """What the turns of a conversation in JSON say where escapes hide it, as `\\u0040` does an @; null for all others."""
    places = contexts.str.contains(HIDING_ESCAPE).fill_null(False).arg_true()
    turns = parsed(contexts.gather(places))["turns"]
    said = turns.list.eval(pl.element().struct.field("content")).list.join(BETWEEN)
    return pl.Series([None], dtype=pl.String).new_from_index(0, len(contexts)).scatter(places, said)


def _has_tokens(masked: pl.DataFrame, revealed: pl.Series, role: str) -> pl.Series:
    if role == "asked":
        return pl.select(
            pl.any_horizontal(has_control_tokens(texts) for texts in (masked["query"], masked["context"], revealed))
        ).to_series()
    found = has_control_tokens(masked[role])
    return found if role == "note" else found | begins_with_role(masked[role])


def _length(rows: pl.DataFrame, role: str) -> pl.Series:
    names = ("context", "query") if role == "asked" else (role,)
    lengths = (pl.col(name).str.len_chars().cast(pl.Int64).fill_null(0) for name in names)
    return rows.select(pl.sum_horizontal(lengths).alias(f"{role}_length")).to_series()


def _items(masked: pl.DataFrame, evaluation: EvaluationIndex | None) -> Mapping[str, pl.Series]:
    """The item of an evaluation set in each role's text."""
    if evaluation is None:
        nothing = pl.Series([None], dtype=pl.String).new_from_index(0, masked.height)
        return dict.fromkeys(ROLES, nothing)
    numbered = masked.with_row_index("id")
    found = {}
    for role in ROLES:
        names = ("context", "query") if role == "asked" else (role,)
        texts = pl.concat(
            numbered.select("id", pl.col(name).alias("text"), pl.lit(role == "asked").alias("is_asked"))
            for name in names
        ).drop_nulls("text")
        if role == "asked":
            texts = pl.concat([texts, _said_before(numbered)])
        told = evaluation.contaminated(texts)
        found[role] = numbered.select("id").join(told, on="id", how="left", maintain_order="left")["item"]
    return found


def _said_before(numbered: pl.DataFrame) -> pl.DataFrame:
    """The turns of the conversation: in JSON no words stand beside each other that a line break or an escape is between."""
    has_context = numbered.filter(pl.col("context").is_not_null())
    turns = has_context.select("id", parsed(has_context["context"])["turns"]).explode("turns").unnest("turns")
    return turns.select("id", pl.col("content").alias("text"), (pl.col("role") == USER).alias("is_asked")).drop_nulls(
        "text"
    )


def _form_hash(forms: pl.Series) -> pl.Series:
    return pl.select(pl.when(forms.is_not_null()).then(forms.hash().reinterpret(signed=True))).to_series()


def _signature(forms: pl.Series) -> pl.Series:
    """Each distinct text once."""
    given = pl.DataFrame({"form": forms})
    distinct = given.drop_nulls().unique(maintain_order=True)
    told = distinct.with_columns(stored(signatures(distinct["form"])).alias("signature"))
    return given.join(told, on="form", how="left", maintain_order="left")["signature"]


def _conversations(masked: pl.DataFrame) -> pl.DataFrame:
    """The distinct contexts, with the rows they stand in."""
    numbered = masked.select("context").with_row_index("row").drop_nulls()
    return numbered.group_by("context", maintain_order=True).agg("row")


def _of_contexts(conversations: pl.DataFrame, contexts: pl.DataFrame, height: int) -> dict[str, pl.Series]:
    """`earlier_exchanges`, and `is_context_parsed`: of each distinct context once."""
    said = exchanges(contexts["turns"]).rename("said").to_frame().with_row_index("number")
    each = said.explode("said", empty_as_null=False).unnest("said")
    hashes = _exchange(alike_form(each["question"]), each["answer"], alike_form(each["answer"]))
    met = (
        each.select("number", hashes.alias("exchange"))
        .drop_nulls()
        .group_by("number")
        .agg(pl.col("exchange").unique().sort())
    )
    told = said.select("number").join(met, on="number", how="left", maintain_order="left")
    each_row = conversations.select("row").with_columns(told["exchange"], contexts["is_parsed"]).explode("row")
    rows = pl.DataFrame({"row": pl.int_range(height, dtype=pl.UInt32, eager=True)})
    joined = rows.join(each_row, on="row", how="left", maintain_order="left")
    return {
        "earlier_exchanges": joined["exchange"].fill_null([]),
        "is_context_parsed": joined["is_parsed"].fill_null(True),
    }


def _own_exchanges(questions: pl.Series, *answers: tuple[pl.Series, pl.Series]) -> pl.Series:
    told = pl.DataFrame([_exchange(questions, *answer).alias(str(n)) for n, answer in enumerate(answers)])
    return told.select(pl.concat_list(pl.all()).list.drop_nulls().list.unique().list.sort()).to_series()


def is_long_answer(answers: pl.Series, forms: pl.Series) -> pl.Series:
    """Whether an answer that stands in a context counts, by its text and its alike form."""
    return ((answers.str.len_chars() >= LEAST_ANSWER) & (forms.str.len_chars() >= LEAST_FORM)).fill_null(False)


def _exchange(questions: pl.Series, answers: pl.Series, forms: pl.Series) -> pl.Series:
    """The same for the same question and answer, by their forms; null where the answer is short."""
    told = pl.DataFrame({"question": questions.hash(), "answer": forms.hash()})
    is_long = is_long_answer(answers, forms)
    hashes = told.select(pl.struct("question", "answer").hash().reinterpret(signed=True)).to_series()
    return pl.select(pl.when(is_long).then(hashes)).to_series()
