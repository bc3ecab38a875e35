-- One example or user correction that waits for a person, most valuable first (D8).
-- grain: item_id
-- inputs: core__review_items
-- params: none

with waiting as (
    select
        item_id, kind, event_date, domain, quality_score, quality_flags, is_contradicted, has_attempt, has_feedback,
        review_reasons, review_priority, review_priority // 1000 as thousandth
    from core__review_items
    where is_waiting
),

-- ranked in two steps, because one order over all rows is one worker's: by thousandths of a score, then within one
placed as (
    select *, row_number() over (partition by thousandth order by review_priority desc, item_id) as place
    from waiting
),

thousandths as (
    select thousandth, count(*) as row_count
    from placed
    group by thousandth
),

before as (
    select thousandth, sum(row_count) over (order by thousandth desc) - row_count as rows_before
    from thousandths
)

select
    (before.rows_before + placed.place)::bigint as rank,
    placed.item_id,
    placed.kind,
    placed.event_date,
    placed.domain,
    placed.quality_score,
    placed.quality_flags,
    placed.is_contradicted,
    placed.has_attempt,
    placed.has_feedback,
    placed.review_reasons
from placed
join before on before.thousandth = placed.thousandth
order by rank, placed.item_id
