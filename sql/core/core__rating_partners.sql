-- One prompt and context with thumbs both up and down: the thumbs-up answer its thumbs-down answers are paired with (F6).
-- grain: thread_key
-- inputs: core__feedback
-- params: none

with rated as not materialized (
    select thread_key, feedback_id, event_date, occurred_at, quality_weight, has_answer, answer_hash, sentiment, is_contested
    from core__feedback
    where status = 'active' and sentiment in ('positive', 'negative')
),

mixed_threads as (
    select thread_key
    from rated
    group by thread_key
    having count(*) filter (where sentiment = 'positive') > 0 and count(*) filter (where sentiment = 'negative') > 0
),

-- the heaviest uncontested one, then the newest, then the smallest id; null where all are contested
best as (
    select
        rated.thread_key,
        first(
            {
                'feedback_id': rated.feedback_id, 'event_date': rated.event_date, 'occurred_at': rated.occurred_at,
                'quality_weight': rated.quality_weight, 'has_answer': rated.has_answer, 'answer_hash': rated.answer_hash
            }
            order by rated.quality_weight desc, rated.occurred_at desc, rated.feedback_id
        ) filter (where not rated.is_contested) as partner
    from rated
    semi join mixed_threads using (thread_key)
    where rated.sentiment = 'positive'
    group by rated.thread_key
)

select
    thread_key,
    partner.feedback_id,
    partner.event_date,
    partner.occurred_at,
    partner.quality_weight,
    partner.has_answer,
    partner.answer_hash
from best
order by thread_key
