-- One detected rejection or acceptance that is sure enough, and the turn it is about (C6, C7).
-- grain: message_turn_key
-- inputs: core__turn_pairs, core__head_verdicts, core__turn_references
-- params: as_of

with pairs as (
    -- what the rules say of the last turn, or what the head makes of that (C7); of an earlier turn the rules alone speak
    select
        p.turn_key, p.next_turn_key, p.next_at, p.user_id, p.session_id, p.occurred_at,
        coalesce(h.feedback_status, p.feedback_status) as feedback_status,
        coalesce(h.feedback_confidence, p.feedback_confidence) as feedback_confidence,
        coalesce(h.confidence_low, p.confidence_low) as confidence_low,
        coalesce(h.reason, p.reason) as reason,
        p.said_status, p.said_confidence, p.said_confidence_low, p.said_reason
    from core__turn_pairs as p
    left join core__head_verdicts as h on p.turn_key = h.turn_key
    where p.occurred_at < $as_of
),

found_targets as (
    select
        message_turn_key,
        list_transform(
            list_sort(list({rank: rank, turn_key: turn_key, score: score})),
            lambda one: {turn_key: one.turn_key, score: one.score}
        ) as targets
    from core__turn_references
    group by message_turn_key
),

said_of_the_last_turn as (
    select
        pairs.next_turn_key as message_turn_key, pairs.turn_key as last_turn_key, pairs.feedback_status as kind,
        pairs.feedback_confidence as confidence, pairs.confidence_low, pairs.reason, pairs.next_at as occurred_at, pairs.user_id, pairs.session_id
    from pairs
    anti join found_targets on pairs.next_turn_key = found_targets.message_turn_key
    where pairs.next_turn_key is not null
),

said_of_an_earlier_turn as (
    -- what the message says by itself: the turn before it is not what it is about
    select
        pairs.turn_key as message_turn_key, null as last_turn_key, pairs.said_status as kind,
        pairs.said_confidence as confidence, pairs.said_confidence_low as confidence_low, pairs.said_reason as reason, pairs.occurred_at, pairs.user_id, pairs.session_id
    from pairs
    semi join found_targets on pairs.turn_key = found_targets.message_turn_key
),

said as (
    select message_turn_key, last_turn_key, kind, confidence, confidence_low, reason, occurred_at, user_id, session_id
    from said_of_the_last_turn
    union all
    select message_turn_key, last_turn_key, kind, confidence, confidence_low, reason, occurred_at, user_id, session_id
    from said_of_an_earlier_turn
)

select
    said.message_turn_key,
    coalesce(found_targets.targets[1].turn_key, said.last_turn_key) as target_turn_key,
    if(found_targets.targets is null, 'last_turn', 'reference') as target_kind,
    said.kind,
    said.confidence,
    said.confidence_low,
    said.reason,
    said.occurred_at,
    said.user_id,
    said.session_id,
    coalesce(found_targets.targets, []) as targets
from said
left join found_targets using (message_turn_key)
where said.kind in ('rejected', 'accepted')
    and said.confidence >= 0.70
    and said.confidence_low >= 0.60
    and coalesce(found_targets.targets[1].turn_key, said.last_turn_key) is not null
order by said.message_turn_key
