-- One format: how many candidates it has, whatever becomes of them (G3).
-- grain: format
-- inputs: core__feedback_candidates, core__distillation_candidates
-- params: none

with candidates as (
    select format
    from core__feedback_candidates

    union all

    select format
    from core__distillation_candidates
)

select format, count(*) as candidate_count
from candidates
group by format
order by format
