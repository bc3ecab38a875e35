-- One confidence decile of the detector beside what people said explicitly about the same turns, with Wilson's 95 % interval.
-- grain: compared_with, confidence_decile
-- inputs: core__turns, core__feedback, core__reactions
-- params: none

with turns as (
    select turn_key, turn_id, user_id, session_id, prompt_key, occurred_at, feedback_status, feedback_confidence
    from core__turns
    where session_id is not null
),

rated as (
    -- a rating is about a turn if it names it, or was given in its session on the same question; the nearest before it counts
    select
        f.feedback_id, t.feedback_status, t.feedback_confidence,
        t.feedback_status = if(f.sentiment = 'positive', 'accepted', 'rejected') as is_right
    from core__feedback as f
    inner join turns as t
        on f.session_id = t.session_id
        and (f.response_id = t.turn_id or f.prompt_key = t.prompt_key)
        and (f.user_id = t.user_id or f.user_id is null or t.user_id is null)
        and f.occurred_at >= t.occurred_at
    where f.status = 'active' and f.effective_type = 'rating' and f.sentiment in ('positive', 'negative')
    qualify row_number() over (
        partition by f.feedback_id order by f.response_id = t.turn_id desc, t.occurred_at desc, t.turn_key
    ) = 1
),

reacted as (
    -- a reaction names its turn; turn ids are unique per user only
    select
        r.reaction_id, t.feedback_status, t.feedback_confidence,
        t.feedback_status = if(r.reaction = 'ok', 'accepted', 'rejected') as is_right
    from core__reactions as r
    inner join turns as t
        on r.conversation_id = t.session_id
        and r.turn_id = t.turn_id
        and (r.user_id = t.user_id or r.user_id is null or t.user_id is null)
    where r.is_active and r.origin = 'user' and r.reaction in ('ok', 'not_ok')
    qualify row_number() over (partition by r.reaction_id order by r.user_id = t.user_id desc nulls last, t.turn_key) = 1
),

judged as (
    -- of a neutral turn the detector claims nothing
    select 'ratings' as compared_with, feedback_confidence, is_right
    from rated
    where feedback_status <> 'neutral'
    union all
    select 'reactions' as compared_with, feedback_confidence, is_right
    from reacted
    where feedback_status <> 'neutral'
),

deciles as (
    select
        compared_with,
        least(floor(feedback_confidence * 10 + 1e-9)::bigint, 9) as confidence_decile,
        count(*) as judged_count,
        count(*) filter (where is_right) as right_count,
        sum(millionths(feedback_confidence)) as confidence_sum
    from judged
    group by compared_with, confidence_decile
),

shares as (
    select
        *,
        right_count / nullif(judged_count, 0) as p,
        -- how far off the sum of all claims is, in millionths
        abs(1000000 * right_count - confidence_sum) as off_sum
    from deciles
),

intervals as (
    select
        *,
        wilson_low(p, judged_count) as low,
        wilson_high(p, judged_count) as high,
        sum(off_sum) over (partition by compared_with) as off_total,
        sum(judged_count) over (partition by compared_with) as judged_total
    from shares
)

select
    compared_with,
    confidence_decile,
    judged_count,
    right_count,
    share(right_count, judged_count) as right_share,
    six_decimals(greatest(0, low)) as right_share_low,
    six_decimals(least(1, high)) as right_share_high,
    share_of_millionths(confidence_sum, judged_count) as mean_confidence,
    share_of_millionths(off_total, judged_total) as calibration_error
from intervals
order by compared_with, confidence_decile
