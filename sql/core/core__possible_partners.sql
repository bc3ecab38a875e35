-- One prompt and context with thumbs both up and down, and one sum of bonuses: the newest thumbs-up answer to it (F6).
-- grain: thread_key, bonuses
-- inputs: core__feedback
-- params: none

with rated as (
    select
        thread_key, feedback_id, event_date, occurred_at, base_weight, has_answer, answer_hash, loose_hash,
        is_unseen_attempt, sentiment, is_contested,
        weight_parts.type as type_weight,
        weight_parts.explanation_bonus + weight_parts.substance_bonus + weight_parts.full_replacement_bonus
            + weight_parts.basis_bonus + weight_parts.escalation_bonus + weight_parts.overconfidence_bonus as bonuses
    from core__feedback
    where status = 'active' and sentiment in ('positive', 'negative') and thread_key is not null
),

mixed_threads as (
    select thread_key, count(*) filter (where sentiment = 'positive' and has_answer) > 0 as has_answers
    from rated
    group by thread_key
    having count(*) filter (where sentiment = 'positive') > 0 and count(*) filter (where sentiment = 'negative') > 0
),

-- what is left of a weight is less the older a row is, so of ratings with equal bonuses the newest is the heaviest whenever that is
-- asked: which of these few is the partner is all that changes from day to day
newest as (
    select
        rated.thread_key, rated.feedback_id, rated.event_date, rated.occurred_at, rated.base_weight, rated.type_weight,
        rated.bonuses, rated.answer_hash, rated.loose_hash, rated.is_unseen_attempt
    from rated
    semi join mixed_threads on rated.thread_key = mixed_threads.thread_key
    where rated.sentiment = 'positive' and rated.has_answer and not rated.is_contested
    qualify row_number() over (
        partition by rated.thread_key, rated.bonuses order by rated.occurred_at desc, rated.feedback_id
    ) = 1
)

-- nobody where all are contested or empty
select
    mixed_threads.thread_key,
    mixed_threads.has_answers,
    newest.feedback_id,
    newest.event_date,
    newest.occurred_at,
    newest.base_weight,
    newest.type_weight,
    newest.bonuses,
    newest.answer_hash,
    newest.loose_hash,
    newest.is_unseen_attempt
from mixed_threads
left join newest on mixed_threads.thread_key = newest.thread_key
order by mixed_threads.thread_key, newest.bonuses
