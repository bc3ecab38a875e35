-- One pair of a response and the next message that is worth a person's label, in the order of what labels teach (C7).
-- grain: turn_key
-- inputs: core__turns, core__turn_pairs, core__turn_labels
-- params: none

with said as (
    -- what users said of these very turns: a label already, unless the detector says the opposite
    select turn_key, label
    from core__turn_labels
    where label_kind <> 'verdict'
),

next_turns as (
    select turn_key, prompt_key
    from core__turn_pairs
    where prompt_key is not null
),

pairs as (
    select
        turns.turn_key, turns.user_id, turns.turn_number, turns.session_id, turns.thread_id, turns.event_date,
        found.next_turn_key, found.next_at, turns.feedback_status, turns.feedback_confidence, turns.confidence_low,
        turns.reason, turns.similarity, turns.source_status, turns.response_source, turns.source_file,
        found.text_hash, next_turns.prompt_key as message_key,
        said.label
    from core__turns as turns
    join core__turn_pairs as found on turns.turn_key = found.turn_key
    join next_turns on found.next_turn_key = next_turns.turn_key
    left join said on turns.turn_key = said.turn_key
    where turns.query_source is not null
        and turns.reason <> 'refers_back'
),

lessons as (
    select
        *,
        case
            when label = 'accepted' and feedback_status = 'rejected' then 'disagreeing'
            when label = 'rejected' and feedback_status = 'accepted' then 'disagreeing'
            when label is not null then 'known'
            when source_status in ('rejected', 'accepted') and source_status <> feedback_status then 'disagreeing'
            when similarity >= 0.60 and feedback_status <> 'rejected' and reason <> 'neutral:resent' then 'disagreeing'
            when feedback_confidence < 0.75 then 'uncertain'
            else 'frequent'
        end as lesson
    from pairs
),

unlabelled as (
    select *
    from lessons
    where lesson <> 'known'
),

distinct_texts as (
    select
        turn_key, user_id, turn_number, session_id, thread_id, event_date, next_turn_key, next_at, feedback_status,
        feedback_confidence, confidence_low, reason, similarity, source_status, source_file, lesson,
        response_source is null as has_no_response, md5(turn_key) as lot
    from unlabelled
    qualify row_number() over (partition by text_hash, message_key order by md5(turn_key), turn_key) = 1
),

few_of_a_session as (
    select
        turn_key, user_id, turn_number, session_id, thread_id, event_date, next_turn_key, next_at, feedback_status,
        feedback_confidence, confidence_low, reason, similarity, source_status, source_file, lesson, has_no_response, lot
    from distinct_texts
    qualify row_number() over (
        partition by thread_id, event_date
        order by has_no_response, lesson = 'frequent', feedback_confidence, lot, turn_key
    ) <= 2
),

by_user as (
    select
        *,
        row_number() over (
            partition by lesson, feedback_status, reason, user_id order by has_no_response, lot, turn_key
        ) as place_of_user
    from few_of_a_session
),

by_rule as (
    select
        *,
        row_number() over (
            partition by lesson, feedback_status, reason order by has_no_response, place_of_user, lot, turn_key
        ) as place_of_rule,
        -- a rule gets the more places the more it decides, and the wider what is known of it
        sqrt(count(*) over (partition by lesson, feedback_status, reason))
        * (0.05 + greatest(feedback_confidence - confidence_low, 0)) as share_of_places
    from by_user
),

steps as (
    -- every step has a pair of each status and lesson, as long as there are any: so any number of steps is balanced
    select
        *,
        row_number() over (
            partition by lesson, feedback_status
            order by has_no_response, (place_of_rule - 0.5) / nullif(share_of_places, 0), lot, turn_key
        ) as step,
        case lesson when 'disagreeing' then 0 when 'uncertain' then 1 else 2 end as lesson_place,
        case feedback_status when 'rejected' then 0 when 'accepted' then 1 else 2 end as status_place
    from by_rule
)

select
    (step - 1) * 9 + lesson_place * 3 + status_place + 1 as rank,
    turn_key,
    user_id,
    turn_number,
    session_id,
    thread_id,
    event_date,
    next_turn_key,
    next_at,
    lesson,
    feedback_status,
    feedback_confidence,
    reason,
    similarity,
    source_status,
    source_file
from steps
where step <= 1000
