-- One answer that was rated down and that nobody has corrected yet, heaviest first (F12).
-- grain: answer_key
-- inputs: core__feedback
-- params: none

with active as (
    select
        feedback_id, response_id, answer_key, effective_type, sentiment, domain, quality_weight, occurred_at, prompt_key
    from core__feedback
    where status = 'active'
),

corrected as (
    select distinct answer_key
    from active
    where effective_type = 'correction'
),

uncorrected as (
    select
        feedback_id, response_id, answer_key, domain, quality_weight, occurred_at, prompt_key,
        count(*) over (partition by answer_key) as negative_count,
        row_number() over (
            partition by answer_key order by quality_weight desc, occurred_at desc, feedback_id
        ) as place
    from active
    anti join corrected using (answer_key)
    where sentiment = 'negative'
)

select
    row_number() over (order by quality_weight desc, negative_count desc, occurred_at desc, feedback_id) as rank,
    answer_key,
    feedback_id,
    response_id,
    domain,
    negative_count,
    quality_weight,
    occurred_at,
    prompt_key
from uncorrected
where place = 1
order by rank
