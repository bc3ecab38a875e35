-- One confidence decile of the detector beside what people said explicitly about the same turns, with Wilson's 95 % interval.
-- grain: compared_with, confidence_decile
-- inputs: core__judged_turns
-- params: none

with deciles as (
    select
        compared_with,
        confidence_decile,
        count(*) as judged_count,
        count(*) filter (where is_right) as right_count,
        sum(millionths(feedback_confidence)) as confidence_sum
    from core__judged_turns
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
