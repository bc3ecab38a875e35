-- One class of the detector's verdicts and one tenth of its confidence, beside what people said explicitly about the same turns (C7).
-- grain: compared_with, detected, confidence_decile
-- inputs: core__judged_turns
-- params: none

with deciles as (
    select
        compared_with,
        detected,
        confidence_decile,
        count(*) as judged_count,
        count(*) filter (where is_right) as right_count,
        sum(millionths(feedback_confidence)) as confidence_sum
    from core__judged_turns
    group by compared_with, detected, confidence_decile
)

select
    compared_with,
    detected,
    confidence_decile,
    judged_count,
    right_count,
    share(right_count, judged_count) as right_share,
    share_low(right_count, judged_count) as right_share_low,
    share_high(right_count, judged_count) as right_share_high,
    share_of_millionths(confidence_sum, judged_count) as mean_confidence
from deciles
order by compared_with, detected, confidence_decile
