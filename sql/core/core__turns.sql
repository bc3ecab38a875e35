-- One turn before as_of: what the next message says of it, its scores, whether a planner may reuse it (C1-C5).
-- grain: turn_key
-- inputs: core__turn_pairs, core__head_verdicts, core__turn_references, raw_conversations__turns, raw_conversations__turn_index
-- params: as_of, spaces

with references_back as (
    select message_turn_key
    from core__turn_references
    where rank = 1
),

heads as (
    -- a message about an earlier turn says nothing of the last one, so no head judges it (C6, C7)
    select
        turn_key, feedback_status, feedback_confidence, nominal_confidence, confidence_low, correction_type, reason, rejection_chance
    from core__head_verdicts
    anti join references_back on core__head_verdicts.next_turn_key = references_back.message_turn_key
),

-- what looks at a whole thread looks at few columns, and only at threads with a rejection
verdicts as (
    select
        p.turn_key, p.thread_id, p.occurred_at, p.turn_number,
        coalesce(h.feedback_status, p.feedback_status) = 'rejected' and b.message_turn_key is null as is_rejected
    from core__turn_pairs as p
    left join heads as h on p.turn_key = h.turn_key
    left join references_back as b on p.next_turn_key = b.message_turn_key
    where p.occurred_at < $as_of
),

rejecting_threads as (
    select thread_id
    from verdicts
    where is_rejected
    group by thread_id
),

runs as (
    -- a run of rejections ends where a turn is not rejected: count those up to here
    select
        *,
        count(if(is_rejected, null, 1))
            over (partition by thread_id order by occurred_at, turn_number, turn_key) as run_number
    from verdicts
    semi join rejecting_threads on verdicts.thread_id = rejecting_threads.thread_id
),

rejections as (
    select
        turn_key,
        count(*) over (partition by thread_id, run_number order by occurred_at, turn_number, turn_key)
            as consecutive_rejections
    from runs
    where is_rejected
),

found_pairs as (
    select
        p.turn_key, p.user_id, p.turn_number, p.turn_id, p.session_id, p.thread_id, p.occurred_at, p.event_date,
        coalesce(h.feedback_status, p.feedback_status) as feedback_status,
        coalesce(h.feedback_confidence, p.feedback_confidence) as feedback_confidence,
        coalesce(h.nominal_confidence, p.nominal_confidence) as nominal_confidence,
        coalesce(h.confidence_low, p.confidence_low) as confidence_low,
        if(h.turn_key is null, p.correction_type, h.correction_type) as correction_type,
        coalesce(h.reason, p.reason) as reason,
        h.rejection_chance,
        p.next_turn_id, p.next_at, p.similarity, p.source_status, p.source_confidence, p.source_correction_type,
        p.validation_outcome, p.quality_score, p.intent, p.strategy_summary, p.prompt_key, p.query_source, p.response_source,
        p.source_file, p.next_turn_key,
        b.message_turn_key is not null and p.feedback_status <> 'neutral' as is_about_another
    from core__turn_pairs as p
    left join heads as h on p.turn_key = h.turn_key
    left join references_back as b on p.next_turn_key = b.message_turn_key
    where p.occurred_at < $as_of
),

pairs as (
    -- such a message leaves the last turn neutral (C6)
    select
        turn_key, user_id, turn_number, turn_id, session_id, thread_id, occurred_at, event_date,
        if(is_about_another, 'neutral', feedback_status) as feedback_status,
        if(is_about_another, 0.5, feedback_confidence) as feedback_confidence,
        if(is_about_another, 0.5, nominal_confidence) as nominal_confidence,
        if(is_about_another, 0, confidence_low) as confidence_low,
        if(is_about_another, null, correction_type) as correction_type,
        next_turn_key, next_turn_id, next_at, similarity,
        if(is_about_another, 'refers_back', reason) as reason,
        rejection_chance,
        source_status, source_confidence, source_correction_type, validation_outcome, quality_score, intent, strategy_summary, prompt_key,
        query_source, response_source, source_file
    from found_pairs
),

