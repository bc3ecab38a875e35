-- One feedback row as a candidate for a training set, as it sees itself: for what format, and what speaks against it (T1). Rivals come next.
-- grain: id
-- inputs: core__feedback, core__rating_partners, core__condemned_answers, core__reviews
-- params: review_corrections

-- every step is read once: DuckDB would put down a step that two others read, with all its columns (3 s for a million rows)
with active as (
    select
        feedback_id, event_date, occurred_at, effective_type, sentiment, is_contested, quality_weight, base_weight, domain,
        error_type, correction_type, has_query, has_answer, prompt_key, thread_key, answer_hash, correction_hash,
        preferred_hash, record_hash, is_fragment, is_respaced, loose_hash, is_unseen_attempt
    from core__feedback
    where status = 'active'
),

-- T1: what a row of each type may be a candidate for; a list, as a join takes megabytes however few rows it joins
kinds as (
    select
        active.*,
        unnest(case effective_type
            when 'rating' then ['instruction', 'unpaired', 'preference']
            when 'flag' then ['instruction']
            when 'correction' then ['correction', 'preference']
            when 'preference' then ['preference']
        end) as format
    from active
),

proposed as (
    select
        kinds.*,
        format = 'preference' and coalesce(sentiment = 'negative', false) as needs_partner,
        -- a join on equality alone: with a condition beside it DuckDB compares every row with every partner
        if(format = 'preference' and sentiment = 'negative', thread_key, null) as partner_thread_key
    from kinds
    where format <> 'preference'
        or effective_type = 'preference'
        or correction_type in ('full_replacement', 'clarification')
        or sentiment = 'negative'
),

-- a thumbs-down answer is paired with the best thumbs-up one; partner.feedback_id is null where there is none to pair with
candidates as (
    select
        proposed.*,
        partner.thread_key is not null as is_rating_pair,
        partner.has_answers as partner_has_answers,
        partner.feedback_id as partner_id,
        partner.event_date as partner_event_date,
        partner.occurred_at as partner_occurred_at,
        partner.quality_weight as partner_weight,
        partner.base_weight as partner_base_weight,
        partner.answer_hash as partner_answer_hash,
        partner.loose_hash as partner_loose_hash,
        partner.is_unseen_attempt as partner_is_unseen_attempt,
        -- D8: a user's correction is reviewed too; unless that is asked for, only a reviewer's objection keeps it back
        case
            when proposed.effective_type <> 'correction' then null
            when core__reviews.review_verdict = 'rejected' then 'rejected'
            when coalesce(core__reviews.review_verdict <> 'approved', $review_corrections) then 'not_ready'
        end as review_reason,
        -- the answer the record would teach, if it teaches one
        case
            when partner.thread_key is not null then partner.answer_hash
            when proposed.effective_type = 'correction' then proposed.correction_hash
            when proposed.effective_type = 'preference' then proposed.preferred_hash
            when proposed.sentiment = 'positive' then proposed.answer_hash
        end as target_hash
    from proposed
    left join core__rating_partners as partner on proposed.partner_thread_key = partner.thread_key
    left join core__reviews on core__reviews.example_id = proposed.feedback_id
    where not proposed.needs_partner or partner.thread_key is not null
),

-- side_a and side_b are what T2 compares beside prompt and context
judged as (
    select
        candidates.format,
        case
            when is_rating_pair then 'feedback_rating_pair'
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
        if(partner_occurred_at > occurred_at, partner_occurred_at, occurred_at) as occurred_at,
        if(partner_weight < quality_weight, partner_weight, quality_weight) as quality_weight,
        if(partner_base_weight < base_weight, partner_base_weight, base_weight) as base_weight,
        domain,
        if(format = 'correction', error_type, null) as error_type,
        if(format = 'unpaired', sentiment = 'positive', null) as label,
        prompt_key,
        candidates.thread_key,
        case
            when format = 'correction' then record_hash
            when format = 'preference' then target_hash
            else candidates.answer_hash
        end as side_a,
        case format
            when 'preference' then candidates.answer_hash
            when 'correction' then (correction_hash = candidates.answer_hash)::bigint
            when 'unpaired' then (sentiment = 'positive')::bigint
            else 0
        end as side_b,
        case
            when effective_type = 'flag' then 'flag'
            when format = 'instruction' and sentiment = 'negative' then 'negative_rating'
            when sentiment = 'neutral' then 'neutral_rating'
            when review_reason is not null then review_reason
            when not (has_query and has_answer and coalesce(partner_has_answers, true)) then 'missing_text'
            when is_rating_pair and partner_id is null then 'contested'
            when is_contested or core__condemned_answers.answer_hash is not null then 'contested'
            when format = 'preference' and is_fragment then 'fragment'
        end as early_reason,
        format in ('preference', 'correction') and target_hash = candidates.answer_hash as is_same_answer,
        format = 'preference' and if(is_rating_pair, partner_loose_hash = loose_hash, is_respaced) as is_tie,
        format in ('instruction', 'preference') and if(is_rating_pair, partner_is_unseen_attempt, is_unseen_attempt)
            as is_unseen
    from candidates
    left join core__condemned_answers
        on candidates.thread_key = core__condemned_answers.thread_key
        and candidates.target_hash = core__condemned_answers.answer_hash
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
    -- reasons before and after those that look at votes (conflicting, outvoted); what comes then is a release's to say
    early_reason,
    case
        when is_same_answer then 'no_contrast'
        when is_tie then 'tie'
        when is_unseen then 'unseen_attempt'
    end as late_reason,
    quality_weight,
    base_weight,
    tier(quality_weight) as tier,
    domain,
    error_type,
    label,
    prompt_key,
    thread_key,
    side_a,
    side_b
from judged
