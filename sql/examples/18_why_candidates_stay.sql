-- Why do candidates not leave for training, and which weigh so much that it is a pity?
select format, reason, count(*) as candidates, round(avg(quality_weight), 3) as mean_weight
from training_exclusions
where is_newest
group by format, reason
order by format, candidates desc, reason
