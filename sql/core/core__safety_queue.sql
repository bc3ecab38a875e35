-- One active flag `harmful` that no person has settled yet, newest first, with its texts (F12).
-- grain: feedback_id
-- inputs: core__feedback, core__settlements, raw_feedback__entries
-- params: none

with harmful as (
    select
        core__feedback.feedback_id, response_id, session_id, user_id, occurred_at, domain, quality_weight, is_escalated,
        response_confidence
    from core__feedback
    anti join core__settlements on core__settlements.feedback_id = core__feedback.feedback_id
    where status = 'active' and effective_type = 'flag' and flag_type = 'harmful'
)

select
    row_number() over (order by harmful.occurred_at desc, harmful.feedback_id) as rank,
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
join raw_feedback__entries as entries on entries.feedback_id = harmful.feedback_id
order by rank, harmful.feedback_id
