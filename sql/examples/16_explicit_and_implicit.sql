-- Where people both pressed a button and wrote on, do the two agree about the same answer?
with said as (
    select answer_ref, polarity
    from signals
    where is_explicit and polarity <> 'neutral'
),

detected as (
    select answer_ref, polarity
    from signals
    where not is_explicit and polarity <> 'neutral'
)

select said.polarity as said_explicitly, detected.polarity as said_implicitly, count(*) as pairs
from said
join detected on detected.answer_ref = said.answer_ref
group by said.polarity, detected.polarity
order by said_explicitly, said_implicitly
