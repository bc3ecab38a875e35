"""What a user may ask about reactions without running anything: seed 3's reports, and why one counts or not. Reads only."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

from dagster_project.engines import reading
from dagster_project.engines.reading import scan, where
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake

CORE, RAW = "core__reactions", "raw_reactions__reactions"
PLACE = ("tenant", "project")
Row = dict[str, Any]
Place = tuple[str | None, str | None]  # tenant and project


@dataclass(frozen=True)
class Period:
    """What is asked for: days, both included (G1), and of whom; null is everybody."""

    first: date
    last: date
    tenant: str | None = None
    project: str | None = None

    @property
    def condition(self) -> pl.Expr:
        return pl.col("event_date").is_between(self.first, self.last) & _of(self.tenant, self.project)

    @property
    def window(self) -> dict[str, str]:
        """As seed 3 writes it; the last second is meant to its end."""
        return {"start": f"{self.first}T00:00:00Z", "end": f"{self.last}T23:59:59Z"}


# --- conversations in a period (seed 3, 4B) --------------------------------------------------------------------------


def conversations_in_period(
    lake: Lake, period: Period, limit: int, cursor: str | None = None, configured: Sequence[Place] = ()
) -> Row:
    """Seed 3's object: conversations with active reactions (R3), newest activity first, a page of them.

    Where neither the question nor a reaction tells whose they are, what is `configured` does.
    """
    active = reading.scan(lake, CORE).filter(pl.col("is_active") & period.condition)
    places = _places(reading.scan(lake, CORE).filter(_of(period.tenant, period.project))) or list(configured)
    found = (
        active.group_by(*PLACE, "conversation_id")
        .agg(pl.col("occurred_at").max().alias("last_activity_at"))
        .collect(engine="streaming")
        .with_columns(pl.col(name).fill_null("").alias(f"{name}_key") for name in PLACE)
        .sort(
            "last_activity_at", "conversation_id", *(f"{n}_key" for n in PLACE), descending=[True, False, False, False]
        )
    )
    if cursor is not None:
        found = found.filter(_is_behind(_decoded(cursor, period)))
    page = found.head(limit)
    shown = page.lazy().select(*PLACE, "conversation_id")
    rows = active.join(shown, on=[*PLACE, "conversation_id"], how="semi", nulls_equal=True).collect(engine="streaming")
    by_conversation = _with_texts(lake, rows).partition_by(*PLACE, "conversation_id", as_dict=True)
    items = []
    for row in page.rows(named=True):
        key = (row["tenant"], row["project"], row["conversation_id"])
        who = {name: row[name] for name in PLACE} if len(places) > 1 else {}
        items.append(_conversation(row, by_conversation[key].rows(named=True)) | who)
    return {
        "tenant": period.tenant or _only(places, 0),
        "project": period.project or _only(places, 1),
        "window": period.window,
        "items": items,
        "next_cursor": _encoded(page.row(-1, named=True), period) if found.height > page.height else None,
    }


def _conversation(row: Row, reactions: list[Row]) -> Row:
    by_turn: dict[str, list[Row]] = {}
    for found in reactions:
        by_turn.setdefault(found["turn_id"], []).append(found)
    turns = [
        {"turn_id": turn_id, "ts": instant(max(r["occurred_at"] for r in found)), "feedbacks": _feedbacks(found)}
        for turn_id, found in by_turn.items()
    ]
    newest = {turn_id: max(r["occurred_at"] for r in found) for turn_id, found in by_turn.items()}
    turns.sort(key=lambda turn: turn["turn_id"])
    turns.sort(key=lambda turn: newest[turn["turn_id"]], reverse=True)
    words = [found["reaction"] or "neutral" for found in reactions]
    origins = [found["origin"] for found in reactions]
    return {
        "conversation_id": row["conversation_id"],
        "last_activity_at": instant(row["last_activity_at"]),
        "started_at": None,  # reactions do not tell
        "feedback_counts": {
            "total": len(reactions),
            "user": origins.count("user"),
            "machine": origins.count("machine"),
            "ok": words.count("ok"),
            "not_ok": words.count("not_ok"),
            "neutral": words.count("neutral"),
        },
        "turns": turns,
    }


def _feedbacks(reactions: Sequence[Row]) -> list[Row]:
    """In the order of arrival."""
    return [
        {
            "turn_id": row["turn_id"],
            "ts": instant(row["occurred_at"]),
            "text": row["reaction_text"],
            "reaction": row["reaction"],
            "confidence": row["confidence"],
            "origin": row["origin"],
            "rn": row["rn"],
        }
        for row in sorted(reactions, key=lambda row: (row["id"], row["reaction_id"]))
    ]


# --- the cursor ------------------------------------------------------------------------------------------------------


def _encoded(row: Row, period: Period) -> str:
    """Where a page ends: the last conversation's own place in the order, so that pages fit together whatever comes in."""
    moment = int(row["last_activity_at"].timestamp()) * 1_000_000 + row["last_activity_at"].microsecond
    end = [moment, row["conversation_id"], row["tenant_key"], row["project_key"]]
    return base64.urlsafe_b64encode(json.dumps([_asked(period), end]).encode()).decode().rstrip("=")


def _decoded(cursor: str, period: Period) -> list[Any]:
    try:
        asked, end = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        is_one = isinstance(end[0], int) and [type(part) for part in end[1:]] == [str, str, str]
    except (ValueError, TypeError, KeyError, IndexError):
        is_one, asked, end = False, None, []
    if not is_one:
        raise GristmillError(f"{cursor!r} is no cursor of ours: take `next_cursor` of the page before")
    if asked != _asked(period):
        raise GristmillError("the cursor belongs to another period, tenant or project than the one asked for")
    return end


