-- One AI session before as_of with the feedback that counts for it (S1-S4); archived ones the source deleted stay.
-- grain: session_id
-- inputs: raw_sessions__sessions, raw_sessions__feedback, raw_sessions__outputs, core__retired_sessions
-- params: as_of, spaces

with said as (
    select
        id as feedback_id,
        session_id,
        submitted_at,
        submitted_by,
        lower(trim(rating, $spaces)) as rating,
        nullif(lower(trim(review_verdict, $spaces)), '') as verdict,
        accuracy_score,
        completeness_score,
        style_match_score,
        edit_distance,
        edit_distance is null and not list_contains(repairs, 'edit_distance:out_of_range') as is_computed,
        if(list_contains(repairs, 'edit_distance:out_of_range'), 'out_of_range', null) as edit_distance_mark,
        if(
            array_length(error_categories) = 0,
            error_categories,
            list_sort(list_distinct(list_transform(
                list_filter(error_categories, lambda said: trim(said, $spaces) <> ''),
                lambda said: case lower(trim(said, $spaces))
                    when 'missing_context' then 'missing_context'
                    when 'incomplete' then 'missing_context'
                    when 'wrong_context' then 'wrong_context'
                    when 'outdated_info' then 'wrong_context'
                    when 'ignored_constraints' then 'ignored_constraints'
                    when 'incorrect_pattern' then 'ignored_constraints'
                    when 'hallucination' then 'hallucination'
                    when 'style_mismatch' then 'style_mismatch'
                    when 'wrong_style' then 'style_mismatch'
                    else 'other'
                end
            )))
        ) as error_categories,
        if(
            array_length(output_issues) = 0,
            output_issues,
            list_sort(list_distinct(list_transform(
                list_filter(output_issues, lambda said: trim(said, $spaces) <> ''),
                lambda said: lower(trim(said, $spaces))
            )))
        ) as output_issues,
        coalesce(trim(missing_context, $spaces) <> '', false) as has_missing_context
    from raw_sessions__feedback
    where submitted_at < $as_of
),

-- the feedback of sessions the source no longer has, where it has deleted that, too
remembered as (
    select
        feedback_id, session_id, submitted_at, submitted_by, rating, verdict, accuracy_score, completeness_score,
        style_match_score, edit_distance_pct as edit_distance, false as is_computed, edit_distance_mark,
        error_categories, output_issues, has_missing_context
    from core__retired_sessions
    anti join said using (feedback_id)
    where feedback_id is not null and submitted_at < $as_of
),

feedback as (
    select * from said
    union all
    select * from remembered
),

-- of several rows the latest counts
repeated as (
    select session_id
    from feedback
    group by session_id
    having count(*) > 1
),

latest_of_several as (
    select feedback.session_id, feedback.feedback_id
    from feedback
    semi join repeated on feedback.session_id = repeated.session_id
    qualify row_number() over (
        partition by feedback.session_id order by feedback.submitted_at desc, feedback.feedback_id desc
    ) = 1
),

latest as (
    select feedback.*
    from feedback
    anti join repeated on feedback.session_id = repeated.session_id
    union all
    select feedback.*
    from feedback
    semi join latest_of_several
        on feedback.session_id = latest_of_several.session_id and feedback.feedback_id = latest_of_several.feedback_id
),

sessions as (
    select
        raw_sessions__sessions.id as session_id,
        tenant_id,
        workspace_id,
        nullif(slice_id, '') as slice_id,
        nullif(user_id, 'default') as user_id,
        started_at,
        ended_at,
        event_date,
        output_edit_distance_pct,
        if(list_contains(raw_sessions__outputs.repairs, 'output_edit_distance_pct:too_long'), 'too_long', null) as output_mark,
        context_token_count,
        list_sort(list_distinct(context_document_ids)) as document_ids
    from raw_sessions__sessions
    left join raw_sessions__outputs on raw_sessions__outputs.session_id = raw_sessions__sessions.id
    where started_at < $as_of

    union all

    select
        session_id, tenant_id, workspace_id, slice_id, user_id, started_at, ended_at, event_date,
        output_edit_distance_pct, nullif(edit_distance_mark, 'out_of_range'), context_token_count, document_ids
    from core__retired_sessions
    where started_at < $as_of
)

select
    session_id,
    tenant_id,
    workspace_id,
    slice_id,
    user_id,
    started_at,
    ended_at,
    event_date,
    feedback_id,
    submitted_at,
    submitted_by,
    rating,
    verdict,
    if(coalesce(is_computed, true), output_edit_distance_pct, edit_distance) as edit_distance_pct,
    if(coalesce(is_computed, true), output_mark, edit_distance_mark) as edit_distance_mark,
    output_edit_distance_pct,
    accuracy_score,
    completeness_score,
    style_match_score,
    coalesce(error_categories, []) as error_categories,
    coalesce(output_issues, []) as output_issues,
    has_missing_context,
    context_token_count,
    document_ids
from sessions
left join latest using (session_id)
order by event_date, session_id
