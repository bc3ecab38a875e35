-- One distilled example before as_of: what users say of it (M1), whether it may leave (D6, D8) and as what (D7).
-- grain: example_id
-- inputs: core__distilled_answers, core__feedback, core__reviews
-- params: auto_ready, ready_score

with answers as (
    select
        example_id, source_id, origin, session_id, occurred_at, event_date, prompt_key, split, thread_key, answer_hash,
        attempt_hash, domain, subdomain, task_type, reasoning_type, complexity, step_count, error_count, principle_count,
        quality_flags, source_quality_score, quality_score, source_review, is_source_ready, source_training_format, has_query,
        has_answer, has_attempt, changed_fraction, edit_distance_mark, is_hardly_changed, is_unseen_attempt, is_failed,
        extracted, source_rows
    from core__distilled_answers
),

feedback as (
    select response_id, session_id, prompt_key, has_query, answer_hash, is_escalated, effective_type, sentiment, flag_type
    from core__feedback
    where status = 'active'
),

-- an example's id is its winner's, with the table before it or as the source has it
named as (
    select example_id, source_id as response_id, answer_hash, attempt_hash
    from answers

    union

    select example_id, example_id, answer_hash, attempt_hash
    from answers
),

-- M1: feedback about the teacher's answer, found in three ways of which the first that finds any counts; what is said of
-- SAM's attempt is about another answer, however it is found, and an empty text is the same as no other
about as (
    select named.example_id, 1 as way, feedback.effective_type, feedback.sentiment, feedback.flag_type
    from named
    join feedback using (response_id)
    where feedback.answer_hash = named.answer_hash or coalesce(feedback.answer_hash <> named.attempt_hash, true)

    union all

    select answers.example_id, 2, feedback.effective_type, feedback.sentiment, feedback.flag_type
    from answers
    join feedback on feedback.session_id = answers.session_id and feedback.prompt_key = answers.prompt_key
    where feedback.has_query
        and (
            feedback.answer_hash = answers.answer_hash
            or (feedback.is_escalated and coalesce(feedback.answer_hash <> answers.attempt_hash, true))
        )

    union all

    select answers.example_id, 3, feedback.effective_type, feedback.sentiment, feedback.flag_type
    from answers
    join feedback on feedback.prompt_key = answers.prompt_key and feedback.answer_hash = answers.answer_hash
    where feedback.has_query and feedback.is_escalated
),

told as (
    select
        example_id, way,
        count(*) as feedback_count,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (
            where effective_type = 'correction' or (effective_type = 'flag' and flag_type in ('harmful', 'incorrect'))
        ) as objections
    from about
    group by example_id, way
),

first_way as (
    select example_id, min(way) as way
    from told
    group by example_id
),

verdicts as (
    select
        told.example_id,
        told.feedback_count,
        case
            when objections > 0 or down > up then 'contradicted'
            when up > down then 'validated'
        end as feedback_verdict
    from told
    semi join first_way using (example_id, way)
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

-- D7: the stored format, else what the example has most of
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
        when origin = 'synthetic_pair' or has_contrast or wished_format in ('instruction', 'cot') then wished_format
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
