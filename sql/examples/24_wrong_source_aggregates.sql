-- How far are the source's own aggregates from what its rows add up to?
select stored_table, stored_column, compared_count, differing_count, differing_count / nullif(compared_count, 0) as share_wrong,
    stored_total, true_total
from metric__source_aggregates
order by share_wrong desc, stored_table, stored_column
