-- How did the releases change from one to the next, by format?
with counted as (
    select release_date, release, format, sum(record_count) as records
    from releases
    group by release_date, release, format
)

select release, format, records, records - lag(records) over (partition by format order by release_date, release) as change
from counted
order by release_date, release, format
