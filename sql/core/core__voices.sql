-- One feedback row that does not count because its voter said it again (F3); all other rows are active.
-- grain: feedback_id
-- inputs: core__feedback_keys
-- params: as_of

-- most rows say what nobody else says; which those are, integers tell, and only the others' ids are looked at
with repeated as (
    select voice_key
    from core__feedback_keys
    where occurred_at < $as_of
    group by voice_key
    having count(*) > 1
),

-- of ratings the latest counts, of everything else that repeats itself the earliest. A voice is a hash of voter, response and
-- content; equal ones are told apart by their response
voices as (
    select
        entries.feedback_id,
        if(entries.effective_type = 'rating', 'superseded', 'duplicate') as status,
        case
            when entries.effective_type = 'rating' then first_value(entries.feedback_id) over latest
            else first_value(entries.feedback_id) over earliest
        end as status_ref
    from core__feedback_keys as entries
    semi join repeated on entries.voice_key = repeated.voice_key
    where entries.occurred_at < $as_of
    window
        latest as (
            partition by entries.response_id, entries.voice_key
            order by entries.occurred_at desc, entries.feedback_id desc
        ),
        earliest as (
            partition by entries.response_id, entries.voice_key
            order by entries.occurred_at, entries.feedback_id
        )
)

select feedback_id, status, status_ref
from voices
where feedback_id <> status_ref
order by feedback_id
