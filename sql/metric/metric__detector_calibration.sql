-- One confidence decile of the detector beside what people said explicitly about the same turns, with Wilson's 95 % interval.
-- grain: compared_with, confidence_decile
-- inputs: core__turns, core__signals
-- params: none

with told as (
    -- of a neutral turn the detector claims nothing
    select
        turn_key as answer_ref, feedback_confidence as confidence,
        if(feedback_status = 'accepted', 'positive', 'negative') as polarity
    from core__turns
    where feedback_status in ('rejected', 'accepted')
),

said as (
    select answer_ref, polarity, if(system = 'feedback', 'ratings', 'reactions') as compared_with
    from core__signals
    where is_explicit
        and polarity in ('positive', 'negative')
        and (kind in ('rating', 'comment') and system = 'feedback' or system = 'reactions')
),

judged as (
    select said.compared_with, told.confidence as feedback_confidence, said.polarity = told.polarity as is_right
    from said
    join told on said.answer_ref = told.answer_ref
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
