-- One explicit pair, a better and a worse answer to the same prompt and context: how many people say so, and how many the opposite (F13).
-- grain: thread_key, side_a, side_b
-- inputs: core__feedback_candidates, core__feedback_keys
-- params: none

with pairs as (
    select origin_id, thread_key, side_a, side_b
    from core__feedback_candidates
    -- every such source is of this format, and DuckDB can tell a format before it has joined anything
    where format = 'preference'
        and source in ('feedback_preference', 'feedback_correction_pair')
        and early_reason is null
        and side_a <> side_b
),

-- a question is two answers, whichever is the better one
questions as (
    select
        pairs.thread_key,
        pairs.side_a,
        pairs.side_b,
        least(pairs.side_a, pairs.side_b) as one_answer,
        greatest(pairs.side_a, pairs.side_b) as other_answer,
        core__feedback_keys.voter_id,
        core__feedback_keys.occurred_at,
        core__feedback_keys.feedback_id
    from pairs
    join core__feedback_keys on pairs.origin_id = core__feedback_keys.feedback_id
),

-- one vote per voter, the latest
votes as (
    select thread_key, one_answer, other_answer, side_a
    from questions
    qualify row_number() over (
        partition by thread_key, one_answer, other_answer, voter_id order by occurred_at desc, feedback_id desc
    ) = 1
),

results as (
    select
        thread_key,
        one_answer,
        other_answer,
        count(*) filter (where side_a = one_answer) as for_one,
        count(*) filter (where side_a = other_answer) as for_other
    from votes
    group by thread_key, one_answer, other_answer
),

stated as (
    select distinct thread_key, one_answer, other_answer, side_a, side_b
    from questions
)

select
    stated.thread_key,
    stated.side_a,
    stated.side_b,
    if(stated.side_a = stated.one_answer, for_one, for_other) as votes_for,
    if(stated.side_a = stated.one_answer, for_other, for_one) as votes_against
from stated
join results
    on stated.thread_key = results.thread_key
    and stated.one_answer = results.one_answer
    and stated.other_answer = results.other_answer
order by stated.thread_key, stated.side_a, stated.side_b
