-- One column of the source's own aggregate tables: how far it is from what its rows add up to.
-- grain: stored_table, stored_column
-- inputs: raw_feedback__stored_aggregates, raw_feedback__stored_sessions, core__responses, core__feedback_sessions
-- params: none

-- a key in several files is the sum of what each file says
with stored_responses as (
    select
        response_id,
        sum(thumbs_up_count)::bigint as thumbs_up_count,
        sum(thumbs_down_count)::bigint as thumbs_down_count,
        sum(correction_count)::bigint as correction_count,
        sum(preference_count)::bigint as preference_count,
        sum(flag_count)::bigint as flag_count
    from raw_feedback__stored_aggregates
    group by response_id
),

stored_sessions as (
    select
        session_id,
        sum(feedback_given)::bigint as feedback_given,
        sum(positive_count)::bigint as positive_count,
        sum(negative_count)::bigint as negative_count,
        sum(correction_count)::bigint as correction_count
    from raw_feedback__stored_sessions
    group by session_id
),

-- a row for every column
listed as (
    select 'feedback_aggregates' as stored_table, unnest([
        {stored_column: 'thumbs_up_count', stored: stored.thumbs_up_count, computed: true_ones.thumbs_up_count},
        {stored_column: 'thumbs_down_count', stored: stored.thumbs_down_count, computed: true_ones.thumbs_down_count},
        {stored_column: 'correction_count', stored: stored.correction_count, computed: true_ones.correction_count},
        {stored_column: 'preference_count', stored: stored.preference_count, computed: true_ones.preference_count},
        {stored_column: 'flag_count', stored: stored.flag_count, computed: true_ones.flag_count}
    ]) as pair
    from stored_responses as stored
    join core__responses as true_ones on true_ones.response_id = stored.response_id

    union all

    select 'feedback_sessions' as stored_table, unnest([
        {stored_column: 'feedback_given', stored: stored.feedback_given, computed: true_ones.feedback_given},
        {stored_column: 'positive_count', stored: stored.positive_count, computed: true_ones.positive_count},
        {stored_column: 'negative_count', stored: stored.negative_count, computed: true_ones.negative_count},
        {stored_column: 'correction_count', stored: stored.correction_count, computed: true_ones.correction_count}
    ]) as pair
    from stored_sessions as stored
    join core__feedback_sessions as true_ones on true_ones.session_id = stored.session_id
),

compared as (
    select stored_table, pair.stored_column as stored_column, pair.stored as stored, pair.computed as computed
    from listed
    where pair.stored is not null and pair.computed is not null
)

select
    stored_table,
    stored_column,
    count(*) as compared_count,
    count(*) filter (where stored <> computed) as differing_count,
    sum(stored)::bigint as stored_total,
    sum(computed)::bigint as true_total
from compared
group by stored_table, stored_column
order by stored_table, stored_column
