-- How much of the feedback counts, and how much is one person saying it again?
select status, effective_type, count(*) as rows, count(distinct voter_id) as people, round(avg(quality_weight), 3) as mean_weight
from core__feedback
group by status, effective_type
order by status, effective_type
