-- Voters with more than one active rating on a response (F3).
-- grain: voter_id, response_id
-- inputs: core__feedback, core__linked_feedback as core__feedback_keys
-- params: none

-- two ratings of a response share it, so both are among the linked rows
select voter_id, response_id, count(*) as active_count
from core__feedback
where status = 'active' and effective_type = 'rating' and status_ref is null
group by voter_id, response_id
having count(*) > 1
order by voter_id, response_id