scored as (
    select
        pairs.*,
        coalesce(rejections.consecutive_rejections, 0) as consecutive_rejections,
        case lower(trim(validation_outcome, $spaces))
            when 'approve' then 0.5
            when 'revise' then 0.3
            when 'retry' then 0.1
            when 'fail' then -0.5
        end as base_score,
        case feedback_status when 'rejected' then -1.0 when 'accepted' then 0.5 else 0.0 end as feedback_weight
    from pairs
    left join rejections on pairs.turn_key = rejections.turn_key
),

rejecting as (
    -- one turn may stand in both tables: the newer one's text counts
    select next_turn_key
    from scored
    where feedback_status = 'rejected'
    group by next_turn_key
),

newer as (
    select t.turn_key, t.query
    from raw_conversations__turns as t
    semi join rejecting on t.turn_key = rejecting.next_turn_key
),

older as (
    select t.turn_key, t.query
    from raw_conversations__turn_index as t
    semi join rejecting on t.turn_key = rejecting.next_turn_key
),

messages as (
    select rejecting.next_turn_key as message_key, coalesce(newer.query, older.query) as said
    from rejecting
    left join newer on rejecting.next_turn_key = newer.turn_key
    left join older on rejecting.next_turn_key = older.turn_key
),

ranked as (
    select
        scored.*,
        if(feedback_status = 'rejected', messages.said, null) as user_said,
        -- a note is read in a few lines: a paste is cut, and what was said stays one line
        substr(trim(regexp_replace(messages.said, '\s+', ' ', 'g'), $spaces), 1, 300) as said_in_short,
        trim(regexp_replace(strategy_summary, '\s+', ' ', 'g'), $spaces) as strategy_in_short,
        0.6 * coalesce(quality_score, 0)::double + 0.4 * feedback_weight::double as exact_ranking
    from scored
    left join messages on scored.next_turn_key = messages.message_key
)

select
    turn_key,
    user_id,
    turn_number,
    turn_id,
    session_id,
    thread_id,
    occurred_at,
    event_date,
    feedback_status,
    feedback_confidence,
    nominal_confidence,
    confidence_low,
    correction_type,
    next_turn_id as detected_in_turn,
    next_at as detected_at,
    user_said,
    if(
        feedback_status = 'rejected',
        '### Previous Response Feedback' || chr(10)
        || '**Status:** REJECTED' || chr(10)
        || '**Detected:** Turn ' || regexp_replace(next_turn_id, '^turn_0{0,5}', '') || ' detected that Turn '
        || turn_number::varchar || ' was rejected' || chr(10)
        || coalesce('**User said:** "' || nullif(said_in_short, '') || '"' || chr(10), '')
        || coalesce('**Previous strategy:** ' || nullif(strategy_in_short, '') || chr(10), '')
        || chr(10) || '**Instruction for Planner:**' || chr(10)
        || '- Do NOT reuse the strategy from Turn ' || turn_number::varchar
        || if(
            consecutive_rejections >= 2,
            chr(10) || '- ' || consecutive_rejections::varchar
            || ' responses in a row were rejected: be more careful, consider asking back',
            ''
        ),
        null
    ) as planner_note,
    similarity,
    reason,
    rejection_chance,
    source_status,
    source_confidence,
    source_correction_type,
    source_status <> feedback_status as is_disputed,
    case feedback_status
        when 'rejected' then -1.0
        when 'accepted' then least(coalesce(base_score, 0) + 0.5, 1.0)
        else base_score
    end as satisfaction_score,
    -- a source's own score may be any number; one this large has no six decimals
    if(abs(exact_ranking) < 1e9, six_decimals(exact_ranking), exact_ranking) as ranking_score,
    feedback_status <> 'rejected' as is_reusable,
    consecutive_rejections,
    validation_outcome,
    quality_score,
    intent,
    strategy_summary,
    prompt_key,
    query_source,
    response_source,
    source_file
from ranked
order by turn_key
