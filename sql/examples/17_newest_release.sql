-- What is in the newest training release, by format and split?
select release, format, split, record_count, mean_weight
from releases
where is_newest
order by format, split
