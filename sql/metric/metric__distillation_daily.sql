-- One day of distilled examples by domain: how many, of what kind and worth, and what became of them.
-- grain: event_date, domain
-- inputs: core__distillation
-- params: none

with examples as (
    select
        event_date, domain, reasoning_type, training_format, review_status, quality_score, quality_flags,
        feedback_verdict, is_ready
    from core__distillation
    where origin <> 'synthetic_pair'
),

counted as (
    select
        event_date,
        domain,
        count(*) as example_count,
        count(*) filter (where reasoning_type = 'chain_of_thought') as chain_of_thought_count,
        count(*) filter (where reasoning_type = 'tool_use') as tool_use_count,
        count(*) filter (where reasoning_type = 'correction') as correction_count,
        count(*) filter (where reasoning_type = 'direct') as direct_count,
        count(*) filter (where reasoning_type = 'multi_step') as multi_step_count,
        count(*) filter (where reasoning_type = 'meta_cognitive') as meta_cognitive_count,
        count(*) filter (where training_format = 'instruction') as instruction_format_count,
        count(*) filter (where training_format = 'cot') as cot_format_count,
        count(*) filter (where training_format = 'correction') as correction_format_count,
        count(*) filter (where training_format = 'preference') as preference_format_count,
        count(*) filter (where review_status = 'pending') as pending_count,
        count(*) filter (where review_status = 'approved') as approved_count,
        count(*) filter (where review_status = 'rejected') as rejected_count,
        count(*) filter (where is_ready) as ready_count,
        count(*) filter (where feedback_verdict = 'validated') as validated_count,
        count(*) filter (where feedback_verdict = 'contradicted') as contradicted_count,
        -- scores are added as whole numbers, because floating addition is not repeatable (G2)
        sum(round(quality_score * 1e6)::bigint) as score_sum,
        count(*) filter (where list_contains(quality_flags, 'repetition')) as repetition_count,
        count(*) filter (where list_contains(quality_flags, 'incomplete')) as incomplete_count,
        count(*) filter (where list_contains(quality_flags, 'no_reasoning')) as no_reasoning_count,
        count(*) filter (where list_contains(quality_flags, 'too_short')) as too_short_count,
        count(*) filter (where list_contains(quality_flags, 'too_long')) as too_long_count,
        count(*) filter (where list_contains(quality_flags, 'code_only')) as code_only_count,
        count(*) filter (where list_contains(quality_flags, 'refusal')) as refusal_count,
        count(*) filter (where list_contains(quality_flags, 'uncertain')) as uncertain_count,
        count(*) filter (where list_contains(quality_flags, 'outdated')) as outdated_count,
        count(*) filter (where list_contains(quality_flags, 'hallucination_risk')) as hallucination_risk_count
    from examples
    group by event_date, domain
)

select
    event_date,
    domain,
    example_count,
    chain_of_thought_count,
    tool_use_count,
    correction_count,
    direct_count,
    multi_step_count,
    meta_cognitive_count,
    instruction_format_count,
    cot_format_count,
    correction_format_count,
    preference_format_count,
    pending_count,
    approved_count,
    rejected_count,
    ready_count,
    ((2 * score_sum + example_count) // nullif(2 * example_count, 0)) / 1e6 as mean_score,
    ((2000000 * validated_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as validated_rate,
    ((2000000 * contradicted_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as contradicted_rate,
    ((2000000 * repetition_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as repetition_rate,
    ((2000000 * incomplete_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as incomplete_rate,
    ((2000000 * no_reasoning_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as no_reasoning_rate,
    ((2000000 * too_short_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as too_short_rate,
    ((2000000 * too_long_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as too_long_rate,
    ((2000000 * code_only_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as code_only_rate,
    ((2000000 * refusal_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as refusal_rate,
    ((2000000 * uncertain_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as uncertain_rate,
    ((2000000 * outdated_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as outdated_rate,
    ((2000000 * hallucination_risk_count + example_count) // nullif(2 * example_count, 0)) / 1e6 as hallucination_risk_rate
from counted
order by event_date, domain
