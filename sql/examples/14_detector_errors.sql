-- On which turns was the detector wrong, and what had the user written?
select j.occurred_at, j.turn_key, j.compared_with, j.detected, j.feedback_confidence, j.reason, j.polarity as user_said_explicitly,
    t.user_said
from judged_turns as j
join core__turns as t on t.turn_key = j.turn_key
where not j.is_right
order by j.feedback_confidence desc, j.signal_id
limit 20
