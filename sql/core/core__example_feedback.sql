-- One active feedback row that is about a distilled example, and the way it was found: the first of three that finds any (M1).
-- grain: example_id, feedback_id
-- inputs: core__distilled_answers, core__feedback
-- params: none

with answers as (
    select example_id, source_id, session_id, prompt_key, answer_hash, attempt_hash
    from core__distilled_answers
),

feedback as (
    select feedback_id, response_id, session_id, prompt_key, has_query, answer_hash, is_escalated
    from core__feedback
    where status = 'active'
),

-- an example's id is its winner's, with the table before it or as the source has it
named as (
    select example_id, source_id as response_id, answer_hash, attempt_hash
    from answers

    union

    select example_id, example_id, answer_hash, attempt_hash
    from answers
),

-- feedback about the teacher's answer; what is said of SAM's attempt is about another answer, however it is found, and
-- an empty text is the same as no other
about as (
    select named.example_id, feedback.feedback_id, 1 as way, 'response' as found_by
    from named
    join feedback using (response_id)
    where feedback.answer_hash = named.answer_hash or coalesce(feedback.answer_hash <> named.attempt_hash, true)

    union all

    select answers.example_id, feedback.feedback_id, 2, 'session and question'
    from answers
    join feedback on feedback.session_id = answers.session_id and feedback.prompt_key = answers.prompt_key
    where feedback.has_query
        and (
            feedback.answer_hash = answers.answer_hash
            or (feedback.is_escalated and coalesce(feedback.answer_hash <> answers.attempt_hash, true))
        )

    union all

    select answers.example_id, feedback.feedback_id, 3, 'question and answer'
    from answers
    join feedback on feedback.prompt_key = answers.prompt_key and feedback.answer_hash = answers.answer_hash
    where feedback.has_query and feedback.is_escalated
),

first_way as (
    select example_id, min(way) as way
    from about
    group by example_id
)

select about.example_id, about.feedback_id, about.found_by
from about
semi join first_way on first_way.example_id = about.example_id and first_way.way = about.way
order by about.example_id, about.feedback_id
