-- Which figures of whole days were published otherwise before, and why?
select restated_as_of, metric, date, coalesce(workspace_id, domain) as of_what, "column", old_value, new_value, why
from restatements
order by restated_as_of desc, metric, date, entry
