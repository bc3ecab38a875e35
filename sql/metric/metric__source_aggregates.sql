-- One column of the source's own aggregate tables: how far it is from what its rows add up to.
-- grain: stored_table, stored_column
-- inputs: raw_feedback__stored_aggregates, raw_feedback__stored_sessions, core__responses, core__feedback_sessions
-- params: none

-- a key in several files is the sum of what each file says
with stored_responses as (
    unpivot (
        select
            response_id,
            sum(thumbs_up_count)::bigint as thumbs_up_count,
            sum(thumbs_down_count)::bigint as thumbs_down_count,
            sum(correction_count)::bigint as correction_count,
            sum(preference_count)::bigint as preference_count,
            sum(flag_count)::bigint as flag_count
        from raw_feedback__stored_aggregates
        group by response_id
    )
    on thumbs_up_count, thumbs_down_count, correction_count, preference_count, flag_count
    into name stored_column value stored
),

true_responses as (
    unpivot (
        select response_id, thumbs_up_count, thumbs_down_count, correction_count, preference_count, flag_count
        from core__responses
    )
    on thumbs_up_count, thumbs_down_count, correction_count, preference_count, flag_count
    into name stored_column value computed
),

stored_sessions as (
    unpivot (
        select
            session_id,
            sum(feedback_given)::bigint as feedback_given,
            sum(positive_count)::bigint as positive_count,
            sum(negative_count)::bigint as negative_count,
            sum(correction_count)::bigint as correction_count
        from raw_feedback__stored_sessions
        group by session_id
    )
    on feedback_given, positive_count, negative_count, correction_count
    into name stored_column value stored
),

true_sessions as (
    unpivot (
        select session_id, feedback_given, positive_count, negative_count, correction_count
        from core__feedback_sessions
    )
    on feedback_given, positive_count, negative_count, correction_count
    into name stored_column value computed
),

compared as (
    select 'feedback_aggregates' as stored_table, stored_column, stored, computed
    from stored_responses
    join true_responses using (response_id, stored_column)

    union all

    select 'feedback_sessions', stored_column, stored, computed
    from stored_sessions
    join true_sessions using (session_id, stored_column)
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
