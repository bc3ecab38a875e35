-- One distilled example before as_of: what users say of it (M1), whether it may leave (D6, D8) and as what (D7).
-- grain: example_id
-- inputs: core__distilled_answers, core__example_feedback, core__feedback, core__reviews
-- params: auto_ready, ready_score

with answers as (
    select
        example_id, source_id, origin, session_id, occurred_at, event_date, prompt_key, split, thread_key, answer_hash,
        attempt_hash, domain, subdomain, task_type, reasoning_type, complexity, step_count, error_count, principle_count,
        quality_flags, source_quality_score, quality_score, source_review, is_source_ready, source_training_format, has_query,
        has_answer, has_attempt, changed_fraction, edit_distance_mark, is_hardly_changed, is_right_attempt, is_unseen_attempt, is_failed,
        extracted, source_rows
    from core__distilled_answers
),

-- M1: what the feedback that is about an example adds up to
told as (
    select
        core__example_feedback.example_id,
        count(*) as feedback_count,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (
            where effective_type = 'correction' or (effective_type = 'flag' and flag_type in ('harmful', 'incorrect'))
        ) as objections
    from core__example_feedback
    join core__feedback using (feedback_id)
    group by core__example_feedback.example_id
),

verdicts as (
    select
        example_id,
        feedback_count,
        case
            when objections > 0 or down > up then 'contradicted'
            when up > down then 'validated'
        end as feedback_verdict
    from told
),

reviewed as (
    select
        answers.*,
        coalesce(verdicts.feedback_count, 0) as feedback_count,
        verdicts.feedback_verdict,
        core__reviews.review_verdict,
        case
            when core__reviews.review_verdict in ('approved', 'rejected') then core__reviews.review_verdict
            when core__reviews.review_verdict = 'disputed' or source_review = 0 then 'pending'
            when source_review = 1 then 'approved'
            else 'rejected'
        end as review_status,
        has_attempt and not list_contains(quality_flags, 'refusal') and not is_hardly_changed as has_contrast,
        step_count >= 2 and coalesce(reasoning_type in ('chain_of_thought', 'multi_step'), false) as is_reasoned
    from answers
    left join verdicts using (example_id)
    left join core__reviews using (example_id)
),

-- D7: the stored format, else what the example has most of; a right attempt is no correction's
wished as (
    select
        *,
        case
            when origin = 'synthetic_pair' then 'preference'
            when source_training_format in ('instruction', 'cot', 'preference', 'correction') then source_training_format
            when error_count > 0 then 'correction'
            when is_reasoned then 'cot'
            else 'instruction'
        end as wished_format
    from reviewed
)

select
    example_id,
    source_id,
    origin,
    session_id,
    occurred_at,
    event_date,
    prompt_key,
    split,
    thread_key,
    answer_hash,
    attempt_hash,
    domain,
    subdomain,
    task_type,
    reasoning_type,
    complexity,
    step_count,
    quality_score,
    source_quality_score,
    quality_flags,
    case
        when review_status = 'approved' then greatest(quality_score, 0.7)
        else quality_score
    end as quality_weight,
    review_status,
    coalesce(review_verdict in ('approved', 'rejected'), false) as is_own_review,
    case
        when review_status <> 'pending' then review_status = 'approved'
        when review_verdict = 'disputed' then false
        when origin = 'synthetic_pair' then attempt_hash is distinct from answer_hash and (has_attempt or has_answer)
        when is_source_ready then true
        else $auto_ready and quality_score >= $ready_score
            and not (
                list_contains(quality_flags, 'repetition') or list_contains(quality_flags, 'incomplete')
                or list_contains(quality_flags, 'refusal')
            )
    end as is_ready,
    case
        when origin = 'synthetic_pair' or wished_format in ('instruction', 'cot') then wished_format
        when has_contrast and not (wished_format = 'correction' and is_right_attempt) then wished_format
        when is_reasoned then 'cot'
        else 'instruction'
    end as training_format,
    feedback_verdict,
    feedback_count,
    has_query,
    has_answer,
    has_attempt,
    changed_fraction,
    edit_distance_mark,
    is_hardly_changed,
    is_unseen_attempt,
    is_failed,
    extracted,
    source_rows
from wished
order by example_id
