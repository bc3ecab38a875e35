-- One feedback row that shares its response, or its prompt and context, with another row or a distilled example: what others may decide about.
-- grain: feedback_id
-- inputs: core__feedback_keys, core__distilled_answers
-- params: none

-- all that looks across rows (F3, F6, F8, F13, T2) looks at rows with the same response_id or the same thread; whatever is alone
-- there keeps what it says, so the queries about others read these rows instead of all
with responses as (
    select response_key
    from core__feedback_keys
    group by response_key
    having count(*) > 1
),

threads as (
    select thread_key
    from core__feedback_keys
    where thread_key is not null
    group by thread_key
    having count(*) > 1

    union

    select thread_key
    from core__distilled_answers
    where thread_key is not null
)

select
    entries.feedback_id, entries.response_id, entries.session_id, entries.user_id, entries.voter_id,
    entries.occurred_at, entries.event_date, entries.feedback_type, entries.effective_type, entries.sentiment,
    entries.comment, entries.rating, entries.rating_scale, entries.correction_type, entries.flag_type,
    entries.domain, entries.error_type, entries.response_confidence, entries.is_escalated, entries.is_processed,
    entries.source_quality_weight, entries.what_was_wrong_length, entries.correction_length,
    entries.comparison_basis_length, entries.has_query, entries.has_answer, entries.prompt_key, entries.split,
    entries.response_key, entries.voice_key, entries.thread_key, entries.answer_key, entries.answer_hash,
    entries.correction_hash, entries.preferred_hash, entries.record_hash, entries.is_fragment, entries.is_respaced,
    entries.loose_hash, entries.is_unseen_attempt
from core__feedback_keys as entries
left join responses on entries.response_key = responses.response_key
left join threads on entries.thread_key = threads.thread_key
where responses.response_key is not null or threads.thread_key is not null
order by entries.event_date, entries.feedback_id
