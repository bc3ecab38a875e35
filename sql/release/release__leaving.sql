-- One candidate that leaves: nothing speaks against it, neither itself nor a rival (T1). It has no `order by`: the release puts its records in an order of its own.
-- grain: id
-- inputs: core__feedback_candidates, core__distillation_candidates, core__candidate_rivals, core__pair_votes
-- params: none

with candidates as (
    select
        id, format, source, origin_id, partner_id, event_date, partner_event_date, prompt_key, split, quality_weight,
        base_weight, tier, domain, error_type, label, false as is_distilled,
        -- votes are about explicit pairs alone (F13); a join on equality
        if(source in ('feedback_preference', 'feedback_correction_pair'), thread_key, null) as voted_key,
        side_a, side_b
    from core__feedback_candidates
    where early_reason is null and late_reason is null

    union all

    select
        id, format, source, origin_id, partner_id, event_date, partner_event_date, prompt_key, split, quality_weight,
        base_weight, tier, domain, error_type, label, true as is_distilled,
        null::bigint as voted_key, side_a, side_b
    from core__distillation_candidates
    where early_reason is null and late_reason is null
)

select
    candidates.id, candidates.format, candidates.source, candidates.origin_id, candidates.partner_id,
    candidates.event_date, candidates.partner_event_date, candidates.prompt_key, candidates.split,
    candidates.quality_weight, candidates.base_weight, candidates.tier, candidates.domain, candidates.error_type,
    candidates.label, candidates.is_distilled, core__pair_votes.votes_for, core__pair_votes.votes_against
from candidates
anti join core__candidate_rivals on candidates.id = core__candidate_rivals.id
left join core__pair_votes
    on candidates.voted_key = core__pair_votes.thread_key
    and candidates.side_a = core__pair_votes.side_a
    and candidates.side_b = core__pair_votes.side_b
