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
        sum(millionths(quality_score)) as score_sum,
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
    share_of_millionths(score_sum, example_count) as mean_score,
    share(validated_count, example_count) as validated_rate,
    share_low(validated_count, example_count) as validated_rate_low,
    share_high(validated_count, example_count) as validated_rate_high,
    share(contradicted_count, example_count) as contradicted_rate,
    share_low(contradicted_count, example_count) as contradicted_rate_low,
    share_high(contradicted_count, example_count) as contradicted_rate_high,
    share(repetition_count, example_count) as repetition_rate,
    share_low(repetition_count, example_count) as repetition_rate_low,
    share_high(repetition_count, example_count) as repetition_rate_high,
    share(incomplete_count, example_count) as incomplete_rate,
    share_low(incomplete_count, example_count) as incomplete_rate_low,
    share_high(incomplete_count, example_count) as incomplete_rate_high,
    share(no_reasoning_count, example_count) as no_reasoning_rate,
    share_low(no_reasoning_count, example_count) as no_reasoning_rate_low,
    share_high(no_reasoning_count, example_count) as no_reasoning_rate_high,
    share(too_short_count, example_count) as too_short_rate,
    share_low(too_short_count, example_count) as too_short_rate_low,
    share_high(too_short_count, example_count) as too_short_rate_high,
    share(too_long_count, example_count) as too_long_rate,
    share_low(too_long_count, example_count) as too_long_rate_low,
    share_high(too_long_count, example_count) as too_long_rate_high,
    share(code_only_count, example_count) as code_only_rate,
    share_low(code_only_count, example_count) as code_only_rate_low,
    share_high(code_only_count, example_count) as code_only_rate_high,
    share(refusal_count, example_count) as refusal_rate,
    share_low(refusal_count, example_count) as refusal_rate_low,
    share_high(refusal_count, example_count) as refusal_rate_high,
    share(uncertain_count, example_count) as uncertain_rate,
    share_low(uncertain_count, example_count) as uncertain_rate_low,
    share_high(uncertain_count, example_count) as uncertain_rate_high,
    share(outdated_count, example_count) as outdated_rate,
    share_low(outdated_count, example_count) as outdated_rate_low,
    share_high(outdated_count, example_count) as outdated_rate_high,
    share(hallucination_risk_count, example_count) as hallucination_risk_rate,
    share_low(hallucination_risk_count, example_count) as hallucination_risk_rate_low,
    share_high(hallucination_risk_count, example_count) as hallucination_risk_rate_high
from counted
order by event_date, domain
