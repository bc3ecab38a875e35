-- One candidate that does not leave because of the votes of others: outvoted, or in conflict with its reverse (F13).
-- grain: id
-- inputs: core__feedback_candidates, core__distillation_candidates, core__pair_votes
-- params: none

with contenders as (
    select id, format, source, thread_key, side_a, side_b, late_reason, quality_weight, occurred_at
    from core__feedback_candidates
    where early_reason is null

    union all

    select id, format, source, thread_key, side_a, side_b, late_reason, quality_weight, occurred_at
    from core__distillation_candidates
    where early_reason is null
),

votes as (
    select thread_key, side_a, side_b, votes_for, votes_against
    from core__pair_votes
),

explicit_pairs as (
    select contenders.id, contenders.thread_key, contenders.side_a, contenders.side_b, votes.votes_for, votes.votes_against
    from contenders
    join votes
        on contenders.thread_key = votes.thread_key
        and contenders.side_a = votes.side_a
        and contenders.side_b = votes.side_b
    where contenders.source in ('feedback_preference', 'feedback_correction_pair')
),

rating_pairs as (
    select id, thread_key, side_a, side_b
    from contenders
    where source = 'feedback_rating_pair' and side_a <> side_b
),

-- an even count, or two rating pairs that are each other's reverse
conflicting as (
    select id, thread_key, side_a, side_b
    from explicit_pairs
    where votes_for = votes_against

    union all

    select rating_pairs.id, rating_pairs.thread_key, rating_pairs.side_a, rating_pairs.side_b
    from rating_pairs
    semi join rating_pairs as backward
        on rating_pairs.thread_key = backward.thread_key
        and rating_pairs.side_a = backward.side_b
        and rating_pairs.side_b = backward.side_a
),

outvoted as (
    select id, thread_key, side_a, side_b
    from explicit_pairs
    where votes_for < votes_against

    union all

    select rating_pairs.id, rating_pairs.thread_key, rating_pairs.side_a, rating_pairs.side_b
    from rating_pairs
    anti join conflicting on rating_pairs.id = conflicting.id
    semi join votes
        on rating_pairs.thread_key = votes.thread_key
        and rating_pairs.side_a = votes.side_b
        and rating_pairs.side_b = votes.side_a
        and votes.votes_for > votes.votes_against
),

remaining as (
    select
        contenders.id, contenders.format, contenders.thread_key, contenders.side_a, contenders.side_b,
        contenders.late_reason, contenders.quality_weight, contenders.occurred_at
    from contenders
    anti join conflicting on contenders.id = conflicting.id
    anti join outvoted on contenders.id = outvoted.id
),

-- what won against an outvoted pair: the record that leaves, or would if nothing else spoke against it
won as (
    select outvoted.id, remaining.id as winner_id
    from outvoted
    join remaining
        on outvoted.thread_key = remaining.thread_key
        and outvoted.side_a = remaining.side_b
        and outvoted.side_b = remaining.side_a
    where remaining.format = 'preference'
    qualify row_number() over (
        partition by outvoted.id
        order by remaining.late_reason is not null, remaining.quality_weight desc, remaining.occurred_at desc, remaining.id
    ) = 1
),

rivals as (
    select id, 'conflicting' as reason, null::varchar as duplicate_of
    from conflicting

    union all

    select outvoted.id, 'outvoted', won.winner_id
    from outvoted
    left join won on outvoted.id = won.id
)

select id, reason, duplicate_of
from rivals
order by id
