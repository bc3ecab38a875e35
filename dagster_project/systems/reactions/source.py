"""Reaction artifacts (seed 3): what `conv_messages` holds of them, and how a row becomes one of ours.

Two parts of one table are read: the reactions, and of the turn logs just which turns have one. Everything else in it,
chat messages and embeddings, is never selected. Only what depends on one row lives here; what it must be is its
schema's, which reaction counts is `core__reactions.sql`'s.
"""

from functools import lru_cache
from urllib.parse import quote

import polars as pl

from dagster_project.columns.instants import instant, repair_milliseconds
from dagster_project.columns.json_columns import first_strings_after, json_kinds
from dagster_project.columns.words import filled, word
from dagster_project.contracts.source_table import TableSpec
from dagster_project.systems.reactions import reaction_text

REACTION_TAGS = ("artifact:turn.log.reaction", "kind:turn.log.reaction")  # the second is a historical mistake
TURN_LOG_TAG = "artifact:turn.log"
PLAIN_NAME = "^[A-Za-z0-9_.~-]*$"  # which an address takes as it is
ALTERNATIVES = {"hosted_uri", "s3_uri", "track_id"}  # a table of one generation lacks some of them


def _has_tag(*tags: str) -> str:
    """SQL for SQLite, where tags are the JSON text of an array."""
    return "(" + " or ".join(f"instr(tags, '\"{tag}\"') > 0" for tag in tags) + ")"


def _overlaps(*tags: str) -> str:
    """SQL for Postgres, where they are an array; null is no tags."""
    return f"coalesce(tags::text[] && array[{', '.join(repr(tag) for tag in tags)}], false)"


_IS_REACTION = f"lower(trim(role)) = 'artifact' and {_has_tag(*REACTION_TAGS)}"
_IS_REACTION_POSTGRES = f"lower(btrim(role::text)) = 'artifact' and {_overlaps(*REACTION_TAGS)}"
_COLUMNS = {
    "id": "integer",
    "user_id": "id",
    "bundle_id": "id",
    "agent_id": "id",
    "conversation_id": "id",
    "message_id": "id",
    "role": "text",
    "text": "text",
    "hosted_uri": "text",
    "s3_uri": "text",
    "ts": "time",
    "ttl_days": "integer",
    "user_type": "text",
    "tags": "list",
    "turn_id": "id",
    "track_id": "id",
}
_NEVER_READ = ("embedding", "search_tsv", "anchors_text")
_OF_A_TURN_LOG = ("id", "user_id", "conversation_id", "ts", "tags", "turn_id")
ROWS = TableSpec(
    system="reactions",
    name="conv_messages",
    columns=_COLUMNS,
    required=("id", "conversation_id", "role", "text", "ts", "tags"),
    key="reaction_id",
    blamed_key="id",
    event_time="ts",
    edited=tuple(column for column in _COLUMNS if column not in ("hosted_uri", "s3_uri")),  # the text is small
    measured=("hosted_uri", "s3_uri"),
    left_behind=_NEVER_READ,
    part="reactions",
    where=_IS_REACTION,
    where_postgres=_IS_REACTION_POSTGRES,
)
TURN_LOGS = TableSpec(
    system="reactions",
    name="conv_messages",
    columns={column: _COLUMNS[column] for column in _OF_A_TURN_LOG},
    required=("id", "conversation_id", "ts", "tags"),
    key="turn_log_id",
    blamed_key="id",
    event_time="ts",
    edited=_OF_A_TURN_LOG,
    left_behind=(*_NEVER_READ, *(column for column in _COLUMNS if column not in _OF_A_TURN_LOG)),
    part="turn_logs",
    where=f"{_has_tag(TURN_LOG_TAG)} and not coalesce({_IS_REACTION}, false)",
    where_postgres=f"{_overlaps(TURN_LOG_TAG)} and not coalesce({_IS_REACTION_POSTGRES}, false)",
)
DATED = {"raw_reactions__reactions": ROWS, "raw_reactions__turn_logs": TURN_LOGS}
REWRITTEN = ("hosted_uri", "tags")  # a turn log that is written again, a migration of tags


def canonical(rows: pl.DataFrame, spec: TableSpec, tenant: str, project: str) -> pl.DataFrame:
    """Source columns to canonical ones. `tenant` and `project` are configured: no column tells (`docs/sources/3-reactions.md`)."""
    rows = repair_milliseconds(rows, ("ts",)).with_columns(
        pl.lit(tenant or None, dtype=pl.String).alias("tenant"),
        pl.lit(project or None, dtype=pl.String).alias("project"),
        pl.concat_str(pl.lit(place(tenant, project)), pl.col("id").cast(pl.String)).alias(spec.key),
        instant(pl.col("ts")).alias("occurred_at"),
    )
    rows = rows.with_columns(pl.col("occurred_at").dt.date().alias("event_date"))
    return _reactions(rows) if spec is ROWS else _with_turn_ids(rows, pl.Series([None] * rows.height, dtype=pl.String))


def place(tenant: str, project: str) -> str:
    """What stands before an id, so that ids of different databases differ: nothing where nothing is configured."""
    return f"{tenant}/{project}/" if tenant or project else ""


