-- One feedback row before as_of: who speaks, whether it counts (F3), what it weighs and why (F4, F5), whether people agree (F8).
-- grain: feedback_id
-- inputs: core__feedback_keys, core__voices, core__answers, core__condemned_answers
-- params: as_of

with entries as (
    select
        feedback_id, response_id, session_id, user_id, voter_id, occurred_at, event_date, feedback_type, effective_type,
        sentiment, comment, rating, rating_scale, correction_type, flag_type, domain, error_type, response_confidence,
        is_escalated, is_processed, source_quality_weight, what_was_wrong_length, correction_length,
        comparison_basis_length, has_query, has_answer, prompt_key, split, thread_key, answer_key, answer_hash,
        correction_hash, preferred_hash, record_hash, is_fragment, is_respaced, loose_hash, is_unseen_attempt
    from core__feedback_keys
    where occurred_at < $as_of
),

-- F4: the parts of the weight
parts as (
    select
        entries.*,
        coalesce(core__voices.status, 'active') as status,
        core__voices.status_ref,
        -- what nobody else spoke about is contested by nobody
        case
            when core__voices.status is not null then null
            when entries.sentiment = 'positive'
                then coalesce(core__answers.up_count <= core__answers.down_count or core__answers.has_objection, false)
                    or core__condemned_answers.answer_hash is not null
            when entries.sentiment = 'negative' then coalesce(core__answers.down_count <= core__answers.up_count, false)
        end as is_contested,
        case entries.effective_type
            when 'correction' then 0.3
            when 'preference' then 0.2
            when 'rating' then 0.1
            else 0.0
        end::double as type_weight,
        temporal_factor(entries.occurred_at, $as_of) as temporal_factor,
        if(coalesce(entries.what_was_wrong_length, 0) > 50, 0.05, 0.0)::double as explanation_bonus,
        if(coalesce(entries.correction_length, 0) > 100, 0.05, 0.0)::double as substance_bonus,
        if(coalesce(entries.correction_type, '') = 'full_replacement', 0.05, 0.0)::double as full_replacement_bonus,
        if(coalesce(entries.comparison_basis_length, 0) > 30, 0.05, 0.0)::double as basis_bonus,
        if(entries.is_escalated, 0.05, 0.0)::double as escalation_bonus,
        if(coalesce(entries.response_confidence > 0.8 and entries.rating = -1, false), 0.1, 0.0)::double
            as overconfidence_bonus
    from entries
    left join core__voices on entries.feedback_id = core__voices.feedback_id
    left join core__answers
        on entries.response_id = core__answers.response_id
        and entries.answer_key is not distinct from core__answers.answer_key
    left join core__condemned_answers
        on entries.thread_key = core__condemned_answers.thread_key
        and entries.answer_hash = core__condemned_answers.answer_hash
),

bonused as (
    select
        *,
        explanation_bonus + substance_bonus + full_replacement_bonus + basis_bonus + escalation_bonus
            + overconfidence_bonus as bonuses
    from parts
),

-- six decimals of a double (sql/README.md)
weighed as (
    select
        *,
        weight_left(type_weight, temporal_factor, bonuses) as quality_weight,
        weight_left(type_weight, 1, bonuses) as base_weight
    from bonused
)

select
    feedback_id,
    response_id,
    session_id,
    user_id,
    voter_id,
    occurred_at,
    event_date,
    feedback_type,
    effective_type,
    sentiment,
    comment,
    rating,
    rating_scale,
    status,
    status_ref,
    quality_weight,
    struct_pack(
        base := 0.5::double,
        type := type_weight,
        temporal_factor := six_decimals(temporal_factor),
        explanation_bonus := explanation_bonus,
        substance_bonus := substance_bonus,
        full_replacement_bonus := full_replacement_bonus,
        basis_bonus := basis_bonus,
        escalation_bonus := escalation_bonus,
        overconfidence_bonus := overconfidence_bonus
    ) as weight_parts,
    tier(quality_weight) as tier,
    tier(base_weight) as base_tier,
    base_weight,
    source_quality_weight,
    is_contested,
    error_type,
    correction_type,
    flag_type,
    domain,
    response_confidence,
    is_escalated,
    is_processed,
    has_query,
    has_answer,
    prompt_key,
    split,
    thread_key,
    answer_key,
    answer_hash,
    correction_hash,
    preferred_hash,
    record_hash,
    is_fragment,
    is_respaced,
    loose_hash,
    is_unseen_attempt
from weighed
