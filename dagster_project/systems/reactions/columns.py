"""The glossary of reactions (seed 3): what the columns about reaction artifacts mean."""

import polars as pl

from dagster_project.contracts.meaning import (
    Meaning,
    count,
    epoch,
    flag,
    fraction,
    interval,
    long_text,
    one_of,
    text,
    word,
)

REACTIONS = ("ok", "not_ok", "neutral")
ORIGINS = ("user", "machine")
INACTIVE_REASONS = ("superseded", "cleared", "low_confidence", "no_text", "copy", "expired")

# Names that mean something else about reactions than about other systems.
ROW_ID = Meaning(pl.Int64, "the source's number of the row, in the order they arrived")
REACTION_ORIGIN = one_of(ORIGINS, "who reacts; null where nothing tells")
REACTION_CONFIDENCE = fraction("how sure the machine was, as stored; of a user's reaction 1 where nothing else is said")
REACTION_TURN_ID = text("the turn of the conversation the reaction is about")
NEUTRAL_REACTIONS = count("neutral reactions, and those of a machine or of unknown origin that say nothing")
OWN_IN_RAW = {"id": ROW_ID, "origin": REACTION_ORIGIN, "confidence": REACTION_CONFIDENCE, "turn_id": REACTION_TURN_ID}


# Of all reactions, and of those who said yes or no; `satisfaction_rate` of all origins together is never null.
RATES = tuple(
    f"{who}{rate}"
    for rate in ("satisfaction_rate", "ok_rate")
    for who in ("", "user_", "machine_", "unknown_")
    if f"{who}{rate}" != "satisfaction_rate"
)


def _counts(origin: str, who: str) -> dict[str, Meaning]:
    return {
        f"{origin}_count": count(f"reactions of {who}"),
        f"{origin}_ok_count": count(f"reactions of {who} that say ok"),
        f"{origin}_not_ok_count": count(f"reactions of {who} that say not_ok"),
        f"{origin}_neutral_count": count(f"reactions of {who} that are neutral or say nothing"),
        f"{origin}_satisfaction_rate": fraction(f"{origin}_ok_count / {origin}_count; null without any"),
        f"{origin}_ok_rate": fraction(
            f"{origin}_ok_count / {origin}_decided_count, neutral ones left out; null without any"
        ),
        **interval(f"{origin}_satisfaction_rate", f"{origin}_count"),
        f"{origin}_decided_count": count(f"{origin}_ok_count + {origin}_not_ok_count"),
        **interval(f"{origin}_ok_rate", f"{origin}_decided_count"),
    }


COLUMNS: dict[str, Meaning] = {
    # rows as stored
    "reaction_id": text("the source's id, with <tenant>/<project>/ before it where these are configured"),
    "turn_log_id": text("the source's id of a turn log, with <tenant>/<project>/ before it where these are configured"),
    "tenant": word("the customer whose database it is, as configured; null where nothing is"),
    "project": word("which project of the customer's, as configured; null where nothing is"),
    "conversation_id": text("the conversation"),
    "message_id": text("the source's name of the artifact"),
    "bundle_id": word("the application that answered"),
    "agent_id": word("the agent that answered, as stored"),
    "user_type": word("what kind of user, as stored"),
    "track_id": word("the track of the conversation, as stored"),
    "role": word("role of the row in the conversation: artifact, as stored"),
    "text": long_text("the artifact as stored: a reaction in one of three forms"),
    "hosted_uri": long_text("where the payload lies; never fetched"),
    "tags": long_text("the row's tags as a JSON array"),
    "ts": epoch("when the client says it happened"),
    "ttl_days": Meaning(pl.Int64, "after so many days it no longer counts; null where it never ends"),
    # what a reaction says
    "reaction": one_of(REACTIONS, "what is said of the turn; null where a user takes back what was said"),
    "reaction_text": long_text("the comment that came with it"),
    "has_text": flag("the comment is not blank"),
    "rn": text("the full name by which the reaction system calls the row"),
    # which reactions count (R1, R4)
    "is_active": flag("whether it counts"),
    "inactive_reason": one_of(INACTIVE_REASONS, "why it does not count; null where it does"),
    "is_orphan": flag("the source has no log of the turn it is about; it counts all the same"),
    # metrics (R2, R3)
    "reaction_count": count("reactions of the day that count, or did until they expired: ok + not_ok + neutral"),
    "ok_count": count("reactions that say ok"),
    "not_ok_count": count("reactions that say not_ok"),
    "satisfaction_rate": fraction("ok_count / reaction_count; null without any"),
    "ok_rate": fraction("ok_count / decided_count, neutral ones left out; null without any"),
    **interval("satisfaction_rate", "reaction_count"),
    "decided_count": count("ok_count + not_ok_count"),
    **interval("ok_rate", "decided_count"),
    **_counts("user", "users"),
    **_counts("machine", "the machine"),
    **_counts("unknown", "unknown origin"),
    "orphan_count": count("of reaction_count, those on turns the source has no log of"),
    "expired_count": count("of reaction_count, those that have expired since"),
}
