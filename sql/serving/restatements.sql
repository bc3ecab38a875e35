-- One figure of a whole day that was published otherwise before, of any system: what it was, what it is, and why (S3).
-- grain: metric, entry
-- inputs: metric__restatements, metric__daily_restatements
-- params: none

select
    'metric__session_daily' as metric,
    entry,
    restated_as_of,
    previous_as_of,
    date,
    tenant_id,
    workspace_id,
    null::varchar as domain,
    "column",
    old_value,
    new_value,
    why
from metric__restatements
union all
select
    metric,
    entry,
    restated_as_of,
    previous_as_of,
    date,
    null::varchar as tenant_id,
    null::varchar as workspace_id,
    domain,
    "column",
    old_value,
    new_value,
    why
from metric__daily_restatements
