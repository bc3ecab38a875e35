-- One candidate for a training set as its own row sees it: for what format, and what speaks against it (T1). Rivals come next.
-- grain: id
-- inputs: core__feedback by day, core__rating_partners
-- params: min_weight

with active as materialized (
    select
        feedback_id, event_date, occurred_at, effective_type, sentiment, is_contested, quality_weight, domain, error_type,
        correction_type, has_query, has_answer, prompt_key, split, thread_key, answer_hash, correction_hash,
        preferred_hash, record_hash
    from core__feedback
    where status = 'active'
),

-- T1: what each active row is a candidate for; side_a and side_b are what T2 compares beside prompt and context
candidates as (
    select
        'instruction' as format,
        case sentiment
            when 'positive' then 'feedback_positive'
            when 'negative' then 'feedback_negative'
            when 'neutral' then 'feedback_neutral'
            else 'feedback_flag'
        end as source,
        feedback_id, null as partner_id, event_date, null as partner_event_date, occurred_at, quality_weight, domain,
        null as error_type, null as label, prompt_key, split, thread_key, answer_hash as side_a, 0::ubigint as side_b,
        has_query and has_answer as has_text,
        coalesce(is_contested, false) as is_contested,
        case
            when effective_type = 'flag' then 'flag'
            when sentiment = 'negative' then 'negative_rating'
            when sentiment = 'neutral' then 'neutral_rating'
        end as early_reason
    from active
    where effective_type in ('rating', 'flag')

    union all

    select
        'unpaired', 'feedback_rating', feedback_id, null, event_date, null, occurred_at, quality_weight, domain, null,
        sentiment = 'positive', prompt_key, split, thread_key, answer_hash, (sentiment = 'positive')::ubigint,
        has_query and has_answer, coalesce(is_contested, false), if(sentiment = 'neutral', 'neutral_rating', null)
    from active
    where effective_type = 'rating'

    union all

    select
        'correction', 'feedback_correction', feedback_id, null, event_date, null, occurred_at, quality_weight, domain,
        error_type, null, prompt_key, split, thread_key, record_hash, (correction_hash = answer_hash)::ubigint,
        has_query and has_answer, false, null
    from active
    where effective_type = 'correction'

    union all

    select
        'preference', 'feedback_correction_pair', feedback_id, null, event_date, null, occurred_at, quality_weight,
        domain, null, null, prompt_key, split, thread_key, correction_hash, answer_hash,
        has_query and has_answer, false, null
    from active
    where effective_type = 'correction' and correction_type in ('full_replacement', 'clarification')

    union all

    select
        'preference', 'feedback_preference', feedback_id, null, event_date, null, occurred_at, quality_weight, domain,
        null, null, prompt_key, split, thread_key, preferred_hash, answer_hash, has_query and has_answer, false, null
    from active
    where effective_type = 'preference'

    union all

    select
        'preference', 'feedback_rating_pair', active.feedback_id, partners.feedback_id, active.event_date,
        partners.event_date, greatest(active.occurred_at, coalesce(partners.occurred_at, active.occurred_at)),
        least(active.quality_weight, coalesce(partners.quality_weight, active.quality_weight)), active.domain, null,
        null, active.prompt_key, active.split, thread_key, coalesce(partners.answer_hash, 0), active.answer_hash,
        active.has_query and active.has_answer and coalesce(partners.has_answer, true),
        active.is_contested or partners.feedback_id is null, null
    from active
    join core__rating_partners as partners using (thread_key)
    where active.sentiment = 'negative'
)

select
    left(md5(concat_ws('|', format, source, feedback_id, partner_id)), 20) as id,
    format,
    source,
    feedback_id,
    partner_id,
    event_date,
    partner_event_date,
    occurred_at,
    -- reasons before and after the one that looks at other candidates (conflicting)
    case
        when early_reason is not null then early_reason
        when not has_text then 'missing_text'
        when is_contested then 'contested'
    end as early_reason,
    case
        when format = 'preference' and side_a = side_b then 'no_contrast'
        when format = 'correction' and side_b = 1 then 'no_contrast'
        when quality_weight < $min_weight then 'low_weight'
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
    error_type,
    label,
    prompt_key,
    split,
    thread_key,
    side_a,
    side_b
from candidates
order by event_date, id
