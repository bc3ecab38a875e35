-- One answer to a survey before as_of.
-- grain: id
-- inputs: raw_surveys__answers
-- params: as_of, spaces

select
    id,
    nullif(user_id, 'default') as user_id,
    nullif(session_id, 'default') as session_id,
    lower(trim(answer, $spaces)) as answer,
    occurred_at,
    event_date
from raw_surveys__answers
where occurred_at < $as_of
order by id