def _reactions(rows: pl.DataFrame) -> pl.DataFrame:
    said = reaction_text.parsed(rows["text"])
    texts = {name: _text_of(said, name) for name in ("text", "origin", "meta_origin", "reaction", "meta_rn")}
    origin = _blank_to_null(texts["origin"].alias("origin")).fill_null(_blank_to_null(texts["meta_origin"]))
    origin = pl.select(word(_filled_from_tags(origin, rows["tags"], "origin:"))).to_series()
    reaction = pl.select(word(texts["reaction"])).to_series()
    is_number = said["confidence_kind"].is_in(reaction_text.NUMBERS)
    confidence = pl.select(pl.when(is_number).then(said["confidence"]).cast(pl.Float64, strict=False)).to_series()
    comment = texts["text"]
    is_own_origin = said["origin_kind"].is_in([reaction_text.TEXT]) & _blank_to_null(texts["origin"]).is_not_null()
    odd = {name: _is_other(said, name) for name in ("text", "reaction", "origin", "meta_origin")}
    odd["origin"] |= odd.pop("meta_origin") & ~is_own_origin.fill_null(False)
    odd["confidence"] = said["confidence_kind"].is_not_null() & ~said["confidence_kind"].is_in(
        (*reaction_text.NUMBERS, reaction_text.NOTHING)
    )
    rows = _with_turn_ids(rows, _object_turn_ids(said))
    rows = rows.with_columns(
        reaction.alias("reaction"),
        origin.alias("origin"),
        pl.when((origin == "user") & confidence.is_null()).then(1.0).otherwise(confidence).alias("confidence"),
        comment.alias("reaction_text"),
        filled(comment).is_not_null().alias("has_text"),
        pl.coalesce("hosted_uri", "s3_uri").alias("hosted_uri"),
        said["is_object"],
        *(is_odd.alias(f"has_odd_{name}") for name, is_odd in odd.items()),
    )
    return rows.with_columns(_rn(rows, texts["meta_rn"]))


def _text_of(said: pl.DataFrame, name: str) -> pl.Series:
    is_text = said[f"{name}_kind"] == reaction_text.TEXT
    return pl.select(pl.when(is_text).then(said[name]).alias(name)).to_series()


def _is_other(said: pl.DataFrame, name: str) -> pl.Series:
    kinds = said[f"{name}_kind"]
    return kinds.is_not_null() & ~kinds.is_in((reaction_text.TEXT, reaction_text.NOTHING))


def _blank_to_null(texts: pl.Series) -> pl.Series:
    return pl.select(filled(texts).alias(texts.name)).to_series()


def _filled_from_tags(values: pl.Series, tags: pl.Series, prefix: str) -> pl.Series:
    """Where there is no value, what the first tag with this prefix says behind it."""
    places = (values.is_null() & tags.is_not_null()).arg_true()
    if not places.len():
        return values
    asked = tags.gather(places)
    is_array = json_kinds(asked.to_frame("tags"))["tags"] == "ARRAY"
    arrays = pl.select(pl.when(is_array).then(asked)).to_series()
    return values.scatter(places, _blank_to_null(first_strings_after(arrays, prefix)))


def _object_turn_ids(said: pl.DataFrame) -> pl.Series:
    is_id = said["turn_id_kind"].is_in((reaction_text.TEXT, *reaction_text.WHOLE_NUMBERS))
    return pl.select(pl.when(is_id).then(said["turn_id"])).to_series()


def _with_turn_ids(rows: pl.DataFrame, from_object: pl.Series) -> pl.DataFrame:
    """`turn_id` from the column, else the object, else the tag; `repairs` says so, and of tags that are no JSON array."""
    stored = _blank_to_null(rows["turn_id"])
    from_object = _blank_to_null(from_object)
    found = _filled_from_tags(stored.fill_null(from_object).alias("turn_id"), rows["tags"], "turn:")
    if stored.null_count():
        is_told = pl.lit(found.is_not_null() & stored.is_null())
        source = (
            pl.when(pl.lit(from_object.is_not_null())).then(pl.lit("turn_id:object")).otherwise(pl.lit("turn_id:tag"))
        )
        note = pl.concat_list("repairs", pl.when(is_told).then(source)).list.drop_nulls()
        rows = rows.with_columns(note.alias("repairs"))
    return rows.with_columns(pl.lit(found).alias("turn_id"))


def _rn(rows: pl.DataFrame, stored: pl.Series) -> pl.Expr:
    """The resource name: the payload's, else rebuilt from the row; null where a part of it is unknown."""
    users = rows["user_id"].unique().drop_nulls()
    users = users.filter(~users.str.contains(PLAIN_NAME))
    quoted = [_quoted(user) for user in users]
    parts = [
        pl.lit("ef"),
        pl.col("tenant"),
        pl.col("project"),
        pl.lit("chatbot"),
        pl.lit("message"),
        pl.col("user_id").replace(users, pl.Series(quoted, dtype=pl.String)),
        pl.col("conversation_id"),
        pl.col("turn_id"),
        pl.col("role"),
        pl.col("message_id"),
    ]
    return pl.coalesce(pl.lit(_blank_to_null(stored)), pl.concat_str(parts, separator=":")).alias("rn")


@lru_cache(65_536)
def _quoted(name: str) -> str:
    return quote(name, safe="")
