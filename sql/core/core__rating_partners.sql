-- One prompt and context with thumbs both up and down: the thumbs-up answer its thumbs-down answers are paired with (F6).
-- grain: thread_key
-- inputs: core__possible_partners
-- params: as_of

with weighed as (
    select
        thread_key, has_answers, feedback_id, event_date, occurred_at, base_weight, answer_hash, loose_hash,
        is_unseen_attempt,
        if(feedback_id is null, null, weight_left(type_weight, temporal_factor(occurred_at, $as_of), bonuses))
            as quality_weight
    from core__possible_partners
)

-- the heaviest uncontested one, then the newest, then the smallest id
select
    thread_key,
    has_answers,
    feedback_id,
    event_date,
    occurred_at,
    quality_weight,
    base_weight,
    answer_hash,
    loose_hash,
    is_unseen_attempt
from weighed
qualify row_number() over (
    partition by thread_key order by quality_weight desc, occurred_at desc, feedback_id
) = 1
order by thread_key
