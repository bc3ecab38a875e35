-- One prompt and context with thumbs both up and down: the thumbs-up answer its thumbs-down answers are paired with (F6).
-- grain: thread_key
-- inputs: core__feedback, core__linked_feedback as core__feedback_keys
-- params: none

with rated as (
    select
        thread_key, feedback_id, event_date, occurred_at, quality_weight, base_weight, has_answer, answer_hash, loose_hash,
        is_unseen_attempt, sentiment, is_contested
    from core__feedback
    where status = 'active' and sentiment in ('positive', 'negative') and thread_key is not null
),

mixed_threads as (
    select thread_key, count(*) filter (where sentiment = 'positive' and has_answer) > 0 as has_answers
    from rated
    group by thread_key
    having count(*) filter (where sentiment = 'positive') > 0 and count(*) filter (where sentiment = 'negative') > 0
),

-- the heaviest uncontested one, then the newest, then the smallest id
best as (
    select
        rated.thread_key, rated.feedback_id, rated.event_date, rated.occurred_at, rated.quality_weight, rated.base_weight,
        rated.answer_hash, rated.loose_hash, rated.is_unseen_attempt
    from rated
    semi join mixed_threads on rated.thread_key = mixed_threads.thread_key
    where rated.sentiment = 'positive' and rated.has_answer and not rated.is_contested
    qualify row_number() over (
        partition by rated.thread_key order by rated.quality_weight desc, rated.occurred_at desc, rated.feedback_id
    ) = 1
)

-- nobody where all are contested or empty
select
    mixed_threads.thread_key,
    mixed_threads.has_answers,
    best.feedback_id,
    best.event_date,
    best.occurred_at,
    best.quality_weight,
    best.base_weight,
    best.answer_hash,
    best.loose_hash,
    best.is_unseen_attempt
from mixed_threads
left join best on mixed_threads.thread_key = best.thread_key
order by mixed_threads.thread_key
