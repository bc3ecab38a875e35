-- One active feedback row or reaction that is about a turn or a distilled example: the answer it is about (N, M1).
-- grain: signal_id
-- inputs: core__feedback, core__reactions, core__turn_pairs, core__example_feedback
-- params: as_of

with turns as (
    select turn_key, turn_id, user_id, session_id, prompt_key, occurred_at
    from core__turn_pairs
    where session_id is not null and occurred_at < $as_of
),

feedback as (
    select feedback_id, response_id, session_id, user_id, prompt_key, occurred_at
    from core__feedback
    where status = 'active'
),

spoken_of as (
    -- feedback is about a turn if it names it, or was given in its session on the same question; the nearest before it counts
    select f.feedback_id, t.turn_key
    from feedback as f
    inner join turns as t
        on f.session_id = t.session_id
        and (f.response_id = t.turn_id or f.prompt_key = t.prompt_key)
        and (f.user_id = t.user_id or f.user_id is null or t.user_id is null)
        and f.occurred_at >= t.occurred_at
    qualify row_number() over (
        partition by f.feedback_id order by f.response_id = t.turn_id desc, t.occurred_at desc, t.turn_key
    ) = 1
),

reacted as (
    -- a reaction names its turn; turn ids are unique per user only
    select r.reaction_id, t.turn_key
    from core__reactions as r
    inner join turns as t
        on r.conversation_id = t.session_id
        and r.turn_id = t.turn_id
        and (r.user_id = t.user_id or r.user_id is null or t.user_id is null)
    where r.is_active
    qualify row_number() over (partition by r.reaction_id order by r.user_id = t.user_id desc nulls last, t.turn_key) = 1
),

taught as (
    select e.feedback_id, min(e.example_id) as example_id
    from core__example_feedback as e
    anti join spoken_of on e.feedback_id = spoken_of.feedback_id
    group by e.feedback_id
),

found as (
    select 'feedback:' || feedback_id as signal_id, turn_key, turn_key as answer_ref
    from spoken_of
    union all
    select 'feedback:' || feedback_id as signal_id, null as turn_key, 'distillation:' || example_id as answer_ref
    from taught
    union all
    select 'reactions:' || reaction_id as signal_id, turn_key, turn_key as answer_ref
    from reacted
)

select signal_id, turn_key, answer_ref
from found
order by signal_id