def _asked(period: Period) -> list[Any]:
    return [str(period.first), str(period.last), period.tenant, period.project]


def _is_behind(end: Sequence[Any]) -> pl.Expr:
    moment, *names = end
    columns = ["conversation_id", *(f"{name}_key" for name in PLACE)]
    behind, same = pl.lit(False), pl.lit(True)
    for column, name in zip(columns, names, strict=True):
        behind |= same & (pl.col(column) > name)
        same &= pl.col(column) == name
    when = pl.col("last_activity_at").dt.epoch("us")
    return (when < moment) | ((when == moment) & behind)


# --- turns of a conversation (seed 3, 4A) ----------------------------------------------------------------------------


def turns_with_feedbacks(
    lake: Lake, conversation_id: str, turn_id: str | None, tenant: str | None = None, project: str | None = None
) -> Row:
    """Seed 3's object. `feedbacks` are the active reactions of a turn, `reactions` all its rows, with why one is not."""
    rows = where(lake, CORE, (pl.col("conversation_id") == conversation_id) & _of(tenant, project))
    if rows.is_empty():
        raise GristmillError(f"no reaction of conversation {conversation_id!r} is known")
    if len(places := _places(rows.lazy())) > 1:
        known = ", ".join(f"{t or '-'}/{p or '-'}" for t, p in places)
        raise GristmillError(f"several have a conversation {conversation_id!r}: name --tenant and --project ({known})")
    if turn_id is not None:
        rows = rows.filter(pl.col("turn_id") == turn_id)
        if rows.is_empty():
            raise GristmillError(f"no reaction on turn {turn_id!r} of conversation {conversation_id!r} is known")
    users = rows["user_id"].unique().to_list()
    turns = []
    for found in _with_texts(lake, rows).sort("occurred_at", "id").partition_by("turn_id", maintain_order=True):
        reactions = found.sort("id").rows(named=True)
        active = [row for row in reactions if row["is_active"]]
        if not active and turn_id is None:
            continue
        turns.append(
            {
                "turn_id": reactions[0]["turn_id"],
                "turn_log": None,
                "assistant": None,
                "user": None,
                "feedbacks": _feedbacks(active),
                "reactions": [_artifact(row) for row in reactions],
            }
        )
    return {"user_id": users[0] if len(users) == 1 else None, "conversation_id": conversation_id, "turns": turns}


def _artifact(row: Row) -> Row:
    """A reaction as it is stored, and what became of it."""
    stored = ("id", "message_id", "role", "tags", "hosted_uri", "ttl_days")
    return {
        **_feedbacks([row])[0],
        **{name: json.loads(row[name]) if name == "tags" and _is_json(row[name]) else row[name] for name in stored},
        "is_active": row["is_active"],
        "inactive_reason": row["inactive_reason"],
        "is_orphan": row["is_orphan"],
    }


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


# --- why -------------------------------------------------------------------------------------------------------------


def facts(lake: Lake, ids: Sequence[str]) -> list[Row]:
    """Reactions by their ids or resource names, each with the rows of the same turn beside it."""
    rows = where(lake, CORE, pl.col("reaction_id").is_in(ids) | pl.col("rn").is_in(ids)).sort("reaction_id")
    return [_facts_of(lake, row) for row in rows.rows(named=True)]


def dated(lake: Lake, wanted: str) -> datetime | None:
    """When a reaction is dated that was read but is not before as_of; null if there is none."""
    rows = where(lake, RAW, (pl.col("reaction_id") == wanted) | (pl.col("rn") == wanted))
    return rows["occurred_at"][0] if rows.height else None


def _facts_of(lake: Lake, row: Row) -> Row:
    same = pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(row[name])) for name in (*PLACE, "conversation_id", "turn_id")
    )
    beside = where(lake, CORE, same & (pl.col("reaction_id") != row["reaction_id"])).sort("reaction_id")
    source = where(lake, RAW, pl.col("reaction_id") == row["reaction_id"]).row(0, named=True)
    return {
        "source_row": {name: value for name, value in source.items() if value not in (None, [])},
        "derived": row,
        "same_turn": beside.select("reaction_id", "origin", "reaction", "inactive_reason").rows(named=True),
    }


# --- what the reports share ------------------------------------------------------------------------------------------


def _of(tenant: str | None, project: str | None) -> pl.Expr:
    asked = {"tenant": tenant, "project": project}
    return pl.all_horizontal(pl.lit(True), *(pl.col(n) == value for n, value in asked.items() if value is not None))


def _places(rows: pl.LazyFrame) -> list[Place]:
    return rows.select(*PLACE).unique().collect(engine="streaming").sort(*PLACE).rows()


def _only(places: Sequence[Place], part: int) -> str | None:
    found = {place[part] for place in places}
    return found.pop() if len(found) == 1 else None


def _with_texts(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """Reactions with what only their raw rows have, read from the days they are of."""
    wanted = ["id", "reaction_text", "message_id", "role", "tags", "hosted_uri", "ttl_days"]
    raw = scan(lake, RAW, [f"event_date={day}" for day in rows["event_date"].unique().sort()]).select(
        "reaction_id", *wanted
    )
    return rows.lazy().join(raw, on="reaction_id", how="left").collect(engine="streaming").sort("id", "reaction_id")


def instant(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
