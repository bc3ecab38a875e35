"""The glossary of AI sessions (seed 4): what the columns about sessions, their feedback and their days mean."""

import polars as pl

from dagster_project.contracts.anonymised_columns import RATINGS
from dagster_project.contracts.meaning import (
    TEXTS,
    Meaning,
    count,
    flag,
    fraction,
    hash_of,
    moment,
    one_of,
    signed_fraction,
    text,
    word,
)

VERDICTS = ("approved", "changes_requested", "rejected")
REFUSED = "refused"
RESTATEMENT_REASONS = (
    "late_feedback",
    "changed_feedback",
    "vanished_feedback",
    "new_session",
    "vanished_session",
    "changed_session",
    "sample_rate",
    "rules",
    REFUSED,
)


def _percentage(description: str) -> Meaning:
    return Meaning(pl.Float64, f"{description}; 0..100, 2 decimals (seed 4)", least=0, most=100)


def _score(description: str) -> Meaning:
    return Meaning(pl.Int64, f"{description}, 0..100 (seed 4); null where it was outside (S2)", least=0, most=100)


def _estimate(what: str) -> Meaning:
    return Meaning(pl.Float64, f"{what} / sample_rate (S7)", least=0)


# Names that mean something else about sessions than elsewhere.
RATING = one_of(RATINGS, "of the feedback that counts (seed 4); null without feedback")
STORED_RATING = word("positive, negative or skipped, as stored (seed 4)")
VERDICT = one_of(VERDICTS, "of the review that counts (seed 4); null without one")
STORED_VERDICT = word("approved, changes_requested or rejected, as stored (seed 4)")
STARTED_AT = moment("when the session began")
CREATED_AT = moment("when the row was inserted")
SESSION_ID = text("the AI session (seed 4)")
USER_ID = text("whose session it is; null where unknown (G9)")
COMMENT = Meaning(pl.String, "what the user wrote (seed 4)", is_long_text=True)
FEEDBACK_ID = text("the feedback row that counts: the latest by (submitted_at, id) before as_of")
NAME = text("of the document")
OUTPUT_HASH = hash_of("both texts of the output: another hash, and the edit distance is computed again")
TABLE_OWN = {
    "rating": RATING,
    "verdict": VERDICT,
    "started_at": STARTED_AT,
    "session_id": SESSION_ID,
    "user_id": USER_ID,
    "feedback_id": FEEDBACK_ID,
}
POSITIVE = count("sessions rated positive")
NEGATIVE = count("sessions rated negative")
RATED = count("sessions rated positive or negative")
SESSIONS_COUNTED = count("sessions")

