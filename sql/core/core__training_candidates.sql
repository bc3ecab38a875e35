-- One candidate for a training set: it leaves, or it has one reason why not (T1, T2).
-- grain: id
-- inputs: core__feedback
-- params: min_weight

with active as not materialized (
    select
        feedback_id, event_date, occurred_at, effective_type, sentiment, is_contested, quality_weight, domain, error_type,
        correction_type, has_query, has_answer, prompt_key, split, thread_key, answer_hash, correction_hash,
        preferred_hash, record_hash
    from core__feedback
    where status = 'active'
),

-- F6: a thumbs-down answer is paired with the heaviest uncontested thumbs-up answer to the same prompt and context
disliked_threads as (
    select distinct thread_key
    from active
    where sentiment = 'negative'
),

liked_threads as (
    select
        thread_key,
        first(
            {
                'feedback_id': feedback_id, 'event_date': event_date, 'occurred_at': occurred_at,
                'quality_weight': quality_weight, 'has_answer': has_answer, 'answer_hash': answer_hash
            }
            order by quality_weight desc, occurred_at desc, feedback_id
        ) filter (where not is_contested) as partner
    from active
    semi join disliked_threads using (thread_key)
    where sentiment = 'positive'
    group by thread_key
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
        'preference', 'feedback_rating_pair', active.feedback_id, partner.feedback_id, active.event_date,
        partner.event_date, greatest(active.occurred_at, coalesce(partner.occurred_at, active.occurred_at)),
        least(active.quality_weight, coalesce(partner.quality_weight, active.quality_weight)), active.domain, null,
        null, active.prompt_key, active.split, thread_key, coalesce(partner.answer_hash, 0), active.answer_hash,
        active.has_query and active.has_answer and coalesce(partner.has_answer, true),
        active.is_contested or partner is null, null
    from active
    join liked_threads using (thread_key)
    where active.sentiment = 'negative'
),

identified as (
    select
        left(md5(concat_ws('|', format, source, feedback_id, partner_id)), 20) as id,
        *,
        case
            when early_reason is not null then early_reason
            when not has_text then 'missing_text'
            when is_contested then 'contested'
        end as first_reason
    from candidates
),

-- two pairs that are each other's reverse: neither leaves
pairs as (
    select distinct thread_key, side_a, side_b
    from identified
    where format = 'preference' and first_reason is null and side_a <> side_b
),

reversed_pairs as (
    select forward.thread_key, forward.side_a, forward.side_b
    from pairs as forward
    join pairs as backward
        on forward.thread_key = backward.thread_key
        and forward.side_a = backward.side_b
        and forward.side_b = backward.side_a
),

weighed as (
    select
        identified.*,
        case
            when first_reason is not null then first_reason
            when format = 'preference' and reversed_pairs.thread_key is not null then 'conflicting'
            when format = 'preference' and identified.side_a = identified.side_b then 'no_contrast'
            when format = 'correction' and identified.side_b = 1 then 'no_contrast'
            when quality_weight < $min_weight then 'low_weight'
        end as second_reason
    from identified
    left join reversed_pairs
        on identified.format = 'preference'
        and identified.thread_key = reversed_pairs.thread_key
        and identified.side_a = reversed_pairs.side_a
        and identified.side_b = reversed_pairs.side_b
),

-- T2: of exact duplicates the heaviest survives, then the newest, then the smallest id
repeated as (
    select format, thread_key, side_a, side_b
    from weighed
    where second_reason is null
    group by format, thread_key, side_a, side_b
    having count(*) > 1
),

survivors as (
    select
        weighed.format, weighed.thread_key, weighed.side_a, weighed.side_b,
        first(weighed.id order by weighed.quality_weight desc, weighed.occurred_at desc, weighed.id) as surviving_id
    from weighed
    semi join repeated using (format, thread_key, side_a, side_b)
    where weighed.second_reason is null
    group by weighed.format, weighed.thread_key, weighed.side_a, weighed.side_b
)

select
    weighed.id,
    weighed.format,
    weighed.source,
    if(
        weighed.partner_id is null,
        [weighed.feedback_id],
        [weighed.feedback_id, weighed.partner_id]
    ) as origin_ids,
    weighed.feedback_id,
    weighed.partner_id,
    weighed.event_date,
    weighed.partner_event_date,
    weighed.occurred_at,
    coalesce(
        weighed.second_reason,
        if(survivors.surviving_id <> weighed.id, 'duplicate', null)
    ) as reason,
    if(
        weighed.second_reason is null and survivors.surviving_id <> weighed.id, survivors.surviving_id, null
    ) as duplicate_of,
    weighed.quality_weight,
    case
        when weighed.quality_weight >= 0.9 then 'premium'
        when weighed.quality_weight >= 0.7 then 'high'
        when weighed.quality_weight >= 0.5 then 'standard'
        when weighed.quality_weight >= 0.3 then 'low'
        else 'very_low'
    end as tier,
    weighed.domain,
    weighed.error_type,
    weighed.label,
    weighed.prompt_key,
    weighed.split
from weighed
left join survivors using (format, thread_key, side_a, side_b)
order by weighed.event_date, weighed.id
