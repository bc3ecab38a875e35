-- What is known of the answers with most signals: everything anybody said of each?
with most as (
    select answer_ref, count(*) as signals_of_it
    from signals
    group by answer_ref
    order by signals_of_it desc, answer_ref
    limit 5
)

select most.answer_ref, s.occurred_at, s.system, s.kind, s.polarity, s.is_explicit, s.confidence, c.problem, c.said_by_user
from most
join signals as s on s.answer_ref = most.answer_ref
left join complaints as c on c.signal_id = s.signal_id
order by most.signals_of_it desc, most.answer_ref, s.occurred_at, s.signal_id