COLUMNS: dict[str, Meaning] = {
    # sessions as stored
    "tenant_id": word("the customer (seed 4)"),
    "workspace_id": word("the customer's workspace (seed 4)"),
    "slice_id": word("a part of the workspace (seed 4); null where the session has none"),
    "is_slice": flag("the figures are of one slice; false: of the whole workspace, which its slices add up to"),
    "context_document_ids": Meaning(TEXTS, "documents in the context, as stored (seed 4; older: context_node_ids)"),
    "context_token_count": Meaning(pl.Int64, "tokens of the context (seed 4)"),
    "context_compiled_at": moment("when the context was put together (seed 4)"),
    "query_hash": text("SHA-256 of the query (seed 4)"),
    "ended_at": moment("when the session ended (seed 4)"),
    # feedback as stored
    "error_categories": Meaning(
        TEXTS, "what was wrong: seed 4's categories, the web's mapped onto them, sorted (S1); raw tables: as stored"
    ),
    "missing_context": Meaning(pl.String, "what the assistant should have known (seed 4)", is_long_text=True),
    "accuracy_score": _score("of a reviewed output"),
    "completeness_score": _score("of a reviewed output"),
    "style_match_score": _score("of a reviewed output"),
    "edit_distance": _score("percentage of the output that was changed, as stored"),
    "output_issues": Meaning(TEXTS, "what a review found (seed 4), lower case and sorted; raw tables: as stored"),
    "submitted_at": moment("when the feedback was given (seed 4)"),
    "submitted_by": text("who gave it (seed 4; older: submitted_by_id)"),
    # documents and outputs as stored
    "type": word("kind of document, as stored"),
    "layer": word("of the document, as stored"),
    "token_count": Meaning(pl.Int64, "tokens of the document, as stored"),
    "deleted_at": moment("when the document was deleted"),
    # sessions as derived
    "edit_distance_pct": Meaning(
        pl.Int64, "percentage of the output that was changed: as stored, else computed (S4)", least=0, most=100
    ),
    "output_edit_distance_pct": Meaning(
        pl.Int64,
        "the same computed from the session's output before and after, as npm's diff does (S4)",
        least=0,
        most=100,
    ),
    "has_missing_context": flag("the feedback says what the assistant should have known; null without feedback"),
    "document_ids": Meaning(TEXTS, "documents in the context, each once, sorted"),
    # days (seed 4's feedback_metrics_daily)
    "date": Meaning(pl.Date, "day on which the sessions began, UTC (seed 4)", is_repetitive=True),
    "total_sessions": count("sessions; = positive + negative + skipped + no_feedback (seed 4)"),
    "positive_ratings": count("sessions rated positive (seed 4)"),
    "negative_ratings": count("sessions rated negative (seed 4)"),
    "skipped_ratings": count("sessions whose rating was skipped (seed 4)"),
    "no_feedback_count": count("sessions without feedback (S1)"),
    "first_pass_acceptance_rate": _percentage("approved / reviewed * 100; null without reviews (S2)"),
    "average_edit_distance": _percentage("mean edit_distance_pct of sessions with feedback (S2)"),
    "error_category_counts": text("JSON object: error category -> sessions with it, keys sorted (seed 4)"),
    "avg_accuracy_score": _percentage("mean of the scores given"),
    "avg_completeness_score": _percentage("mean of the scores given"),
    "avg_style_match_score": _percentage("mean of the scores given"),
    "reviewed_count": count("sessions with a verdict"),
    "output_issue_counts": text("JSON object: output issue -> sessions with it, keys sorted (S2)"),
    "missing_context_count": count("sessions whose feedback says what the assistant should have known"),
    "missing_context_rate": fraction("missing_context_count / sessions with feedback; null without any (S2)"),
    "sample_rate": Meaning(pl.Float64, "share of all sessions that was looked at; counts are as counted (S7)", most=1),
    "total_sessions_estimate": _estimate("total_sessions"),
    "positive_ratings_estimate": _estimate("positive_ratings"),
    "negative_ratings_estimate": _estimate("negative_ratings"),
    "skipped_ratings_estimate": _estimate("skipped_ratings"),
    "no_feedback_estimate": _estimate("no_feedback_count"),
    "is_frozen": flag("90 days or more before as_of: figures with fewer sessions are refused from then on (S3)"),
    # restatements
    "entry": count("number of the entry in the log, which only grows"),
    "restated_as_of": moment("as_of of the run that restated the day"),
    "previous_as_of": moment("as_of of the publication before it"),
    "column": word("which figure"),
    "old_value": text("what was published; null where the row was not there or had none"),
    "new_value": text("what was published instead; where refused, what was not"),
    "why": word(f"what changed, joined by +: {', '.join(RESTATEMENT_REASONS)}"),
    # documents (S5)
    "document_id": text("a document that was in the context of sessions"),
    "document_type": word("of context_nodes; null where unknown"),
    "effectiveness": fraction(
        "positive / (positive + negative) of sessions with the document; null below 5 rated (S5)"
    ),
    "effectiveness_low": fraction("lower end of its 95 % interval (Wilson)"),
    "effectiveness_high": fraction("upper end of its 95 % interval (Wilson)"),
    "other_rated_count": count("rated sessions of the same workspace without the document"),
    "other_positive_rate": fraction("positive / (positive + negative) of those; null without any"),
    "association": signed_fraction("effectiveness minus other_positive_rate: an association, not an effect (S5)"),
    "association_low": signed_fraction("lower end of its 95 % interval (Newcombe)"),
    "association_high": signed_fraction("upper end of its 95 % interval (Newcombe)"),
    # baseline (S7)
    "other_tenant_count": count("other tenants with rated sessions"),
    "largest_tenant_share": fraction("of the rated sessions of other tenants, how many are of the largest of them"),
    "has_baseline": flag("five other tenants or more, none with more than half of the sessions (S7)"),
    "baseline_rated_count": count("rated sessions of other tenants; null without a baseline"),
    "baseline_positive_rate": fraction("positive / (positive + negative) of other tenants; null without a baseline"),
    "baseline_acceptance_rate": _percentage("approved / reviewed * 100 of other tenants; null without a baseline"),
    "baseline_edit_distance": _percentage("mean edit distance of other tenants' sessions with feedback"),
}
