-- One rated answer of one response that others spoke about too: votes and objections of all active rows that share its response_id or the answer itself (F8).
-- grain: response_id, answer_key
-- inputs: core__feedback_keys, core__voices
-- params: as_of

-- whoever shares neither response nor answer with another row is left out first, by integers: most rows are alone
with shared_responses as (
    select response_key
    from core__feedback_keys
    group by response_key
    having count(*) > 1
),

shared_answers as (
    select answer_key
    from core__feedback_keys
    where answer_key is not null
    group by answer_key
    having count(*) > 1
),

active as (
    select
        entries.feedback_id, entries.response_id, entries.answer_key, entries.voter_id, entries.occurred_at,
        entries.effective_type, entries.sentiment, entries.flag_type
    from core__feedback_keys as entries
    left join shared_responses on entries.response_key = shared_responses.response_key
    left join shared_answers on entries.answer_key = shared_answers.answer_key
    anti join core__voices on entries.feedback_id = core__voices.feedback_id
    where entries.occurred_at < $as_of
        and (shared_responses.response_key is not null or shared_answers.answer_key is not null)
),

repeated_responses as (
    select response_id
    from active
    group by response_id
    having count(*) > 1
),

repeated_answers as (
    select answer_key
    from active
    where answer_key is not null
    group by answer_key
    having count(*) > 1
),

-- the rows that are not alone; a row without an answer of its own is found by its response only
company as (
    select
        active.feedback_id, active.response_id, active.answer_key, active.voter_id, active.occurred_at, active.sentiment,
        active.effective_type = 'rating' as is_rating,
        active.effective_type = 'correction' or coalesce(active.flag_type = 'incorrect', false) as is_objection
    from active
    left join repeated_responses on active.response_id = repeated_responses.response_id
    left join repeated_answers on active.answer_key = repeated_answers.answer_key
    where repeated_responses.response_id is not null or repeated_answers.answer_key is not null
),

-- a voter has one active rating on a response (F3)
responses as (
    select
        response_id,
        count(*) filter (where is_rating) as ratings,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down,
        count(*) filter (where is_objection) as objections
    from company
    group by response_id
),

-- of an answer's ratings by one voter the latest
answer_voices as (
    select answer_key, voter_id, sentiment, occurred_at, feedback_id
    from company
    where is_rating and answer_key is not null
    qualify row_number() over (partition by answer_key, voter_id order by occurred_at desc, feedback_id desc) = 1
),

answer_votes as (
    select
        answer_key,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down
    from answer_voices
    group by answer_key
),

answer_rows as (
    select
        answer_key,
        count(*) filter (where is_rating) as ratings,
        count(*) filter (where is_objection) as objections
    from company
    where answer_key is not null
    group by answer_key
),

judged as (
    select response_id, answer_key, count(*) as shared
    from company
    where is_rating
    group by response_id, answer_key
),

-- mostly one of the two sets of ratings lies in the other, and its votes are the votes
compared as (
    select
        judged.response_id,
        judged.answer_key,
        responses.ratings as response_ratings,
        answer_rows.ratings as answer_ratings,
        judged.shared = coalesce(answer_rows.ratings, judged.shared) as is_response_enough,
        judged.shared = responses.ratings as is_answer_enough,
        responses.up as response_up,
        responses.down as response_down,
        answer_votes.up as answer_up,
        answer_votes.down as answer_down,
        responses.objections + coalesce(answer_rows.objections, 0) > 0 as has_objection
    from judged
    join responses on judged.response_id = responses.response_id
    left join answer_rows on judged.answer_key = answer_rows.answer_key
    left join answer_votes on judged.answer_key = answer_votes.answer_key
),

-- where they merely overlap both are added up, and voters found in both counted once; looked for from the smaller side
crossing as (
    select response_id, answer_key, response_ratings <= answer_ratings as is_response_smaller
    from compared
    where not is_response_enough and not is_answer_enough
),

response_voices as (
    select company.response_id, company.voter_id, company.sentiment, company.occurred_at, company.feedback_id
    from company
    semi join crossing on company.response_id = crossing.response_id
    where company.is_rating
),

voices_in_both as (
    select
        crossing.response_id, crossing.answer_key, response_voices.sentiment as response_sentiment,
        answer_voices.sentiment as answer_sentiment, response_voices.occurred_at as response_at,
        answer_voices.occurred_at as answer_at, response_voices.feedback_id as response_feedback_id,
        answer_voices.feedback_id as answer_feedback_id
    from crossing
    join response_voices on crossing.response_id = response_voices.response_id
    join answer_voices
        on crossing.answer_key = answer_voices.answer_key and response_voices.voter_id = answer_voices.voter_id
    where crossing.is_response_smaller

    union all

    select
        crossing.response_id, crossing.answer_key, response_voices.sentiment, answer_voices.sentiment,
        response_voices.occurred_at, answer_voices.occurred_at, response_voices.feedback_id, answer_voices.feedback_id
    from crossing
    join answer_voices on crossing.answer_key = answer_voices.answer_key
    join response_voices
        on crossing.response_id = response_voices.response_id and answer_voices.voter_id = response_voices.voter_id
    where not crossing.is_response_smaller
),

-- the earlier of a voter's two ratings goes
counted_twice as (
    select
        response_id,
        answer_key,
        case
            when response_at < answer_at or (response_at = answer_at and response_feedback_id < answer_feedback_id)
                then response_sentiment
            else answer_sentiment
        end as sentiment
    from voices_in_both
),

too_many as (
    select
        response_id,
        answer_key,
        count(*) filter (where sentiment = 'positive') as up,
        count(*) filter (where sentiment = 'negative') as down
    from counted_twice
    group by response_id, answer_key
)

select
    compared.response_id,
    compared.answer_key,
    case
        when is_response_enough then response_up
        when is_answer_enough then answer_up
        else response_up + answer_up - coalesce(too_many.up, 0)
    end as up_count,
    case
        when is_response_enough then response_down
        when is_answer_enough then answer_down
        else response_down + answer_down - coalesce(too_many.down, 0)
    end as down_count,
    has_objection
from compared
left join too_many on compared.response_id = too_many.response_id and compared.answer_key = too_many.answer_key
order by compared.response_id, compared.answer_key
