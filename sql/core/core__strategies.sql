-- One turn with a strategy, best first: accepted before neutral, by ranking and quality; rejected ones last, not to be reused (C4).
-- grain: turn_key
-- inputs: core__turns
-- params: none

with turns as (
    select
        turn_key, user_id, turn_id, session_id, occurred_at, intent, strategy_summary, feedback_status, is_reusable,
        ranking_score, quality_score,
        case feedback_status when 'accepted' then 1 when 'neutral' then 2 else 3 end as place
    from core__turns
    where trim(strategy_summary) <> ''
)

select
    row_number() over (order by place, ranking_score desc, coalesce(quality_score, 0) desc, turn_key) as rank,
    turn_key,
    user_id,
    turn_id,
    session_id,
    occurred_at,
    intent,
    strategy_summary,
    feedback_status,
    is_reusable,
    ranking_score,
    quality_score
from turns
order by rank, turn_key
