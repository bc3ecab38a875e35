-- Which answers were rated down that nobody has corrected yet?
select rank, domain, negative_count, quality_weight, original_query, original_response, comments
from core__correction_requests
order by rank
limit 20
