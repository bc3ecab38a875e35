"""The glossary of reactions (seed 3): what the columns about reaction artifacts mean."""

import polars as pl

from dagster_project.contracts.meaning import Meaning, count, epoch, flag, fraction, long_text, one_of, text, word

REACTIONS = ("ok", "not_ok", "neutral")
ORIGINS = ("user", "machine")
INACTIVE_REASONS = ("superseded", "cleared", "low_confidence", "no_text", "copy", "expired")

# Names that mean something else about reactions than about other systems.
ROW_ID = Meaning(pl.Int64, "the source's id of the row: the order of arrival (seed 3)")
REACTION_ORIGIN = one_of(ORIGINS, "who reacts (R2), null where nothing tells")
REACTION_CONFIDENCE = fraction("how sure the machine is; 1 for a user where nothing else is said (seed 3)")
REACTION_TURN_ID = text("the turn the reaction is about: the row's, else the reaction's, else the tag's (seed 3)")
NEUTRAL_REACTIONS = count("reactions neutral, and those of a machine or of unknown origin that say nothing (R2)")
OWN_IN_RAW = {"id": ROW_ID, "origin": REACTION_ORIGIN, "confidence": REACTION_CONFIDENCE, "turn_id": REACTION_TURN_ID}


def _counts(origin: str, who: str) -> dict[str, Meaning]:
    return {
        f"{origin}_count": count(f"reactions of {who}"),
        f"{origin}_ok_count": count(f"reactions ok of {who}"),
        f"{origin}_not_ok_count": count(f"reactions not_ok of {who}"),
        f"{origin}_neutral_count": count(f"reactions neutral of {who}"),
        f"{origin}_satisfaction_rate": fraction(f"ok / (ok + not_ok + neutral) of {who}; null without any (R3)"),
        f"{origin}_ok_rate": fraction(f"ok / (ok + not_ok) of {who}; null without any (R3)"),
    }


COLUMNS: dict[str, Meaning] = {
    # rows as stored
    "reaction_id": text("the source's id, with <tenant>/<project>/ before it where these are configured"),
    "turn_log_id": text("the source's id of a turn log, with <tenant>/<project>/ before it where these are configured"),
    "tenant": word("whose database it is, as configured; null where nothing is (seed 3)"),
    "project": word("which project of the tenant's, as configured (seed 3)"),
    "conversation_id": text("the conversation (seed 3)"),
    "message_id": text("the source's name of the artifact (seed 3)"),
    "bundle_id": word("the application that answered (seed 3)"),
    "agent_id": word("the agent that answered, as stored"),
    "user_type": word("what kind of user, as stored (seed 3)"),
    "track_id": word("the track of the conversation, as stored (seed 3)"),
    "role": word("artifact (seed 3)"),
    "text": long_text("the artifact as stored: a reaction in one of three forms (seed 3)"),
    "hosted_uri": long_text("where the payload lies; never fetched (R2)"),
    "tags": long_text("the row's tags as a JSON array (seed 3)"),
    "ts": epoch("when the client says it happened"),
    "ttl_days": Meaning(pl.Int64, "after so many days it no longer counts; null: it never ends (R1)"),
    # what a reaction says
    "reaction": one_of(REACTIONS, "what is said of the turn, null: a user takes back what was said"),
    "reaction_text": long_text("the comment that came with it"),
    "has_text": flag("the comment is not blank"),
    "rn": text("the resource name: the payload's, else rebuilt from the row (seed 3)"),
    # which reactions count (R1, R4)
    "is_active": flag("counts in reports (R1)"),
    "inactive_reason": one_of(INACTIVE_REASONS, "why it does not count, null where it does (R1)"),
    "is_orphan": flag("no turn.log row has its conversation and turn (R4); it counts all the same"),
    # metrics (R2, R3)
    "reaction_count": count("reactions that count or did until they expired: ok + not_ok + neutral (R2)"),
    "ok_count": count("reactions ok"),
    "not_ok_count": count("reactions not_ok"),
    "satisfaction_rate": fraction("ok / (ok + not_ok + neutral); null without any (R3)"),
    "ok_rate": fraction("ok / (ok + not_ok); null without any (R3)"),
    **_counts("user", "users"),
    **_counts("machine", "the machine"),
    **_counts("unknown", "unknown origin"),
    "orphan_count": count("of them, those on turns without a turn.log row (R4)"),
    "expired_count": count("of them, those that have expired since (R1)"),
}
