-- One active flag `harmful`, newest first (F12).
-- grain: feedback_id
-- inputs: core__feedback
-- params: none

with harmful as (
    select feedback_id, response_id, session_id, user_id, occurred_at, domain, is_escalated, response_confidence
    from core__feedback
    where status = 'active' and effective_type = 'flag' and flag_type = 'harmful'
)

select
    row_number() over (order by occurred_at desc, feedback_id) as rank,
    feedback_id,
    response_id,
    session_id,
    user_id,
    occurred_at,
    domain,
    is_escalated,
    response_confidence
from harmful
order by rank
