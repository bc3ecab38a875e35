-- One distilled example as a candidate for a training set, and what speaks against it (T1, D7). Rivals come next.
-- grain: id (unordered)
-- inputs: core__distillation
-- params: min_weight, synthetic_pairs

with examples as (
    select
        example_id, origin, event_date, occurred_at, prompt_key, split, thread_key, answer_hash, attempt_hash, domain,
        quality_flags, quality_weight, review_status, is_own_review, is_ready, training_format, feedback_verdict,
        has_query, has_answer, has_attempt, changed_fraction, is_failed
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

judged as (
    select
        *,
        if(origin = 'synthetic_pair', 'synthetic_pair', 'distillation_' || format) as source,
        if(format = 'correction', hash(attempt_hash, answer_hash), answer_hash) as side_a,
        if(format = 'preference', attempt_hash, 0::ubigint) as side_b
    from proposed
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
    end as early_reason,
    case
        when format = 'preference' and source <> 'synthetic_pair' and list_contains(quality_flags, 'refusal') then 'refusal'
        when format = 'preference' and source <> 'synthetic_pair' and changed_fraction < 0.05 then 'tie'
        when format in ('preference', 'correction') and attempt_hash = answer_hash then 'no_contrast'
        when quality_weight < $min_weight then 'low_weight'
        when source = 'synthetic_pair' and not $synthetic_pairs then 'recipe'
    end as late_reason,
    quality_weight,
    case
        when quality_weight >= 0.9 then 'premium'
        when quality_weight >= 0.7 then 'high'
        when quality_weight >= 0.5 then 'standard'
        when quality_weight >= 0.3 then 'low'
        else 'very_low'
    end as tier,
    domain,
    null::varchar as error_type,
    null::boolean as label,
    prompt_key,
    split,
    thread_key,
    side_a,
    coalesce(side_b, 0) as side_b
from judged
