-- One answer, to one prompt in one context, with several active rows: its votes and objections over all response ids (F8).
-- grain: answer_key
-- inputs: core__feedback_keys, core__voices
-- params: as_of

with active as (
    select core__feedback_keys.answer_key, core__feedback_keys.sentiment, core__feedback_keys.effective_type,
        core__feedback_keys.flag_type
    from core__feedback_keys
    anti join core__voices using (feedback_id)
    where core__feedback_keys.occurred_at < $as_of
)

select
    answer_key,
    count(*) filter (where sentiment = 'positive') as up_count,
    count(*) filter (where sentiment = 'negative') as down_count,
    count(*) filter (
        where effective_type = 'correction' or (effective_type = 'flag' and flag_type in ('harmful', 'incorrect'))
    ) as objection_count
from active
group by answer_key
having count(*) > 1
order by answer_key
