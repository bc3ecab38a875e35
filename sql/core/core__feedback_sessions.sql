-- One known session that gave active feedback, or whose own responses got some (seed 0's feedback_sessions, F11).
-- grain: session_id
-- inputs: core__feedback, raw_feedback__responses
-- params: as_of

with active as (
    select session_id, response_id, occurred_at, effective_type, sentiment, domain
    from core__feedback
    where status = 'active'
),

-- a response belongs to the session `responses` names for it
responses as (
    select response_id, session_id
    from raw_feedback__responses
    where session_id not in ('', 'default') and coalesce("timestamp" * 1e6 < epoch_us($as_of), true)
),

-- or, where it names none, to the session the feedback names
given as (
    select coalesce(responses.session_id, active.session_id) as session_id, active.response_id
    from active
    left join responses on active.response_id = responses.response_id
),

-- what counts above the line of the rate counts below it, too
own as (
    select session_id, response_id
    from responses
    union
    select session_id, response_id
    from given
    where session_id is not null
),

told as (
    select distinct session_id
    from responses
),

totals as (
    select own.session_id, count(*) as total_responses
    from own
    inner join told on own.session_id = told.session_id
    group by own.session_id
),

responses_given as (
    select session_id, count(distinct response_id) as feedback_given
    from given
    where session_id is not null
    group by session_id
),

-- halves of what a row says of its session: a thumb up all, a thumb down or a flag nothing, anything else a half
counted as (
    select
        session_id,
        count(*) as rated,
        count(*) filter (where sentiment = 'positive') as positive,
        count(*) filter (where sentiment = 'negative') as negative,
        count(*) filter (where effective_type = 'correction') as corrections,
        sum(
            case
                when sentiment = 'positive' then 2
                when sentiment = 'negative' or effective_type = 'flag' then 0
                else 1
            end
        )::bigint as halves,
        min(epoch_us(occurred_at)) as first_us,
        max(epoch_us(occurred_at)) as last_us
    from active
    where session_id is not null
    group by session_id
),

domain_counts as (
    select session_id, domain, count(*) as rows_in_domain
    from active
    where session_id is not null
    group by session_id, domain
),

-- most frequent first, ties alphabetical: a list of structs in that order
listed_domains as (
    select session_id, list_sort(list(struct_pack(less := -rows_in_domain, domain := domain))) as domains
    from domain_counts
    group by session_id
),

known as (
    select
        coalesce(counted.session_id, responses_given.session_id) as session_id,
        coalesce(counted.rated, 0) as rated,
        coalesce(counted.positive, 0) as positive,
        coalesce(counted.negative, 0) as negative,
        coalesce(counted.corrections, 0) as corrections,
        counted.halves,
        counted.first_us,
        counted.last_us,
        coalesce(responses_given.feedback_given, 0) as feedback_given
    from counted
    full join responses_given on counted.session_id = responses_given.session_id
),

summed as (
    select
        known.session_id,
        known.rated,
        known.positive,
        known.negative,
        known.corrections,
        known.halves,
        known.first_us,
        known.last_us,
        known.feedback_given,
        totals.total_responses as responses,
        coalesce(listed_domains.domains, []) as domains
    from known
    left join totals on known.session_id = totals.session_id
    left join listed_domains on known.session_id = listed_domains.session_id
)

select
    session_id,
    responses as total_responses,
    feedback_given,
    share(feedback_given, responses) as feedback_rate,
    positive as positive_count,
    negative as negative_count,
    rated as rated_count,
    corrections as correction_count,
    coalesce(share(halves, 2 * rated), 0.5) as session_quality,
    first_us / 1e6 as started_at,
    last_us / 1e6 as last_activity_at,
    domains[1].domain as primary_domain,
    list_transform(domains, lambda one: one.domain) as topics
from summed
