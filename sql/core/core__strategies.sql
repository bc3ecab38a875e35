-- One turn with a strategy, best first: accepted before neutral, by ranking and quality; rejected ones last, not to be reused (C4).
-- grain: turn_key
-- inputs: core__turns
-- params: spaces

with turns as (
    select
        turn_key, user_id, turn_id, session_id, occurred_at, intent, strategy_summary, feedback_status, is_reusable,
        ranking_score, quality_score,
        case feedback_status when 'accepted' then 1 when 'neutral' then 2 else 3 end as place
    from core__turns
    where trim(strategy_summary, $spaces) <> ''
),

-- ranked in two steps, because one order over all rows is one worker's: by thousandths of a score, then within one
ranked as (
    select
        *,
        row_number() over (
            partition by place, thousandth order by ranking_score desc, coalesce(quality_score, 0) desc, turn_key
        ) as inner_rank
    from (select *, floor(ranking_score * 1000) as thousandth from turns) as turns
),

thousandths as (
    select place, thousandth, count(*) as row_count
    from ranked
    group by place, thousandth
),

better as (
    select
        place, thousandth,
        sum(row_count) over (order by place, thousandth desc) - row_count as rows_before
    from thousandths
)

select
    (better.rows_before + ranked.inner_rank)::bigint as rank,
    ranked.turn_key,
    ranked.user_id,
    ranked.turn_id,
    ranked.session_id,
    ranked.occurred_at,
    ranked.intent,
    ranked.strategy_summary,
    ranked.feedback_status,
    ranked.is_reusable,
    ranked.ranking_score,
    ranked.quality_score
from ranked
join better on better.place = ranked.place and better.thousandth = ranked.thousandth
order by rank, ranked.turn_key
