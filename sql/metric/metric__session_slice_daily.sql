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
    where len(error_categories) > 0

    union all

    select tenant_id, workspace_id, slice_id, date, 'issue' as kind, unnest(output_issues) as said
    from sessions
    where len(output_issues) > 0
),

said_counts as (
    select tenant_id, workspace_id, slice_id, date, kind, said, count(*) as n
    from said
    group by tenant_id, workspace_id, slice_id, date, kind, said
),

objects as (
    select
        tenant_id,
        workspace_id,
        slice_id,
        date,
        string_agg(to_json(said)::varchar || ':' || n, ',' order by said) filter (where kind = 'category') as categories,
        string_agg(to_json(said)::varchar || ':' || n, ',' order by said) filter (where kind = 'issue') as issues
    from said_counts
    group by tenant_id, workspace_id, slice_id, date
),

-- the rate as a whole number, so that a count over it is rounded as it is (sql/README.md)
sample as (
    select round($sample_rate::double * 1e12)::hugeint as sample_units
)

-- two decimals, half up, in whole numbers: (200 * sum + n) // (2 * n) hundredths
select
    counted.tenant_id,
    counted.workspace_id,
    counted.slice_id,
    counted.date,
    total_sessions,
    positive_ratings,
    negative_ratings,
    skipped_ratings,
    no_feedback_count,
    ((20000 * approved_count + reviewed_count) // nullif(2 * reviewed_count, 0)) / 100.0::double as first_pass_acceptance_rate,
    ((200 * edit_sum + edit_count) // nullif(2 * edit_count, 0)) / 100.0::double as average_edit_distance,
    '{' || coalesce(categories, '') || '}' as error_category_counts,
    ((200 * accuracy_sum + accuracy_count) // nullif(2 * accuracy_count, 0)) / 100.0::double as avg_accuracy_score,
    ((200 * completeness_sum + completeness_count) // nullif(2 * completeness_count, 0)) / 100.0::double
        as avg_completeness_score,
    ((200 * style_sum + style_count) // nullif(2 * style_count, 0)) / 100.0::double as avg_style_match_score,
    reviewed_count,
    '{' || coalesce(issues, '') || '}' as output_issue_counts,
    missing_context_count,
    ((2000000 * missing_context_count + feedback_count) // nullif(2 * feedback_count, 0)) / 1e6 as missing_context_rate,
    $sample_rate::double as sample_rate,
    ((2000000000000000000 * total_sessions::hugeint + sample_units) // (2 * sample_units)) / 1e6 as total_sessions_estimate,
    ((2000000000000000000 * positive_ratings::hugeint + sample_units) // (2 * sample_units)) / 1e6 as positive_ratings_estimate,
    ((2000000000000000000 * negative_ratings::hugeint + sample_units) // (2 * sample_units)) / 1e6 as negative_ratings_estimate,
    ((2000000000000000000 * skipped_ratings::hugeint + sample_units) // (2 * sample_units)) / 1e6 as skipped_ratings_estimate,
    ((2000000000000000000 * no_feedback_count::hugeint + sample_units) // (2 * sample_units)) / 1e6 as no_feedback_estimate
from counted
left join objects
    on objects.tenant_id = counted.tenant_id and objects.workspace_id = counted.workspace_id
    and objects.slice_id is not distinct from counted.slice_id
    and objects.date = counted.date
cross join sample
order by counted.tenant_id, counted.workspace_id, counted.slice_id, counted.date
