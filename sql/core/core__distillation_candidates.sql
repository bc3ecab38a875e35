-- One distilled example as a candidate for a training set, and what speaks against it (T1, D7). Rivals come next.
-- grain: id
-- inputs: core__distillation, core__condemned_answers
-- params: none

with examples as (
    select
        example_id, origin, event_date, occurred_at, prompt_key, thread_key, answer_hash, attempt_hash, domain,
        quality_flags, quality_weight, review_status, is_own_review, is_ready, training_format, feedback_verdict,
        has_query, has_answer, has_attempt, is_hardly_changed, is_unseen_attempt, is_failed
    from core__distillation
),

-- its primary format, and a pair if there is an attempt to compare with
proposed as (
    select *, training_format as format
    from examples

    union all

    select *, 'preference'
    from examples
    where has_attempt and training_format <> 'preference'
),

-- side_a and side_b are what T2 compares beside prompt and context
judged as (
    select
        proposed.*,
        if(origin = 'synthetic_pair', 'synthetic_pair', 'distillation_' || format) as source,
        core__condemned_answers.answer_hash is not null as is_condemned,
        format in ('preference', 'correction') as has_two_sides
    from proposed
    left join core__condemned_answers
        on proposed.thread_key = core__condemned_answers.thread_key
        and proposed.answer_hash = core__condemned_answers.answer_hash
)

select
    left(md5(example_id), 16) || left(md5(concat_ws('|', format, source)), 8) as id,
    format,
    source,
    example_id as origin_id,
    null::varchar as partner_id,
    event_date,
    null::date as partner_event_date,
    occurred_at,
    case
        when is_failed then 'failed'
        when review_status = 'rejected' then 'rejected'
        when not is_ready then 'not_ready'
        when feedback_verdict = 'contradicted' and not (is_own_review and review_status = 'approved') then 'contradicted'
        when not (has_query and has_answer) or (format = 'preference' and not has_attempt) then 'missing_text'
        when is_condemned then 'contested'
    end as early_reason,
    case
        when list_contains(quality_flags, 'refusal') then 'refusal'
        when has_two_sides and attempt_hash = answer_hash then 'no_contrast'
        when format = 'preference' and source <> 'synthetic_pair' and is_hardly_changed then 'tie'
        when format in ('instruction', 'cot', 'preference') and is_unseen_attempt then 'unseen_attempt'
    end as late_reason,
    quality_weight,
    quality_weight as base_weight,
    tier(quality_weight) as tier,
    domain,
    null::varchar as error_type,
    null::boolean as label,
    prompt_key,
    thread_key,
    answer_hash as side_a,
    if(has_two_sides, coalesce(attempt_hash, 0), 0) as side_b
from judged
order by id
