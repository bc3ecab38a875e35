-- One example or user correction a person may judge: whether it waits for one, why, and how much it is worth to judge it (D8).
-- grain: item_id
-- inputs: core__distillation, core__feedback, core__reviews
-- params: none

with items as (
    select
        example_id as item_id,
        'example' as kind,
        event_date,
        domain,
        quality_score,
        quality_flags,
        coalesce(feedback_verdict = 'contradicted', false) as is_contradicted,
        has_attempt,
        feedback_count > 0 as has_feedback,
        review_status = 'pending' and not is_ready as is_undecided,
        not is_failed and origin <> 'synthetic_pair' and not is_own_review and review_status <> 'rejected' as is_open
    from core__distillation
),

judged as (
    select
        item_id, kind, event_date, domain, quality_score, quality_flags, is_contradicted, has_attempt, has_feedback,
        -- what was judged is told as if nobody had: a second look at it is blind
        case
            when is_contradicted and is_undecided then ['contradicted', 'not_ready']
            when is_contradicted then ['contradicted']
            else ['not_ready']
        end as review_reasons,
        is_open and (is_undecided or is_contradicted) as is_waiting
    from items

    union all

    select
        core__feedback.feedback_id, 'correction', core__feedback.event_date, core__feedback.domain,
        core__feedback.quality_weight, [], false, core__feedback.has_answer, true, ['user_correction'],
        not coalesce(core__reviews.review_verdict in ('approved', 'rejected'), false)
    from core__feedback
    left join core__reviews on core__reviews.example_id = core__feedback.feedback_id
    where core__feedback.status = 'active' and core__feedback.effective_type = 'correction'
)

select
    item_id,
    kind,
    event_date,
    domain,
    quality_score,
    quality_flags,
    is_contradicted,
    has_attempt,
    has_feedback,
    review_reasons,
    is_waiting,
    -- contradicted, attempt, feedback, score, all descending, in one number: a score is below two
    (if(is_contradicted, 8000000, 0) + if(has_attempt, 4000000, 0) + if(has_feedback, 2000000, 0))::bigint
        + millionths(quality_score) as review_priority
from judged
