-- One rated answer: what its active feedback adds up to (seed 0's feedback_aggregates, F11).
-- grain: response_id
-- inputs: core__feedback
-- params: none

with active as (
    select
        response_id, session_id, occurred_at, effective_type, sentiment, rating, rating_scale, response_confidence
    from core__feedback
    where status = 'active'
),

counted as (
    select
        response_id,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (where effective_type = 'rating') as ratings,
        count(*) filter (where effective_type = 'correction') as corrections,
        count(*) filter (where effective_type = 'preference') as preferences,
        count(*) filter (where effective_type = 'flag') as flags,
        sum(rating) filter (where effective_type = 'rating' and rating_scale = 'five') as five_sum,
        count(*) filter (where effective_type = 'rating' and rating_scale = 'five') as five_count,
        -- fractions are added as integers, because floating addition in parallel is not repeatable (G2)
        sum(round(response_confidence * 1e12)::decimal(38, 0))
            filter (where effective_type = 'rating' and response_confidence is not null) as confidence_sum,
        count(response_confidence) filter (where effective_type = 'rating') as confidence_count,
        min(epoch_us(occurred_at)) as first_us,
        max(epoch_us(occurred_at)) as last_us,
        min(session_id) as one_session,
        max(session_id) as other_session
    from active
    group by response_id
),

-- both sides of two differences over one denominator, so that each is rounded once, as it is (sql/README.md)
compared as (
    select
        *,
        up + down as voted,
        abs(up - down) as lead,
        up::decimal(38, 0) * confidence_count * 1000000000000 - confidence_sum * (up + down) as surprise,
        (up + down)::decimal(38, 0) * confidence_count * 1000000 as surprise_unit
    from counted
),

-- nearly every answer was rated in one session; only the others need a list made
several_sessions as (
    select active.response_id, list_sort(list(distinct active.session_id)) as session_ids
    from active
    semi join (select response_id from counted where one_session <> other_session) as spread using (response_id)
    where active.session_id is not null
    group by active.response_id
)

select
    compared.response_id,
    up as thumbs_up_count,
    down as thumbs_down_count,
    share(five_sum, five_count) as avg_rating,
    ratings as rating_count,
    corrections as correction_count,
    preferences as preference_count,
    flags as flag_count,
    sign(up - down) * share(lead, voted) as net_sentiment,
    sign(surprise) * wide_share_of_millionths(abs(surprise), surprise_unit) as confidence_delta,
    first_us / 1e6 as first_feedback_at,
    last_us / 1e6 as last_feedback_at,
    case
        when several_sessions.response_id is not null then several_sessions.session_ids
        when one_session is null then []
        else [one_session]
    end as session_ids
from compared
left join several_sessions using (response_id)
