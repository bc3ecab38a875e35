-- One example or user correction that waits for a person, most valuable first (D8).
-- grain: item_id
-- inputs: core__distillation, core__feedback, core__reviews
-- params: none

with examples as (
    select
        example_id, event_date, domain, quality_score, quality_flags, feedback_verdict, feedback_count, has_attempt,
        is_own_review, is_ready, review_status, is_failed, source_rows
    from core__distillation
    where origin <> 'synthetic_pair'
),

waiting as (
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
        list_filter(
            [
                if(feedback_verdict = 'contradicted', 'contradicted', null),
                if(review_status = 'pending' and not is_ready, 'not_ready', null)
            ],
            x -> x is not null
        ) as review_reasons
    from examples
    where not is_failed
        and not is_own_review
        and (
            (review_status = 'pending' and not is_ready)
            or (feedback_verdict = 'contradicted' and review_status <> 'rejected')
        )

    union all

    select
        core__feedback.feedback_id, 'correction', core__feedback.event_date, core__feedback.domain,
        core__feedback.quality_weight, [], false, core__feedback.has_answer, true, ['user_correction']
    from core__feedback
    anti join core__reviews on core__reviews.example_id = core__feedback.feedback_id
        and core__reviews.review_verdict in ('approved', 'rejected')
    where core__feedback.status = 'active' and core__feedback.effective_type = 'correction'
)

select
    row_number() over (
        order by is_contradicted desc, has_attempt desc, has_feedback desc, quality_score desc, item_id
    ) as rank,
    item_id,
    kind,
    event_date,
    domain,
    quality_score,
    quality_flags,
    is_contradicted,
    has_attempt,
    has_feedback,
    review_reasons
from waiting
order by rank, item_id
