-- Voters with more than one active rating on a response (F3).
-- grain: voter_id, response_id
-- inputs: core__voices, core__feedback_keys
-- params: as_of

select core__feedback_keys.voter_id, core__feedback_keys.response_id, count(*) as active_count
from core__feedback_keys
anti join core__voices on core__feedback_keys.feedback_id = core__voices.feedback_id
where core__feedback_keys.occurred_at < $as_of and core__feedback_keys.effective_type = 'rating'
group by core__feedback_keys.voter_id, core__feedback_keys.response_id
having count(*) > 1
order by core__feedback_keys.voter_id, core__feedback_keys.response_id
