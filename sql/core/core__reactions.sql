-- One reaction before as_of: who says what of which turn, whether it counts and why not (R1), whether its turn is known (R4).
-- grain: reaction_id
-- inputs: raw_reactions__reactions, raw_reactions__turn_logs
-- params: as_of

-- what looks across all rows looks at few columns of some, and the last step is one pass with small tables joined: each
-- reads the table itself
with by_users as (
    select
        reaction_id, id, tenant, project, conversation_id, turn_id,
        -- nobody in particular (G9)
        if(user_id in ('', 'default'), null, user_id) as user_id
    from raw_reactions__reactions
    where occurred_at < $as_of and origin = 'user'
),

repeated as (
    -- arrival decides, never ts: that is the client's
    select tenant, project, user_id, conversation_id, turn_id, max(id) as latest_id
    from by_users
    group by tenant, project, user_id, conversation_id, turn_id
    having count(*) > 1
),

superseded as (
    select by_users.reaction_id
    from by_users
    inner join repeated
        on by_users.conversation_id = repeated.conversation_id
        and by_users.turn_id = repeated.turn_id
        and by_users.user_id is not distinct from repeated.user_id
        and by_users.tenant is not distinct from repeated.tenant
        and by_users.project is not distinct from repeated.project
    where by_users.id < repeated.latest_id
),

heard as (
    select reaction_id, id, tenant, project, conversation_id, turn_id, reaction_text, reaction, occurred_at
    from raw_reactions__reactions
    where occurred_at < $as_of and origin = 'machine' and confidence >= 0.7::double and has_text
),

copied as (
    select tenant, project, conversation_id, turn_id, reaction_text, reaction, occurred_at, min(id) as first_id
    from heard
    group by tenant, project, conversation_id, turn_id, reaction_text, reaction, occurred_at
    having count(*) > 1
),

copies as (
    select heard.reaction_id
    from heard
    inner join copied
        on heard.conversation_id = copied.conversation_id
        and heard.turn_id = copied.turn_id
        and heard.reaction_text = copied.reaction_text
        and heard.occurred_at = copied.occurred_at
        and heard.reaction is not distinct from copied.reaction
        and heard.tenant is not distinct from copied.tenant
        and heard.project is not distinct from copied.project
    where heard.id > copied.first_id
),

orphans as (
    select reactions.reaction_id
    from raw_reactions__reactions as reactions
    anti join raw_reactions__turn_logs as logs
        on reactions.conversation_id = logs.conversation_id
        and reactions.turn_id = logs.turn_id
        and reactions.tenant is not distinct from logs.tenant
        and reactions.project is not distinct from logs.project
    where reactions.occurred_at < $as_of
),

judged as (
    select
        reactions.reaction_id, reactions.tenant, reactions.project, reactions.conversation_id, reactions.turn_id,
        if(reactions.user_id in ('', 'default'), null, reactions.user_id) as user_id,
        reactions.origin, reactions.reaction, reactions.confidence, reactions.occurred_at,
        reactions.event_date, reactions.rn, reactions.source_file,
        orphans.reaction_id is not null as is_orphan,
        case
            when superseded.reaction_id is not null then 'superseded'
            when reactions.origin = 'user' and reactions.reaction is null then 'cleared'
            when reactions.origin = 'machine' and coalesce(reactions.confidence, 0) < 0.7::double then 'low_confidence'
            when reactions.origin = 'machine' and not reactions.has_text then 'no_text'
            when copies.reaction_id is not null then 'copy'
            -- last, so that what expires revives nothing
            when epoch_us($as_of) - epoch_us(reactions.occurred_at) > reactions.ttl_days::decimal(38, 0) * 86400000000
                then 'expired'
        end as inactive_reason
    from raw_reactions__reactions as reactions
    left join superseded on reactions.reaction_id = superseded.reaction_id
    left join copies on reactions.reaction_id = copies.reaction_id
    left join orphans on reactions.reaction_id = orphans.reaction_id
    where reactions.occurred_at < $as_of
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
order by reaction_id
