-- One answer that was rated down, that nobody has corrected and no person settled yet, heaviest first, with its texts (F12).
-- grain: feedback_id
-- inputs: core__feedback, core__settlements, raw_feedback__entries
-- params: none

with voices as (
    select
        feedback_id, response_id, session_id, user_id, answer_key, effective_type, sentiment, comment, domain, quality_weight,
        occurred_at, prompt_key, is_escalated, response_confidence, status,
        -- what is known by its response alone is an answer of its own
        if(answer_key is null, response_id, null) as lone_response_id
    from core__feedback
),

corrections as (
    select distinct response_id, answer_key
    from voices
    where status = 'active' and effective_type = 'correction'
),

-- what was settled is the answer, whichever of its ratings stood for it then
settled as (
    select distinct voices.answer_key, voices.lone_response_id
    from voices
    join core__settlements on core__settlements.feedback_id = voices.feedback_id
),

-- a correction is of its response and of the same answer elsewhere; the heaviest rating of an answer stands for it
waiting as (
    select
        voices.feedback_id, voices.comment, voices.occurred_at,
        first_value(voices.feedback_id) over (
            partition by voices.answer_key, voices.lone_response_id
            order by voices.quality_weight desc, voices.occurred_at desc, voices.feedback_id
        ) as request_id
    from voices
    anti join corrections on voices.response_id = corrections.response_id
    anti join corrections as elsewhere on voices.answer_key = elsewhere.answer_key
    anti join settled on voices.answer_key = settled.answer_key
    anti join settled as alone on voices.lone_response_id = alone.lone_response_id
    where voices.status = 'active' and voices.sentiment = 'negative'
),

requests as (
    select
        request_id,
        count(*) as negative_count,
        list({'at': occurred_at, 'id': feedback_id, 'comment': comment}) filter (where comment is not null) as remarks
    from waiting
    group by request_id
),

-- ranked in two steps, because one order over all rows is one worker's: by thousandths of a weight, then within one
ranked as (
    select
        requests.request_id,
        floor(voices.quality_weight * 1000) as thousandth,
        row_number() over (
            partition by floor(voices.quality_weight * 1000)
            order by voices.quality_weight desc, requests.negative_count desc, voices.occurred_at desc, voices.feedback_id
        ) as place
    from requests
    join voices on voices.feedback_id = requests.request_id
),

thousandths as (
    select thousandth, count(*) as row_count
    from ranked
    group by thousandth
),

heavier as (
    select thousandth, sum(row_count) over (order by thousandth desc) - row_count as rows_before
    from thousandths
)

select
    (heavier.rows_before + ranked.place)::bigint as rank,
    voices.answer_key,
    voices.feedback_id,
    voices.response_id,
    voices.session_id,
    voices.user_id,
    voices.domain,
    requests.negative_count,
    voices.quality_weight,
    voices.occurred_at,
    voices.prompt_key,
    voices.is_escalated,
    voices.response_confidence,
    entries.original_query,
    entries.original_response,
    entries.conversation_context,
    coalesce(list_transform(list_reverse_sort(requests.remarks), lambda said: said.comment), []) as comments
from requests
join voices on voices.feedback_id = requests.request_id
join ranked on ranked.request_id = requests.request_id
join heavier on heavier.thousandth = ranked.thousandth
join raw_feedback__entries as entries on entries.feedback_id = requests.request_id
