-- One day of a slice of a workspace, sessions without a slice under null: the figures as they add up now (S2).
-- grain: tenant_id, workspace_id, slice_id, date
-- inputs: core__sessions
-- params: sample_rate

with sessions as (
    select
        tenant_id, workspace_id, slice_id, event_date as date, feedback_id, rating, verdict, edit_distance_pct, accuracy_score,
        completeness_score, style_match_score, error_categories, output_issues, has_missing_context
    from core__sessions
),

counted as (
    select
        tenant_id,
        workspace_id,
        slice_id,
        date,
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
    group by tenant_id, workspace_id, slice_id, date
),

said as (
    select tenant_id, workspace_id, slice_id, date, 'category' as kind, unnest(error_categories) as said
    from sessions
    where array_length(error_categories) > 0

    union all

    select tenant_id, workspace_id, slice_id, date, 'issue' as kind, unnest(output_issues) as said
    from sessions
    where array_length(output_issues) > 0
),

said_counts as (
    select tenant_id, workspace_id, slice_id, date, kind, said, count(*) as n
    from said
    where said is not null
    group by tenant_id, workspace_id, slice_id, date, kind, said
),

objects as (
    select
        tenant_id,
        workspace_id,
        slice_id,
        date,
        list_sort(list({said: said, n: n}) filter (where kind = 'category')) as categories,
        list_sort(list({said: said, n: n}) filter (where kind = 'issue')) as issues
    from said_counts
    group by tenant_id, workspace_id, slice_id, date
),

-- the rate as a whole number, so that a count over it is rounded as it is (sql/README.md)
scale as (
    select round($sample_rate::double * 1e12)::decimal(38, 0) as sample_units
),

estimated as (
    select
        counted.*,
        2 * sample_units as whole,
        2000000000000000000 * total_sessions::decimal(38, 0) + sample_units as total_halves,
        2000000000000000000 * positive_ratings::decimal(38, 0) + sample_units as positive_halves,
        2000000000000000000 * negative_ratings::decimal(38, 0) + sample_units as negative_halves,
        2000000000000000000 * skipped_ratings::decimal(38, 0) + sample_units as skipped_halves,
        2000000000000000000 * no_feedback_count::decimal(38, 0) + sample_units as silent_halves
    from counted
    cross join scale
)

-- two decimals, half up, in whole numbers: (200 * sum + n) // (2 * n) hundredths
select
    estimated.tenant_id,
    estimated.workspace_id,
    estimated.slice_id,
    estimated.date,
    total_sessions,
    positive_ratings,
    negative_ratings,
    skipped_ratings,
    no_feedback_count,
    ((20000 * approved_count + reviewed_count) // nullif(2 * reviewed_count, 0)) / 100.0::double as first_pass_acceptance_rate,
    ((200 * edit_sum + edit_count) // nullif(2 * edit_count, 0)) / 100.0::double as average_edit_distance,
    coalesce(to_json(map_from_entries(categories))::varchar, '{}') as error_category_counts,
    ((200 * accuracy_sum + accuracy_count) // nullif(2 * accuracy_count, 0)) / 100.0::double as avg_accuracy_score,
    ((200 * completeness_sum + completeness_count) // nullif(2 * completeness_count, 0)) / 100.0::double
        as avg_completeness_score,
    ((200 * style_sum + style_count) // nullif(2 * style_count, 0)) / 100.0::double as avg_style_match_score,
    reviewed_count,
    coalesce(to_json(map_from_entries(issues))::varchar, '{}') as output_issue_counts,
    missing_context_count,
    ((2000000 * missing_context_count + feedback_count) // nullif(2 * feedback_count, 0)) / 1e6 as missing_context_rate,
    $sample_rate::double as sample_rate,
    round((total_halves - total_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as total_sessions_estimate,
    round((positive_halves - positive_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as positive_ratings_estimate,
    round((negative_halves - negative_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as negative_ratings_estimate,
    round((skipped_halves - skipped_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as skipped_ratings_estimate,
    round((silent_halves - silent_halves % nullif(whole, 0)) / nullif(whole, 0)) / 1e6 as no_feedback_estimate
from estimated
left join objects
    on objects.tenant_id = estimated.tenant_id and objects.workspace_id = estimated.workspace_id
    and objects.slice_id is not distinct from estimated.slice_id
    and objects.date = estimated.date
order by estimated.tenant_id, estimated.workspace_id, estimated.slice_id, estimated.date
