"""The tables of reactions: what comes in, what is derived from it, what is counted."""

from dagster_project.contracts.shared import PLACED
from dagster_project.contracts.table import Table, by_name
from dagster_project.systems.reactions.columns import (
    COLUMNS,
    NEUTRAL_REACTIONS,
    OWN_IN_RAW,
    RATES,
    REACTION_CONFIDENCE,
    REACTION_ORIGIN,
    REACTION_TURN_ID,
    ROW_ID,
)

TABLES = by_name(
    COLUMNS,
    Table(
        "raw_reactions__reactions",
        "One reaction artifact, as stored and as its text says (the reaction system's table `conv_messages`).",
        ("reaction_id",),
        f"""reaction_id id tenant? project? user_id? bundle_id? agent_id? conversation_id message_id? turn_id track_id? role
        user_type? text hosted_uri? ts ttl_days? tags reaction? origin? confidence? reaction_text? has_text rn? {PLACED}""",
        is_by_day=True,
        own=OWN_IN_RAW,
    ),
    Table(
        "raw_reactions__turn_logs",
        "One turn the source has a log of: that it is known, and nothing more.",
        ("turn_log_id",),
        f"turn_log_id id tenant? project? user_id? conversation_id turn_id ts {PLACED}",
        is_by_day=True,
        own={"id": ROW_ID, "turn_id": REACTION_TURN_ID},
        said={
            "turn_id": "the turn that is logged",
            "user_id": "the person whose turn it is, as stored",
        },
    ),
    Table(
        "core__reactions",
        "One reaction before as_of: who says what of which turn, whether it counts and why not.",
        ("reaction_id",),
        """reaction_id tenant? project? conversation_id turn_id user_id? origin? reaction? confidence? occurred_at event_date
        is_active inactive_reason? is_orphan rn? source_file""",
        own={"origin": REACTION_ORIGIN, "confidence": REACTION_CONFIDENCE, "turn_id": REACTION_TURN_ID},
        is_for_analysts=True,
    ),
    Table(
        "metric__reaction_daily",
        "One day of reactions that count, or did until they expired: by reaction and origin, and satisfaction.",
        ("event_date",),
        f"""event_date reaction_count ok_count not_ok_count neutral_count user_count user_ok_count user_not_ok_count
        user_neutral_count machine_count machine_ok_count machine_not_ok_count machine_neutral_count unknown_count
        unknown_ok_count unknown_not_ok_count unknown_neutral_count decided_count user_decided_count machine_decided_count
        unknown_decided_count satisfaction_rate satisfaction_rate_low satisfaction_rate_high
        {" ".join(f"{rate}? {rate}_low? {rate}_high?" for rate in RATES)} orphan_count expired_count""",
        own={"neutral_count": NEUTRAL_REACTIONS},
        days_of="reactions",
        passing=("expired_count",),
    ),
)
