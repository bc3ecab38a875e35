"""What stands in the warehouse alone: views in an analyst's words, each a query in sql/serving, and the dictionary of all columns."""

import polars as pl

from dagster_project.contracts.meaning import Meaning, count, flag, fraction, interval, long_text, moment, text, word
from dagster_project.contracts.table import Table

DICTIONARY = Table(
    "data_dictionary",
    "One column of a table of this warehouse, or (without a column) the table itself: what it is and how to ask it.",
    ("schema", "table", "column"),
    "schema table column? place type? comment unit? grain? example?",
    own={
        "schema": word("main, or where the plumbing is: raw, core or train"),
        "table": word("the table or view; every one can be asked by this name alone"),
        "column": text("the column; null where the row is about the table as a whole"),
        "place": count("place of the column in its table; 0 where the row is about the table"),
        "type": word("type of the column in this warehouse; null of a table"),
        "comment": text("what the column means in this table, or what one row of the table is"),
        "unit": word("what it is counted or measured in, or its range; null where it is a text or a table"),
        "grain": text("the columns that tell one row of the table from all others; null of a column"),
        "example": text("a query that asks the table; null of a column, or where there is none"),
    },
)
ANALYSTS: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "complaints",
            "One negative signal with what was asked, answered and said, secrets and personal data masked.",
            ("signal_id",),
            """signal_id system kind event_date occurred_at tenant_id? workspace_id? domain? session_id? user_id? answer_ref
            is_explicit confidence weight problem? question? answer? said_by_user? better_answer?""",
            own={
                "problem": text(
                    "what kind of complaint: error type of a correction, flag type, how a turn was rejected, error "
                    "categories of a session; null where nothing tells"
                ),
                "question": long_text("what the user had asked, masked; null where the source keeps no text"),
                "answer": long_text("what the assistant had answered, masked; null where the source keeps no text"),
                "said_by_user": long_text("what the user said about it, masked; null where they just pressed a button"),
                "better_answer": long_text("the correction or the preferred answer, masked; null without one"),
            },
            said={
                "domain": "what the answer is about; null where its system does not tell, which feedback alone does",
                "event_date": "day on which the complaint was made, UTC",
                "occurred_at": "when the complaint was made (UTC)",
                "user_id": "the person who complained; null where unknown",
                "session_id": "the session or conversation, by its system's own key; null where unknown",
                "tenant_id": "the customer; null where its system does not tell, which sessions and reactions do",
                "workspace_id": "the customer's workspace; null but for sessions",
            },
        ),
        Table(
            "releases",
            "One format and split of one training release: how many records it has.",
            ("release", "format", "split"),
            "release release_date is_newest format split record_count mean_weight",
            own={
                "is_newest": flag("it is the newest of all releases"),
                "record_count": count("records of this format in this split"),
                "mean_weight": fraction("mean training weight of these records"),
                "split": word("train, validation, test or augmentation"),
            },
        ),
        Table(
            "training_examples",
            "One exported training record of any format and release.",
            ("release", "id"),
            """format id content_id source origin_ids prompt_key split quality_weight tier domain release release_date context?
            prompt answer worse_answer? label?""",
            own={
                "answer": long_text("what should be answered: output, chosen or completion"),
                "worse_answer": long_text("the rejected answer of a pair; null where it is no pair"),
                "split": word("which part of the release it is in: train, validation, test or augmentation"),
            },
            said={"label": "whether the answer was rated up; null but in the format unpaired"},
        ),
        Table(
            "training_exclusions",
            "One candidate that did not leave in the newest release of a day, with the one reason.",
            ("release", "id"),
            "release release_date is_newest id format source origin_ids reason duplicate_of? detail? quality_weight prompt_key",
            own={"is_newest": flag("it is the newest of all releases")},
        ),
        Table(
            "workspaces",
            "One workspace of a customer: its AI sessions and how they were rated.",
            ("tenant_id", "workspace_id"),
            """tenant_id workspace_id workspace_name? first_day last_day session_count positive_count negative_count rated_count
            positive_rate? positive_rate_low? positive_rate_high?""",
            own={
                "workspace_name": text("name of the workspace; null where the source has none"),
                "first_day": Meaning(pl.Date, "day of its first session, UTC"),
                "last_day": Meaning(pl.Date, "day of its last session, UTC"),
                "session_count": count("its sessions"),
                "positive_count": count("sessions rated positive"),
                "negative_count": count("sessions rated negative"),
                "rated_count": count("positive_count + negative_count"),
                "positive_rate": fraction("positive_count / rated_count; null without either"),
                **interval("positive_rate", "rated_count"),
            },
        ),
        Table(
            "restatements",
            "One figure of a whole day that was published otherwise before: what it was, what it is, and why.",
            ("metric", "entry"),
            """metric entry restated_as_of previous_as_of? date tenant_id? workspace_id? domain? column old_value? new_value?
            why""",
            own={
                "metric": word("the daily table whose figure changed"),
                "entry": count("number of the entry in its log, which only grows"),
                "restated_as_of": moment("as_of of the publication that restated the day"),
                "previous_as_of": moment("as_of of the publication before that one; null where the change was refused"),
                "date": Meaning(pl.Date, "day whose figure changed, UTC"),
                "column": word("which figure changed"),
                "old_value": text("what was published; null where the row was not there or had none"),
                "new_value": text(
                    "what was published instead; where refused, what was not; null where the row is gone"
                ),
                "why": word(
                    "what changed, joined by +. Sessions: late_feedback, changed_feedback, vanished_feedback, new_session, "
                    "vanished_session, changed_session, sample_rate, rules, refused. Others: new_rows, vanished_rows, "
                    "changed_rows (of that day), other_days (a later voice, message or review), rules"
                ),
            },
            said={
                "tenant_id": "the customer; null where the figure is of all",
                "workspace_id": "the customer's workspace; null where the figure is of all",
                "domain": "domain the figure is of; null where it is of all",
            },
        ),
        DICTIONARY,
    )
}


def unit_of(column: str, meaning: Meaning) -> str | None:
    """What a column is measured in, as far as its type and range tell."""
    if meaning.dtype == pl.Date:
        return "UTC day"
    if isinstance(meaning.dtype, pl.Datetime):
        return "UTC"
    if "seconds since 1970" in meaning.description:
        return "seconds"
    if meaning.dtype == pl.Boolean:
        return "true or false"
    if meaning.dtype.is_numeric() and meaning.least is not None and meaning.most is not None:
        return f"{meaning.least:g}..{meaning.most:g}"
    return "count" if column.endswith(("_count", "_sessions", "_ratings")) else None
