-- One answer, to one prompt in one context, that somebody flagged as harmful: it is never taught (F8).
-- grain: thread_key, answer_hash
-- inputs: core__feedback_keys, core__voices, core__flagged_responses
-- params: as_of

with entries as (
    select feedback_id, response_id, effective_type, flag_type, thread_key, answer_hash
    from core__feedback_keys
    where occurred_at < $as_of
),

harmful as (
    select distinct entries.response_id
    from entries
    anti join core__voices using (feedback_id)
    where entries.effective_type = 'flag' and entries.flag_type = 'harmful'
),

-- what any row shows for such a response, whether it counts or not, and what `responses` shows
shown as (
    select entries.thread_key, entries.answer_hash
    from entries
    semi join harmful using (response_id)
    where entries.thread_key is not null and entries.answer_hash is not null

    union

    select core__flagged_responses.thread_key, core__flagged_responses.answer_hash
    from core__flagged_responses
    semi join harmful using (response_id)
)

select thread_key, answer_hash
from shown
order by thread_key, answer_hash
