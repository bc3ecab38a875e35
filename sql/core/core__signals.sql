-- One signal of satisfaction, all systems in one shape (semantics N).
-- grain: signal_id (unordered)
-- inputs: core__feedback
-- params: none

with feedback as (
    select
        feedback_id, response_id, session_id, user_id, occurred_at, effective_type, comment, sentiment, quality_weight,
        event_date
    from core__feedback
    where status = 'active'
)

select
    'feedback:' || feedback_id as signal_id,
    'feedback' as system,
    if(comment is not null, 'comment', effective_type) as kind,
    response_id as subject_id,
    session_id,
    user_id,
    occurred_at,
    coalesce(sentiment, 'negative') as polarity,
    true as is_explicit,
    1.0::double as confidence,
    quality_weight as weight
from feedback
