-- Rows whose key is in the lake under more than one day (G7): a row that moved, or two files that disagree (F3).
-- grain: feedback_id, event_date
-- inputs: raw_feedback__entries
-- params: none

with repeated as (
    select feedback_id
    from raw_feedback__entries
    group by feedback_id
    having count(*) > 1
)

select
    raw_feedback__entries.feedback_id as key,
    raw_feedback__entries.event_date,
    raw_feedback__entries.occurred_at,
    raw_feedback__entries.source_file,
    raw_feedback__entries.source_rowid
from raw_feedback__entries
semi join repeated using (feedback_id)
order by feedback_id, event_date
