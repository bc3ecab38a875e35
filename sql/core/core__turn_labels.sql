-- One turn of whose answer somebody said explicitly what it was worth: what the detector's head is fitted on and judged by (C7, N).
-- grain: turn_key
-- inputs: core__answer_refs, core__feedback, core__reactions, core__label_verdicts, core__turn_pairs
-- params: as_of

with ratings as (
    select
        'feedback:' || feedback_id as label_id,
        case sentiment when 'positive' then 'accepted' when 'negative' then 'rejected' else 'neutral' end as label,
        occurred_at as labelled_at
    from core__feedback
    where status = 'active' and effective_type = 'rating'
),

reactions as (
    -- a machine's reaction is no label: it may be this detector's own
    select
        'reactions:' || reaction_id as label_id,
        case reaction when 'ok' then 'accepted' when 'not_ok' then 'rejected' else 'neutral' end as label,
        occurred_at as labelled_at
    from core__reactions
    where is_active and origin is distinct from 'machine'
),

said as (
    select refs.turn_key, ratings.label_id, ratings.label, 'rating' as label_kind, ratings.labelled_at, false as is_chosen
    from ratings
    join core__answer_refs as refs on ratings.label_id = refs.signal_id
    where refs.turn_key is not null
    union all
    select refs.turn_key, reactions.label_id, reactions.label, 'reaction' as label_kind, reactions.labelled_at, false as is_chosen
    from reactions
    join core__answer_refs as refs on reactions.label_id = refs.signal_id
    where refs.turn_key is not null
    union all
    -- picked for what they teach: what the head makes of them says little of all turns
    select
        turn_key, 'verdict:' || turn_key as label_id, verdict as label, 'verdict' as label_kind, judged_at as labelled_at,
        true as is_chosen
    from core__label_verdicts
    where judged_at < $as_of
),

heard as (
    -- a reader's verdict first: who gave it was asked about exactly this; of several words of users the last counts
    select turn_key, label_id, label, label_kind, labelled_at, is_chosen
    from said
    qualify row_number() over (
        partition by turn_key order by label_kind <> 'verdict', labelled_at desc, label_id desc
    ) = 1
)

select
    heard.turn_key,
    pairs.thread_id,
    heard.label_id,
    heard.label,
    heard.label_kind,
    heard.labelled_at,
    heard.is_chosen
from heard
join core__turn_pairs as pairs on heard.turn_key = pairs.turn_key
order by heard.turn_key
