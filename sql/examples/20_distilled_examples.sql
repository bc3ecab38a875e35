-- How many distilled examples are ready, and what keeps the others back?
select
    domain,
    count(*) as examples,
    count(*) filter (where is_ready) as ready,
    count(*) filter (where review_status = 'rejected') as rejected,
    count(*) filter (where feedback_verdict = 'contradicted') as contradicted_by_users,
    count(*) filter (where not is_ready and quality_score < 0.7) as score_too_low,
    round(avg(quality_score), 3) as mean_score
from core__distillation
where origin <> 'synthetic_pair'
group by domain
order by domain
