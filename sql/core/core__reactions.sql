-- One reaction before as_of: who says what of which turn, whether it counts and why not (R1), whether its turn is known (R4).
-- grain: reaction_id (unordered)
-- inputs: raw_reactions__reactions, raw_reactions__turn_logs
-- params: as_of

with reactions as (
    select
        reaction_id, id, tenant, project, conversation_id, turn_id,
        -- nobody in particular (G9)
        if(user_id in ('', 'default'), null, user_id) as user_id,
        origin, reaction, confidence, reaction_text, has_text, occurred_at, event_date, ttl_days, rn, source_file,
        origin = 'machine' and confidence >= 0.7::double and has_text as is_through_the_gate
    from raw_reactions__reactions
    where occurred_at < $as_of
),

superseded as (
    -- arrival decides, never ts: that is the client's
    select reaction_id
    from reactions
    where origin = 'user'
    qualify row_number() over (partition by tenant, project, user_id, conversation_id, turn_id order by id desc) > 1
),

copies as (
    select reaction_id
    from reactions
    where is_through_the_gate
    qualify row_number() over (
        partition by tenant, project, conversation_id, turn_id, reaction_text, reaction, occurred_at order by id
    ) > 1
),

known_turns as (
    select distinct tenant, project, conversation_id, turn_id
    from raw_reactions__turn_logs
),

judged as (
    select
        reactions.reaction_id, reactions.tenant, reactions.project, reactions.conversation_id, reactions.turn_id,
        reactions.user_id, reactions.origin, reactions.reaction, reactions.confidence, reactions.occurred_at,
        reactions.event_date, reactions.rn, reactions.source_file,
        known_turns.turn_id is null as is_orphan,
        case
            when superseded.reaction_id is not null then 'superseded'
            when reactions.origin = 'user' and reactions.reaction is null then 'cleared'
            when reactions.origin = 'machine' and coalesce(reactions.confidence, 0) < 0.7::double then 'low_confidence'
            when reactions.origin = 'machine' and not reactions.has_text then 'no_text'
            when copies.reaction_id is not null then 'copy'
            -- last, so that what expires revives nothing
            when epoch_us($as_of) - epoch_us(reactions.occurred_at) > reactions.ttl_days::hugeint * 86400000000 then 'expired'
        end as inactive_reason
    from reactions
    left join superseded on reactions.reaction_id = superseded.reaction_id
    left join copies on reactions.reaction_id = copies.reaction_id
    left join known_turns
        on reactions.conversation_id = known_turns.conversation_id
        and reactions.turn_id = known_turns.turn_id
        and reactions.tenant is not distinct from known_turns.tenant
        and reactions.project is not distinct from known_turns.project
)

select
    reaction_id,
    tenant,
    project,
    conversation_id,
    turn_id,
    user_id,
    origin,
    reaction,
    confidence,
    occurred_at,
    event_date,
    inactive_reason is null as is_active,
    inactive_reason,
    is_orphan,
    rn,
    source_file
from judged
