"""The glossary of distillation: what the columns mean that only its tables have."""

import polars as pl

from dagster_project.contracts.meaning import (
    TEXTS,
    Meaning,
    count,
    epoch,
    flag,
    fraction,
    hash_of,
    interval,
    long_text,
    one_of,
    text,
    word,
)

REASONING_TYPES = ("chain_of_thought", "tool_use", "correction", "direct", "multi_step", "meta_cognitive")

# Of a day's examples, how many users judged so, and how many have each quality concern.
RATES = tuple(
    f"{what}_rate"
    for what in """
        validated contradicted repetition incomplete no_reasoning too_short too_long code_only
        refusal uncertain outdated hallucination_risk
    """.split()
)

COLUMNS: dict[str, Meaning] = {
    # distillation as stored (seed 2)
    "query_context": long_text("conversation and project before the question; null without one"),
    "sam_attempt": long_text("SAM's own answer before the teacher was asked"),
    "sam_confidence": fraction("how sure SAM was of its own answer"),
    "sam_reasoning": long_text("SAM's own reasoning"),
    "claude_response": long_text("the teacher's answer"),
    "good_response": long_text("the better answer of a synthetic pair"),
    "bad_response": long_text("the worse answer of a synthetic pair, also written by the teacher"),
    "reasoning_type": word(
        "how the teacher reasoned: chain_of_thought, tool_use, correction, direct, multi_step or meta_cognitive; null where unknown"
    ),
    "reasoning_steps": long_text("the teacher's reasoning, a JSON array of steps"),
    "tool_usage": long_text("tools the teacher used, a JSON array of calls"),
    "corrections": long_text("what the teacher corrected, a JSON object: sam_errors and improvements"),
    "principles": long_text("principles the answer teaches, a JSON array"),
    "subdomain": word("finer than the domain, such as python; null where unknown"),
    "task_type": word("what is to be done, such as debug; null where unknown"),
    "complexity": Meaning(pl.Int64, "how hard the task is, 1 to 10; null where unknown", least=1, most=10),
    "stored_complexity": Meaning(
        pl.Int64, "complexity as the source stored it, 1 to 10; null where it did not", least=1, most=10
    ),
    "source_quality_score": Meaning(pl.Float64, "quality_score as the source stored it; null where it did not"),
    "human_reviewed": Meaning(pl.Int64, "the source's own review as stored: 1 approved, -1 rejected, 0 pending"),
    "reviewer_notes": long_text("what the source's own reviewer wrote"),
    "training_ready": Meaning(
        pl.Int64, "whether the source itself takes it to be ready for training, 0 or 1 as stored"
    ),
    "export_count": Meaning(pl.Int64, "how often it was exported, as stored"),
    "last_exported_at": epoch("when the source was last told of an export"),
    "approved": Meaning(pl.Int64, "whether the source's reviewer approved it, 0 or 1 as stored"),
    "reasoning_pattern_id": text("id of its row of reasoning_patterns; null without one"),
    "reviewed_at": epoch("when the source's reviewer decided"),
    "exported_at": epoch("when the source exported it"),
    "final_answer": long_text("the last line of a chain of thought"),
    "success": Meaning(pl.Int64, "whether the reasoning came to a right answer, 0 or 1 as stored"),
    "what_sam_said": long_text("the part of SAM's answer that is wrong"),
    "correct_answer": long_text("what SAM should have said"),
    "improvements": long_text("what would make SAM's answer better, a JSON array"),
    "lesson_learned": long_text("what is to be learned from it, in the teacher's words"),
    "priority": Meaning(pl.Int64, "how urgent the source takes the review to be, as stored"),
    "assigned_to": word("who is to review it, as stored"),
    "updated_at": epoch("when the row was last changed"),
    "principle": long_text("the principle itself, a rule of thumb"),
    "examples": long_text("examples of it, a JSON array"),
    "importance": Meaning(pl.Float64, "how important the source takes it to be, as stored"),
    "source_count": Meaning(pl.Int64, "how many interactions it was drawn from, as stored"),
    "verified": Meaning(pl.Int64, "whether somebody verified it, 0 or 1 as stored"),
    "name": text("name of the skill"),
    "description": long_text("what the skill is"),
    "domains": long_text("domains it is for, a JSON array"),
    "thought_id": text(
        "id its chain of thought has in raw_distillation__chain_of_thought, by the question and the beginning of the answer"
    ),
    "interaction_key": hash_of("the same for equal answers: with prompt_key it identifies an interaction"),
    # distilled examples
    "example_date": Meaning(pl.Date, "event_date of the example", is_repetitive=True),
    "place": count("place of a source row within its example: of the first, 1, every value it has is taken"),
    "source_id": text("the source row's own key"),
    "origin": word(
        "which table of the source the example comes from, or synthetic_pair where the teacher wrote both answers"
    ),
    "source_review": Meaning(
        pl.Int64, "what a person decided at the source: 1 approved, -1 rejected, 0 nobody or just a machine"
    ),
    "is_source_ready": flag("the source itself takes it to be ready for training"),
    "stored_flags": long_text("quality concerns as the source stored them, a JSON array"),
    "extracted": Meaning(
        TEXTS,
        "columns whose value the source did not have and was read from the text; reconstructed_response where the answer was",
    ),
    "source_rows": Meaning(
        TEXTS, "<table>:<id> of every source row it is made of; where they differ the first one counts"
    ),
    "step_count": count("reasoning steps"),
    "error_count": count("errors of SAM named in the corrections"),
    "principle_count": count("principles the answer teaches"),
    "source_training_format": word("the format the source stored"),
    "changed_fraction": fraction(
        "share of characters that changed from SAM's attempt to the answer; null without an attempt"
    ),
    "is_right_attempt": flag(
        "SAM's attempt was right: the answer says so, or says the same and more, and names no error of the matter"
    ),
    "is_hardly_changed": flag("less than 5 % changed from SAM's attempt to the answer: no contrast to learn from"),
    "attempt_hash": hash_of("the same for equal attempts of SAM's; null without one"),
    "is_failed": flag("a chain of thought alone that did not succeed"),
    "found_by": one_of(
        ("response", "session and question", "question and answer"),
        "how the feedback was found to be about the example, the first way that finds any",
    ),
    "feedback_verdict": one_of(
        ("validated", "contradicted"), "what users say of the teacher's answer; null where they say nothing clear"
    ),
    "review_status": one_of(
        ("pending", "approved", "rejected"), "what reviewers decided: ours (gristmill review), else the source's"
    ),
    "is_own_review": flag("review_status comes from our own review, not from the source"),
    "is_ready": flag("may leave for training"),
    "content_hash": text("hash of the texts a reviewer sees: another value, and an approval lapses"),
    "example_count": count("distilled examples of the day and domain, synthetic pairs left out"),
    "chain_of_thought_count": count("examples with the reasoning type chain_of_thought"),
    "tool_use_count": count("examples with the reasoning type tool_use"),
    "direct_count": count("examples with the reasoning type direct"),
    "multi_step_count": count("examples with the reasoning type multi_step"),
    "meta_cognitive_count": count("examples with the reasoning type meta_cognitive"),
    "instruction_format_count": count("examples whose format is instruction"),
    "cot_format_count": count("examples whose format is cot"),
    "correction_format_count": count("examples whose format is correction"),
    "preference_format_count": count("examples whose format is preference"),
    "approved_count": count("examples reviewers approved"),
    "rejected_count": count("examples reviewers rejected"),
    "ready_count": count("examples that may leave for training"),
    "mean_score": fraction("mean quality_score of the example_count examples"),
    "validated_rate": fraction("share of the example_count examples whose answer users validated"),
    "contradicted_rate": fraction("share of the example_count examples whose answer users contradicted"),
    "repetition_rate": fraction("share of the example_count examples with the quality concern repetition"),
    "incomplete_rate": fraction("share of the example_count examples with the quality concern incomplete"),
    "no_reasoning_rate": fraction("share of the example_count examples with the quality concern no_reasoning"),
    "too_short_rate": fraction("share of the example_count examples with the quality concern too_short"),
    "too_long_rate": fraction("share of the example_count examples with the quality concern too_long"),
    "code_only_rate": fraction("share of the example_count examples with the quality concern code_only"),
    "refusal_rate": fraction("share of the example_count examples with the quality concern refusal"),
    "uncertain_rate": fraction("share of the example_count examples with the quality concern uncertain"),
    "outdated_rate": fraction("share of the example_count examples with the quality concern outdated"),
    "hallucination_risk_rate": fraction(
        "share of the example_count examples with the quality concern hallucination_risk"
    ),
    **{name: end for rate in RATES for name, end in interval(rate, "example_count").items()},
}
