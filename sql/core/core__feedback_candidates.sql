-- One feedback row as a candidate for a training set, as it sees itself: for what format, and what speaks against it (T1). Rivals come next.
-- grain: id (unordered)
-- inputs: core__feedback, core__rating_partners, core__reviews
-- params: min_weight, review_corrections

with active as (
    select
        feedback_id, event_date, occurred_at, effective_type, sentiment, is_contested, quality_weight, domain, error_type,
        correction_type, has_query, has_answer, prompt_key, split, thread_key, answer_hash, correction_hash,
        preferred_hash, record_hash
    from core__feedback
    where status = 'active'
),

-- D8: a user's correction is reviewed too; unless that is asked for, only a reviewer's objection keeps it back
held_back as (
    select
        active.feedback_id,
        if(core__reviews.review_verdict = 'rejected', 'rejected', 'not_ready') as review_reason
    from active
    left join core__reviews on core__reviews.example_id = active.feedback_id
    where active.effective_type = 'correction'
        and coalesce(core__reviews.review_verdict <> 'approved', $review_corrections)
),

-- T1: what a row of each type may be a candidate for
kinds as (
    select effective_type, format
    from (
        values
            ('rating', 'instruction'), ('flag', 'instruction'), ('rating', 'unpaired'), ('correction', 'correction'),
            ('correction', 'preference'), ('preference', 'preference'), ('rating', 'preference')
    ) as kinds (effective_type, format)
),

proposed as (
    select
        active.*,
        kinds.format,
        if(kinds.format = 'preference' and active.sentiment = 'negative', active.thread_key, null) as pairing_key
    from active
    join kinds using (effective_type)
    where kinds.format <> 'preference'
        or active.effective_type = 'preference'
        or active.correction_type in ('full_replacement', 'clarification')
        or active.sentiment = 'negative'
),

-- a thumbs-down answer is paired with the best thumbs-up one; partner.feedback_id is null where all are contested
candidates as (
    select
        proposed.*,
        partner.thread_key is not null as is_pair,
        partner.feedback_id as partner_id,
        partner.event_date as partner_event_date,
        partner.occurred_at as partner_occurred_at,
        partner.quality_weight as partner_weight,
        partner.has_answer as partner_has_answer,
        partner.answer_hash as partner_answer_hash,
        held_back.review_reason
    from proposed
    left join core__rating_partners as partner on proposed.pairing_key = partner.thread_key
    left join held_back on held_back.feedback_id = proposed.feedback_id
    where proposed.pairing_key is null or partner.thread_key is not null
),

-- side_a and side_b are what T2 compares beside prompt and context
judged as (
    select
        format,
        case
            when is_pair then 'feedback_rating_pair'
            when format = 'preference' and effective_type = 'correction' then 'feedback_correction_pair'
            when format = 'preference' then 'feedback_preference'
            when format = 'correction' then 'feedback_correction'
            when format = 'unpaired' then 'feedback_rating'
            when effective_type = 'flag' then 'feedback_flag'
            else 'feedback_' || sentiment
        end as source,
        feedback_id as origin_id,
        partner_id,
        event_date,
        partner_event_date,
        if(is_pair, greatest(occurred_at, coalesce(partner_occurred_at, occurred_at)), occurred_at) as occurred_at,
        if(is_pair, least(quality_weight, coalesce(partner_weight, quality_weight)), quality_weight) as quality_weight,
        domain,
        if(format = 'correction', error_type, null) as error_type,
        if(format = 'unpaired', sentiment = 'positive', null) as label,
        prompt_key,
        split,
        thread_key,
        case
            when is_pair then coalesce(partner_answer_hash, 0)
            when format = 'correction' then record_hash
            when format = 'preference' and effective_type = 'correction' then correction_hash
            when format = 'preference' then preferred_hash
            else answer_hash
        end as side_a,
        case format
            when 'preference' then answer_hash
            when 'correction' then (correction_hash = answer_hash)::ubigint
            when 'unpaired' then (sentiment = 'positive')::ubigint
            else 0::ubigint
        end as side_b,
        has_query and has_answer and coalesce(partner_has_answer, true) as has_text,
        (is_pair and partner_id is null) or (effective_type = 'rating' and coalesce(is_contested, false)) as is_contested,
        case
            when effective_type = 'flag' then 'flag'
            when format = 'instruction' and sentiment = 'negative' then 'negative_rating'
            when sentiment = 'neutral' then 'neutral_rating'
            else review_reason
        end as excluding_type
    from candidates
)

select
    -- begins with the row's own hash, so that all records of a row are neighbours in a release, which is in order of id
    left(md5(origin_id), 16) || left(md5(concat_ws('|', format, source, partner_id)), 8) as id,
    format,
    source,
    origin_id,
    partner_id,
    event_date,
    partner_event_date,
    occurred_at,
    -- reasons before and after the one that looks at other candidates (conflicting)
    case
        when excluding_type is not null then excluding_type
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
from judged
