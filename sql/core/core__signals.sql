-- One signal of satisfaction, all systems in one shape (N).
-- grain: signal_id
-- inputs: core__feedback, core__turns, core__reactions, core__sessions, core__answer_refs
-- params: none

with feedback as (
    select
        feedback_id, response_id, session_id, user_id, domain, event_date, occurred_at, effective_type, comment, sentiment,
        quality_weight
    from core__feedback
    where status = 'active'
),

reactions as (
    select
        reaction_id, turn_id, conversation_id, user_id, tenant, event_date, occurred_at, origin, reaction, confidence
    from core__reactions
    where is_active
),

turns as (
    -- the signal is given when the next message comes
    select
        turn_key, feedback_status, session_id, user_id, detected_at, feedback_confidence,
        (detected_at at time zone 'UTC')::date as event_date
    from core__turns
    where feedback_status in ('rejected', 'accepted')
),

sessions as (
    -- a rating and a verdict are a signal each, by the person who gave them
    select
        feedback_id, session_id, coalesce(nullif(submitted_by, 'default'), user_id) as user_id, submitted_at, rating, verdict,
        tenant_id, workspace_id, (submitted_at at time zone 'UTC')::date as event_date
    from core__sessions
    where feedback_id is not null
),

signals as (
    select
        'feedback:' || feedback_id as signal_id,
        'feedback' as system,
        if(comment is not null, 'comment', effective_type) as kind,
        response_id as subject_id,
        'feedback:' || response_id as own_ref,
        session_id,
        user_id,
        null::varchar as tenant_id,
        null::varchar as workspace_id,
        domain,
        event_date,
        occurred_at,
        feedback_polarity(sentiment) as polarity,
        true as is_explicit,
        1.0::double as confidence,
        quality_weight as weight
    from feedback
    union all
    select
        'reactions:' || reaction_id as signal_id,
        'reactions' as system,
        coalesce(reaction, 'neutral') as kind,
        turn_id as subject_id,
        'reactions:' || conversation_id || '/' || turn_id as own_ref,
        conversation_id as session_id,
        user_id,
        tenant as tenant_id,
        null::varchar as workspace_id,
        null::varchar as domain,
        event_date,
        occurred_at,
        case reaction when 'ok' then 'positive' when 'not_ok' then 'negative' else 'neutral' end as polarity,
        origin is distinct from 'machine' as is_explicit,
        if(origin = 'machine', confidence, 1) as confidence,
        if(origin = 'machine', confidence, 1) as weight
    from reactions
    union all
    select
        'conversations:' || turn_key as signal_id,
        'conversations' as system,
        feedback_status as kind,
        turn_key as subject_id,
        turn_key as own_ref,
        session_id,
        user_id,
        null::varchar as tenant_id,
        null::varchar as workspace_id,
        null::varchar as domain,
        event_date,
        detected_at as occurred_at,
        if(feedback_status = 'accepted', 'positive', 'negative') as polarity,
        false as is_explicit,
        feedback_confidence as confidence,
        feedback_confidence as weight
    from turns
    union all
    select
        'sessions:rating:' || feedback_id as signal_id,
        'sessions' as system,
        'rating' as kind,
        session_id as subject_id,
        'sessions:' || session_id as own_ref,
        session_id,
        user_id,
        tenant_id,
        workspace_id,
        null::varchar as domain,
        event_date,
        submitted_at as occurred_at,
        rating as polarity,
        true as is_explicit,
        1.0::double as confidence,
        1.0::double as weight
    from sessions
    where rating in ('positive', 'negative')
    union all
    select
        'sessions:verdict:' || feedback_id as signal_id,
        'sessions' as system,
        'verdict' as kind,
        session_id as subject_id,
        'sessions:' || session_id as own_ref,
        session_id,
        user_id,
        tenant_id,
        workspace_id,
        null::varchar as domain,
        event_date,
        submitted_at as occurred_at,
        if(verdict = 'approved', 'positive', 'negative') as polarity,
        true as is_explicit,
        1.0::double as confidence,
        1.0::double as weight
    from sessions
    where verdict is not null
)

select
    signals.signal_id,
    signals.system,
    signals.kind,
    signals.subject_id,
    coalesce(answer_refs.answer_ref, signals.own_ref) as answer_ref,
    signals.session_id,
    signals.user_id,
    signals.tenant_id,
    signals.workspace_id,
    signals.domain,
    signals.event_date,
    signals.occurred_at,
    signals.polarity,
    signals.is_explicit,
    signals.confidence,
    signals.weight
from signals
left join core__answer_refs as answer_refs on signals.signal_id = answer_refs.signal_id
