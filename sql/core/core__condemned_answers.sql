-- One answer, to one prompt in one context, that somebody flagged as harmful: it is never taught (F8).
-- grain: thread_key, answer_hash
-- inputs: core__feedback_keys, core__voices, core__flagged_responses
-- params: as_of

with flags as (
    select
        core__feedback_keys.response_id, core__feedback_keys.thread_key, core__feedback_keys.answer_hash
    from core__feedback_keys
    anti join core__voices using (feedback_id)
    where core__feedback_keys.occurred_at < $as_of
        and core__feedback_keys.effective_type = 'flag'
        and core__feedback_keys.flag_type = 'harmful'
),

harmful as (
    select distinct response_id
    from flags
),

-- what any row shows for such a response, whether it counts or not, and what `responses` shows
shown as (
    select thread_key, answer_hash
    from flags
    where thread_key is not null and answer_hash is not null

    union

    select core__feedback_keys.thread_key, core__feedback_keys.answer_hash
    from core__feedback_keys
    semi join harmful using (response_id)
    where core__feedback_keys.occurred_at < $as_of
        and core__feedback_keys.thread_key is not null
        and core__feedback_keys.answer_hash is not null

    union

    select core__flagged_responses.thread_key, core__flagged_responses.answer_hash
    from core__flagged_responses
    semi join harmful using (response_id)
)

select thread_key, answer_hash
from shown
order by thread_key, answer_hash
