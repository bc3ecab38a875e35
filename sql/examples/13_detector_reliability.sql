-- How far can the detector of rejections be trusted, for each class and confidence?
select compared_with, detected, confidence_decile / 10 as confidence_from, judged_count, right_count, right_share,
    right_share_low, right_share_high, mean_confidence
from calibration_by_class
order by compared_with, detected, confidence_decile
