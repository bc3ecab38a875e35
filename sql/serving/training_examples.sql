-- One exported training record of any format and release (T4).
-- grain: release, id
-- inputs: train__instruction, train__cot, train__correction, train__preference, train__unpaired
-- params: none

select
    'instruction' as format,
    id,
    content_id,
    source,
    origin_ids,
    prompt_key,
    split,
    quality_weight,
    tier,
    domain,
    release,
    release_date,
    context,
    instruction as prompt,
    output as answer,
    null::varchar as worse_answer,
    null::boolean as label
from train__instruction
union all
select
    'cot' as format,
    id,
    content_id,
    source,
    origin_ids,
    prompt_key,
    split,
    quality_weight,
    tier,
    domain,
    release,
    release_date,
    context,
    instruction as prompt,
    output as answer,
    null::varchar as worse_answer,
    null::boolean as label
from train__cot
union all
select
    'correction' as format,
    id,
    content_id,
    source,
    origin_ids,
    prompt_key,
    split,
    quality_weight,
    tier,
    domain,
    release,
    release_date,
    context,
    input as prompt,
    output as answer,
    null::varchar as worse_answer,
    null::boolean as label
from train__correction
union all
select
    'preference' as format,
    id,
    content_id,
    source,
    origin_ids,
    prompt_key,
    split,
    quality_weight,
    tier,
    domain,
    release,
    release_date,
    context,
    prompt,
    chosen as answer,
    rejected as worse_answer,
    null::boolean as label
from train__preference
union all
select
    'unpaired' as format,
    id,
    content_id,
    source,
    origin_ids,
    prompt_key,
    split,
    quality_weight,
    tier,
    domain,
    release,
    release_date,
    context,
    prompt,
    completion as answer,
    null::varchar as worse_answer,
    label
from train__unpaired
