-- One day of a slice of a workspace's AI sessions, those without a slice under null; or the workspace's whole day, which the slices add up to (S1, S2).
-- grain: tenant_id, workspace_id, date, is_slice, slice_id
-- inputs: core__sessions
-- params: sample_rate

with sessions as (
    select
        tenant_id, workspace_id, slice_id, event_date as date, feedback_id, rating, verdict, edit_distance_pct, accuracy_score,
        completeness_score, style_match_score, error_categories, output_issues, has_missing_context
    from core__sessions
),

-- whole numbers only: a mean does not add up, what it is made of does
slices as (
    select
        tenant_id,
        workspace_id,
        date,
        true as is_slice,
        slice_id,
        count(*) as total_sessions,
        count(*) filter (where rating = 'positive') as positive_ratings,
        count(*) filter (where rating = 'negative') as negative_ratings,
        count(*) filter (where rating = 'skipped') as skipped_ratings,
        count(*) - count(feedback_id) as no_feedback_count,
        count(feedback_id) as feedback_count,
        count(verdict) as reviewed_count,
        count(*) filter (where verdict = 'approved') as approved_count,
        count(*) filter (where has_missing_context) as missing_context_count,
        count(edit_distance_pct) filter (where feedback_id is not null) as edit_count,
        sum(edit_distance_pct) filter (where feedback_id is not null)::bigint as edit_sum,
        count(accuracy_score) as accuracy_count,
        sum(accuracy_score)::bigint as accuracy_sum,
        count(completeness_score) as completeness_count,
        sum(completeness_score)::bigint as completeness_sum,
        count(style_match_score) as style_count,
        sum(style_match_score)::bigint as style_sum
    from sessions
    group by tenant_id, workspace_id, date, slice_id
),

counted as (
    select *
    from slices

    union all

    select
        tenant_id, workspace_id, date, false, null,
        sum(total_sessions)::bigint, sum(positive_ratings)::bigint, sum(negative_ratings)::bigint,
        sum(skipped_ratings)::bigint, sum(no_feedback_count)::bigint, sum(feedback_count)::bigint,
        sum(reviewed_count)::bigint, sum(approved_count)::bigint, sum(missing_context_count)::bigint,
        sum(edit_count)::bigint, sum(edit_sum)::bigint, sum(accuracy_count)::bigint, sum(accuracy_sum)::bigint,
        sum(completeness_count)::bigint, sum(completeness_sum)::bigint, sum(style_count)::bigint, sum(style_sum)::bigint
    from slices
    group by tenant_id, workspace_id, date
),

said as (
    select tenant_id, workspace_id, date, slice_id, 'category' as kind, unnest(error_categories) as said
    from sessions
    where array_length(error_categories) > 0

    union all

    select tenant_id, workspace_id, date, slice_id, 'issue' as kind, unnest(output_issues) as said
    from sessions
    where array_length(output_issues) > 0
),

slice_said as (
    select tenant_id, workspace_id, date, true as is_slice, slice_id, kind, said, count(*) as n
    from said
    where said is not null
    group by tenant_id, workspace_id, date, slice_id, kind, said
),

said_counts as (
    select *
    from slice_said

    union all

    select tenant_id, workspace_id, date, false, null, kind, said, sum(n)::bigint
    from slice_said
    group by tenant_id, workspace_id, date, kind, said
),

objects as (
    select
        tenant_id,
        workspace_id,
        date,
        is_slice,
        slice_id,
        list_sort(list({said: said, n: n}) filter (where kind = 'category')) as categories,
        list_sort(list({said: said, n: n}) filter (where kind = 'issue')) as issues
    from said_counts
    group by tenant_id, workspace_id, date, is_slice, slice_id
)

select
    counted.tenant_id,
    counted.workspace_id,
    counted.date,
    counted.is_slice,
    counted.slice_id,
    total_sessions,
    positive_ratings,
    negative_ratings,
    skipped_ratings,
    no_feedback_count,
    two_decimals(100 * approved_count, reviewed_count) as first_pass_acceptance_rate,
    two_decimals(edit_sum, edit_count) as average_edit_distance,
    coalesce(to_json(map_from_entries(categories))::varchar, '{}') as error_category_counts,
    two_decimals(accuracy_sum, accuracy_count) as avg_accuracy_score,
    two_decimals(completeness_sum, completeness_count)
        as avg_completeness_score,
    two_decimals(style_sum, style_count) as avg_style_match_score,
    reviewed_count,
    coalesce(to_json(map_from_entries(issues))::varchar, '{}') as output_issue_counts,
    missing_context_count,
    share(missing_context_count, feedback_count) as missing_context_rate,
    $sample_rate::double as sample_rate
from counted
left join objects
    on objects.tenant_id = counted.tenant_id and objects.workspace_id = counted.workspace_id
    and objects.date = counted.date and objects.is_slice = counted.is_slice
    and objects.slice_id is not distinct from counted.slice_id
order by counted.tenant_id, counted.workspace_id, counted.date, counted.is_slice, counted.slice_id
