-- One active flag `harmful` that no person has settled yet, newest first, with its texts (F12).
-- grain: feedback_id
-- inputs: core__feedback, core__settlements, raw_feedback__entries
-- params: none

with harmful as (
    select
        core__feedback.feedback_id, response_id, session_id, user_id, occurred_at, event_date, domain, quality_weight,
        is_escalated, response_confidence,
        row_number() over (partition by event_date order by occurred_at desc, core__feedback.feedback_id) as place
    from core__feedback
    anti join core__settlements on core__settlements.feedback_id = core__feedback.feedback_id
    where status = 'active' and effective_type = 'flag' and flag_type = 'harmful'
),

-- ranked in two steps, because one order over all rows is one worker's: by day, then within one
days as (
    select event_date, count(*) as row_count
    from harmful
    group by event_date
),

newer as (
    select event_date, sum(row_count) over (order by event_date desc) - row_count as rows_before
    from days
)

select
    (newer.rows_before + harmful.place)::bigint as rank,
    harmful.feedback_id,
    harmful.response_id,
    harmful.session_id,
    harmful.user_id,
    harmful.occurred_at,
    harmful.domain,
    harmful.quality_weight,
    harmful.is_escalated,
    harmful.response_confidence,
    entries.original_query,
    entries.original_response,
    entries.conversation_context,
    entries.flag_details
from harmful
join newer on newer.event_date = harmful.event_date
join raw_feedback__entries as entries on entries.feedback_id = harmful.feedback_id
