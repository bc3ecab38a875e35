-- One candidate that did not leave, with the one reason (T1).
-- grain: release_date, id
-- inputs: core__training_candidates
-- params: release_date

select
    id,
    format,
    source,
    origin_ids,
    reason,
    duplicate_of,
    $release_date::date as release_date
from core__training_candidates
where reason is not null
order by id
