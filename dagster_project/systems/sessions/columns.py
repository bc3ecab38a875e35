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
    interval,
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
    return Meaning(pl.Float64, f"{description}; 0..100, 2 decimals", least=0, most=100)


def _score(description: str) -> Meaning:
    return Meaning(pl.Int64, f"{description}, 0..100; null where it was outside", least=0, most=100)


def _estimate(what: str) -> Meaning:
    return Meaning(pl.Float64, f"{what} / sample_rate: how many there would be if all sessions were looked at", least=0)


# Names that mean something else about sessions than elsewhere.
RATING = one_of(RATINGS, "what the user thought of the session, by the feedback that counts; null without feedback")
STORED_RATING = word("positive, negative or skipped, as stored")
VERDICT = one_of(VERDICTS, "what the review that counts decided; null without one")
STORED_VERDICT = word("approved, changes_requested or rejected, as stored")
STARTED_AT = moment("when the session began")
CREATED_AT = moment("when the row was inserted")
SESSION_ID = text("the AI session")
USER_ID = text("whose session it is; null where unknown")
COMMENT = Meaning(pl.String, "what the user wrote", is_long_text=True)
FEEDBACK_ID = text("the feedback row that counts, the latest of the session; null without one")
NAME = text("name of the document")
OUTPUT_HASH = hash_of("hash of the output before and after: another value, and the edit distance is computed again")
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
    "slice_id": word("a part of the workspace; null where the session has none"),
    "is_slice": flag("the figures are of one slice; false: of the whole workspace, which its slices add up to"),
    "context_document_ids": Meaning(
        TEXTS, "documents in the context, as stored (some sources call it context_node_ids)"
    ),
    "context_token_count": Meaning(pl.Int64, "tokens of the context"),
    "context_compiled_at": moment("when the context was put together"),
    "query_hash": text("SHA-256 of the query"),
    "ended_at": moment("when the session ended"),
    # feedback as stored
    "error_categories": Meaning(
        TEXTS,
        "what was wrong, sorted: wrong_context, style_mismatch, missing_context, ignored_constraints, other and the like",
    ),
    "missing_context": Meaning(pl.String, "what the assistant should have known", is_long_text=True),
    "accuracy_score": _score("the reviewer's score of the output"),
    "completeness_score": _score("the reviewer's score of the output"),
    "style_match_score": _score("the reviewer's score of the output"),
    "edit_distance": _score("percentage of the output that was changed, as stored"),
    "output_issues": Meaning(TEXTS, "what the review found wrong with the output, lower case and sorted"),
    "submitted_at": moment("when the feedback was given"),
    "submitted_by": text("who gave the feedback; null where unknown"),
    # documents and outputs as stored
    "type": word("kind of document, as stored"),
    "layer": word("layer of the document, as stored"),
    "token_count": Meaning(pl.Int64, "tokens of the document, as stored"),
    "deleted_at": moment("when the document was deleted"),
    # sessions as derived
    "edit_distance_pct": Meaning(
        pl.Int64,
        "percentage of the output that was changed: as stored, else computed; null where unknown",
        least=0,
        most=100,
    ),
    "output_edit_distance_pct": Meaning(
        pl.Int64,
        "percentage of the output that was changed, computed from its text before and after; null without them",
        least=0,
        most=100,
    ),
    "has_missing_context": flag("the feedback says what the assistant should have known; null without feedback"),
    "document_ids": Meaning(TEXTS, "documents in the context, each once, sorted"),
    # days (seed 4's feedback_metrics_daily)
    "date": Meaning(pl.Date, "day on which the sessions began, UTC", is_repetitive=True),
    "total_sessions": count("sessions: positive_ratings + negative_ratings + skipped_ratings + no_feedback_count"),
    "positive_ratings": count("sessions rated positive"),
    "negative_ratings": count("sessions rated negative"),
    "skipped_ratings": count("sessions whose rating was skipped"),
    "no_feedback_count": count("sessions without feedback"),
    "first_pass_acceptance_rate": _percentage(
        "percentage of the reviewed_count reviews that approved; null without reviews"
    ),
    "average_edit_distance": _percentage("mean edit_distance_pct of sessions with feedback"),
    "error_category_counts": text("JSON object: error category -> sessions with it, keys sorted"),
    "avg_accuracy_score": _percentage("mean of the reviewers' scores; null without any"),
    "avg_completeness_score": _percentage("mean of the reviewers' scores; null without any"),
    "avg_style_match_score": _percentage("mean of the reviewers' scores; null without any"),
    "reviewed_count": count("sessions with a verdict"),
    "output_issue_counts": text("JSON object: output issue -> sessions with it, keys sorted"),
    "missing_context_count": count("sessions whose feedback says what the assistant should have known"),
    "missing_context_rate": fraction(
        "missing_context_count / sessions with feedback (total_sessions - no_feedback_count); null without any"
    ),
    "sample_rate": Meaning(
        pl.Float64, "share of all sessions that was looked at; counts are as counted, estimates scaled by it", most=1
    ),
    "positive_rate": fraction("positive_ratings / rated_count; null without either"),
    **interval("positive_rate", "rated_count"),
    **interval("first_pass_acceptance_rate", "reviewed_count", 0, 100),
    "with_feedback_count": count("total_sessions - no_feedback_count: sessions with feedback"),
    **interval("missing_context_rate", "with_feedback_count"),
    "total_sessions_estimate": _estimate("total_sessions"),
    "positive_ratings_estimate": _estimate("positive_ratings"),
    "negative_ratings_estimate": _estimate("negative_ratings"),
    "skipped_ratings_estimate": _estimate("skipped_ratings"),
    "no_feedback_estimate": _estimate("no_feedback_count"),
    "is_frozen": flag("the day is 90 days old or more: from then on figures with fewer sessions are refused"),
    # restatements
    "entry": count("number of the entry in its log, which only grows"),
    "restated_as_of": moment("as_of of the publication that restated the day"),
    "previous_as_of": moment("as_of of the publication before that one; null where the change was refused"),
    "column": word("which figure changed"),
    "old_value": text("what was published; null where the row was not there or had none"),
    "new_value": text("what was published instead; where refused, what was not"),
    "why": word(f"what changed, joined by +: {', '.join(RESTATEMENT_REASONS)}"),
    # documents (S5)
    "document_id": text("the document, by its id at the source"),
    "document_name": text("name of the document; null where the source does not know it"),
    "document_type": word("kind of document; null where the source does not know it"),
    "effectiveness": fraction(
        "positive_count / (positive_count + negative_count) of sessions with the document; null below 5 of them"
    ),
    "effectiveness_low": fraction("lower end of effectiveness' 95 % interval (Wilson)"),
    "effectiveness_high": fraction("upper end of effectiveness' 95 % interval (Wilson)"),
    "other_rated_count": count("rated sessions of the same workspace without the document"),
    "other_positive_rate": fraction(
        "positive / (positive + negative) of the other_rated_count sessions; null without any"
    ),
    "association": signed_fraction("effectiveness minus other_positive_rate: an association, not an effect"),
    "association_low": signed_fraction("lower end of association's 95 % interval (Newcombe)"),
    "association_high": signed_fraction("upper end of association's 95 % interval (Newcombe)"),
    # baseline (S7)
    "other_tenant_count": count("other tenants with rated sessions"),
    "largest_tenant_share": fraction(
        "share of the largest other tenant in the rated sessions of all other tenants; null without any"
    ),
    "has_baseline": flag(
        "whether the other tenants may be told of: five or more, none with more than half of the sessions"
    ),
    "baseline_rated_count": count("rated sessions of other tenants; null without a baseline"),
    "baseline_positive_rate": fraction("positive / (positive + negative) of other tenants; null without a baseline"),
    "baseline_acceptance_rate": _percentage(
        "percentage of the reviews of other tenants that approved; null without a baseline"
    ),
    "baseline_edit_distance": _percentage("mean edit distance of other tenants' sessions with feedback"),
}
