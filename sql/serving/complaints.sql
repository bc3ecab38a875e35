-- One negative signal with what was asked, answered and said; its texts are masked by the tables it reads (N, T8).
-- grain: signal_id
-- inputs: core__signals, core__feedback, raw_feedback__entries, core__turns, raw_conversations__turns, raw_conversations__turn_index, raw_reactions__reactions, core__sessions, raw_sessions__feedback
-- params: none

with negative as (
    select
        signal_id, system, kind, event_date, occurred_at, tenant_id, workspace_id, domain, session_id, user_id, answer_ref,
        is_explicit, confidence, weight
    from core__signals
    where polarity = 'negative'
),

turn_texts as (
    select turn_key, query, response
    from raw_conversations__turns
    union all
    select turn_key, query, response
    from raw_conversations__turn_index
),

session_remarks as (
    select
        feedback.id as feedback_id,
        array_to_string(sessions.error_categories, ', ') as categories,
        nullif(concat_ws(chr(10), nullif(feedback.comment, ''), nullif(feedback.missing_context, '')), '') as said
    from raw_sessions__feedback as feedback
    join core__sessions as sessions on sessions.feedback_id = feedback.id
),

told as (
    select
        'feedback:' || feedback.feedback_id as signal_id,
        case feedback.effective_type
            when 'correction' then feedback.error_type
            when 'flag' then feedback.flag_type
            when 'preference' then 'another answer preferred'
            else 'thumbs_down'
        end as problem,
        entries.original_query as question,
        entries.original_response as answer,
        coalesce(
            nullif(feedback.comment, ''), nullif(entries.what_was_wrong, ''), nullif(entries.flag_details, ''),
            nullif(entries.comparison_basis, '')
        ) as said_by_user,
        case feedback.effective_type
            when 'correction' then entries.correction when 'preference' then entries.preferred_response
        end as better_answer
    from core__feedback as feedback
    join raw_feedback__entries as entries on entries.feedback_id = feedback.feedback_id
    where feedback.status = 'active'
    union all
    select
        'conversations:' || turns.turn_key as signal_id,
        turns.correction_type as problem,
        turn_texts.query as question,
        turn_texts.response as answer,
        turns.user_said as said_by_user,
        null::varchar as better_answer
    from core__turns as turns
    left join turn_texts on turn_texts.turn_key = turns.turn_key
    where turns.feedback_status = 'rejected'
    union all
    select
        negative.signal_id,
        null::varchar as problem,
        turn_texts.query as question,
        turn_texts.response as answer,
        nullif(reactions.reaction_text, '') as said_by_user,
        null::varchar as better_answer
    from negative
    join raw_reactions__reactions as reactions on 'reactions:' || reactions.reaction_id = negative.signal_id
    left join turn_texts on turn_texts.turn_key = negative.answer_ref
    union all
    select
        negative.signal_id,
        nullif(remarks.categories, '') as problem,
        null::varchar as question,
        null::varchar as answer,
        remarks.said as said_by_user,
        null::varchar as better_answer
    from negative
    join session_remarks as remarks on 'sessions:' || negative.kind || ':' || remarks.feedback_id = negative.signal_id
)

select
    negative.signal_id,
    negative.system,
    negative.kind,
    negative.event_date,
    negative.occurred_at,
    negative.tenant_id,
    negative.workspace_id,
    negative.domain,
    negative.session_id,
    negative.user_id,
    negative.answer_ref,
    negative.is_explicit,
    negative.confidence,
    negative.weight,
    told.problem,
    told.question,
    told.answer,
    told.said_by_user,
    told.better_answer
from negative
left join told on told.signal_id = negative.signal_id
