-- One day of reactions that count, or did until they expired: by reaction and origin, and how satisfied people are (R2, R3).
-- grain: event_date
-- inputs: core__reactions
-- params: none

with reactions as (
    select
        event_date,
        coalesce(origin, 'unknown') as origin,
        -- a machine that says nothing counts as neutral (R2)
        coalesce(reaction, 'neutral') as reaction,
        is_orphan,
        inactive_reason
    from core__reactions
    where is_active or inactive_reason = 'expired'
),

counted as (
    select
        event_date,
        count(*) as reaction_count,
        count(*) filter (where reaction = 'ok') as ok_count,
        count(*) filter (where reaction = 'not_ok') as not_ok_count,
        count(*) filter (where reaction = 'neutral') as neutral_count,
        count(*) filter (where origin = 'user') as user_count,
        count(*) filter (where origin = 'user' and reaction = 'ok') as user_ok_count,
        count(*) filter (where origin = 'user' and reaction = 'not_ok') as user_not_ok_count,
        count(*) filter (where origin = 'user' and reaction = 'neutral') as user_neutral_count,
        count(*) filter (where origin = 'machine') as machine_count,
        count(*) filter (where origin = 'machine' and reaction = 'ok') as machine_ok_count,
        count(*) filter (where origin = 'machine' and reaction = 'not_ok') as machine_not_ok_count,
        count(*) filter (where origin = 'machine' and reaction = 'neutral') as machine_neutral_count,
        count(*) filter (where origin = 'unknown') as unknown_count,
        count(*) filter (where origin = 'unknown' and reaction = 'ok') as unknown_ok_count,
        count(*) filter (where origin = 'unknown' and reaction = 'not_ok') as unknown_not_ok_count,
        count(*) filter (where origin = 'unknown' and reaction = 'neutral') as unknown_neutral_count,
        count(*) filter (where is_orphan) as orphan_count,
        count(*) filter (where inactive_reason = 'expired') as expired_count
    from reactions
    group by event_date
),

-- those who said yes or no
decided as (
    select
        *,
        ok_count + not_ok_count as decided_count,
        user_ok_count + user_not_ok_count as user_decided_count,
        machine_ok_count + machine_not_ok_count as machine_decided_count,
        unknown_ok_count + unknown_not_ok_count as unknown_decided_count
    from counted
)

select
    event_date,
    reaction_count,
    ok_count,
    not_ok_count,
    neutral_count,
    user_count,
    user_ok_count,
    user_not_ok_count,
    user_neutral_count,
    machine_count,
    machine_ok_count,
    machine_not_ok_count,
    machine_neutral_count,
    unknown_count,
    unknown_ok_count,
    unknown_not_ok_count,
    unknown_neutral_count,
    decided_count,
    user_decided_count,
    machine_decided_count,
    unknown_decided_count,
    share(ok_count, reaction_count) as satisfaction_rate,
    share_low(ok_count, reaction_count) as satisfaction_rate_low,
    share_high(ok_count, reaction_count) as satisfaction_rate_high,
    share(user_ok_count, user_count) as user_satisfaction_rate,
    share_low(user_ok_count, user_count) as user_satisfaction_rate_low,
    share_high(user_ok_count, user_count) as user_satisfaction_rate_high,
    share(machine_ok_count, machine_count) as machine_satisfaction_rate,
    share_low(machine_ok_count, machine_count) as machine_satisfaction_rate_low,
    share_high(machine_ok_count, machine_count) as machine_satisfaction_rate_high,
    share(unknown_ok_count, unknown_count) as unknown_satisfaction_rate,
    share_low(unknown_ok_count, unknown_count) as unknown_satisfaction_rate_low,
    share_high(unknown_ok_count, unknown_count) as unknown_satisfaction_rate_high,
    share(ok_count, decided_count) as ok_rate,
    share_low(ok_count, decided_count) as ok_rate_low,
    share_high(ok_count, decided_count) as ok_rate_high,
    share(user_ok_count, user_decided_count) as user_ok_rate,
    share_low(user_ok_count, user_decided_count) as user_ok_rate_low,
    share_high(user_ok_count, user_decided_count) as user_ok_rate_high,
    share(machine_ok_count, machine_decided_count) as machine_ok_rate,
    share_low(machine_ok_count, machine_decided_count) as machine_ok_rate_low,
    share_high(machine_ok_count, machine_decided_count) as machine_ok_rate_high,
    share(unknown_ok_count, unknown_decided_count) as unknown_ok_rate,
    share_low(unknown_ok_count, unknown_decided_count) as unknown_ok_rate_low,
    share_high(unknown_ok_count, unknown_decided_count) as unknown_ok_rate_high,
    orphan_count,
    expired_count
from decided
order by event_date
