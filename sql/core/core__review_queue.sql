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
),

-- ranked in two steps, because one order over all rows is one worker's: by thousandths of a score, then within one
placed as (
    select
        *,
        row_number() over (
            partition by is_contradicted, has_attempt, has_feedback, thousandth order by quality_score desc, item_id
        ) as place
    from (select *, floor(quality_score * 1000) as thousandth from waiting) as waiting
),

thousandths as (
    select is_contradicted, has_attempt, has_feedback, thousandth, count(*) as row_count
    from placed
    group by is_contradicted, has_attempt, has_feedback, thousandth
),

before as (
    select
        is_contradicted, has_attempt, has_feedback, thousandth,
        sum(row_count) over (order by is_contradicted desc, has_attempt desc, has_feedback desc, thousandth desc)
            - row_count as rows_before
    from thousandths
)

select
    (before.rows_before + placed.place)::bigint as rank,
    placed.item_id,
    placed.kind,
    placed.event_date,
    placed.domain,
    placed.quality_score,
    placed.quality_flags,
    placed.is_contradicted,
    placed.has_attempt,
    placed.has_feedback,
    placed.review_reasons
from placed
join before
    on before.is_contradicted = placed.is_contradicted
    and before.has_attempt = placed.has_attempt
    and before.has_feedback = placed.has_feedback
    and before.thousandth = placed.thousandth
order by rank, placed.item_id
