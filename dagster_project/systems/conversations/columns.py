"""The glossary of conversations (seed 1): what the columns about turns mean."""

import polars as pl

from dagster_project.contracts.meaning import (
    Meaning,
    count,
    flag,
    fraction,
    hash_of,
    long_text,
    moment,
    one_of,
    signed_fraction,
    text,
    word,
)

FEEDBACK_STATUSES = ("rejected", "accepted", "neutral")
TURN_CORRECTIONS = ("explicit", "rephrased", "abandonment")
QUERY_SOURCES = ("column", "transcript", "folder", "topic")
LESSONS = ("disagreeing", "uncertain", "frequent")
MACHINE_TARGETS = ("last_turn", "reference")
LABEL_KINDS = ("rating", "reaction", "verdict")
HEAD_STATES = (
    "too_few_labels",
    "too_few_of_a_class",
    "too_few_to_judge_by",
    "labels_contradict_sure_rules",
    "not_better_than_the_rules",
    "better_than_the_rules",
)

# Names that mean something else about turns than about feedback.
CORRECTION_TYPE = one_of(TURN_CORRECTIONS, "how the user rejected the answer (seed 1); null where not rejected")
DECIDING_RULE = word(
    "the rule that decided (docs/implicit.md), or head:objects, head:doubts; session_end, open or no_text where no message "
    "followed, refers_back where it is about an earlier turn"
)
LABEL_VERDICT = one_of(FEEDBACK_STATUSES, "what a person says of the turn's answer (C7)")
LABEL = one_of(FEEDBACK_STATUSES, "what somebody said explicitly of the turn's answer (C7)")
TURN_KIND = one_of(("rejected", "accepted"), "what the next message says of the turn")

COLUMNS: dict[str, Meaning] = {
    # turns as stored
    "turn_key": text(
        "the business key: <user_id>/<turn_number>, <source file>/<turn_number> where the user is unknown"
    ),
    "turn_number": Meaning(pl.Int64, "the source's number of the turn, unique per user (seed 1)"),
    "turn_id": text("turn_NNNNNN, as seed 1 writes it; with user_id it identifies a turn"),
    "topic": long_text("what the turn is about, cut at 200 characters by the source (seed 1)"),
    "intent": word("the source's own classification of the query (seed 1); null where unknown"),
    "keywords": long_text("as stored: JSON or separated by commas"),
    "goals_json": long_text("as stored"),
    "validation_outcome": word("APPROVE, REVISE, RETRY or FAIL, as stored (seed 1)"),
    "strategy_summary": long_text("what the assistant did, as stored (seed 1)"),
    "user_feedback_status": word("the source's own status, as stored; unreliable"),
    "rejection_detected_in": text("the turn in which the source detected a rejection, as stored"),
    "doc_path": text("the turn's folder, as stored"),
    "query_source": one_of(QUERY_SOURCES, "where the query's text came from; a topic is cut at 200 characters"),
    "response_source": one_of(("column", "folder"), "where the response's text came from; null without one"),
    # what the next message says
    "thread_id": text("who speaks and in which session: turns of one thread follow each other (C1)"),
    "next_turn_key": text("the turn that follows in the thread within 30 minutes (C1)"),
    "next_turn_id": text("turn_id of that turn"),
    "next_at": moment("when it began"),
    "similarity": signed_fraction("cosine of two texts' vectors, 4 decimals (C2, C6)"),
    "feedback_status": one_of(FEEDBACK_STATUSES, "what the next message says of this turn's answer (C2)"),
    "feedback_confidence": fraction(
        "how often the rule that decided was right on labelled conversations (C7); in raw tables the source's own"
    ),
    "nominal_confidence": fraction("the confidence seed 1's table gives this kind of decision (C2)"),
    "confidence_low": fraction(
        "lower end of the 90 % interval of what was measured of the rule; 0 where it was never seen (C7)"
    ),
    "detected_in_turn": text("turn_id of the message that tells (seed 1)"),
    "detected_at": moment("when that message came (seed 1)"),
    "user_said": long_text("of a rejected turn: the message that rejected it (C8)"),
    "planner_note": long_text(
        "of a rejected turn: seed 1's block for section 2 of a plan; what is not known is left out (C8)"
    ),
    "source_status": word("the source's own status, rejected, accepted or neutral; null where it has none (C3)"),
    "source_correction_type": one_of(
        TURN_CORRECTIONS, "the source's own, mapped onto ours; only metadata.json has it (C3)"
    ),
    "source_confidence": Meaning(pl.Float64, "the source's own confidence in it"),
    "is_disputed": flag("the source's own status differs from the detected one; null where it has none (C3)"),
    "refers_back": flag("its message points at an earlier turn than the last one (C6)"),
    "said_status": one_of(FEEDBACK_STATUSES, "what such a message says by itself, without looking at the turn before"),
    "said_confidence": fraction("of said_status"),
    "said_confidence_low": fraction("confidence_low of said_status"),
    "said_reason": word("the rule that decided said_status"),
    "text_hash": hash_of("query and response: another hash, and what was made of them is made again"),
    # scores (C4, C5)
    "satisfaction_score": signed_fraction("seed 1: -1 rejected, base + 0.5 accepted, base neutral; null where unknown"),
    "ranking_score": Meaning(pl.Float64, "seed 1: 0.6 * quality_score + 0.4 * feedback weight", least=-1, most=1),
    "is_reusable": flag("not rejected: a planner may reuse what was done (C4)"),
    "consecutive_rejections": count("on a rejected turn: rejected turns in a row up to and including it, else 0 (C5)"),
    # labels of one's own (C7)
    "lesson": one_of(
        LESSONS,
        "why a label of it teaches: the detector disagrees with others, its rule is seldom right, or decides much",
    ),
    "judged_at": moment("when the reviewer judged it"),
    # machine signals (C6)
    "message_turn_key": text("the turn whose message tells"),
    "target_turn_key": text("the turn the signal is about (C6)"),
    "target_kind": one_of(MACHINE_TARGETS, "whether it is the turn before, or one the message refers back to"),
    "targets": Meaning(
        pl.List(pl.Struct({"turn_key": pl.String, "score": pl.Float64})), "the five best targets of a reference (C6)"
    ),
    "score": Meaning(pl.Float64, "0.85 * similarity + 0.15 * 0.5^(age in days / 30) (C6)"),
    # labels, and the head fitted on them (C7)
    "label_id": text("where it was said: the signal, or the verdict of a reader"),
    "label_kind": one_of(
        LABEL_KINDS, "a user's rating or reaction, or the verdict of somebody who read the conversation"
    ),
    "labelled_at": moment("when it was said"),
    "is_chosen": flag("picked for what it teaches (`gristmill label`): it counts in no held-out figure"),
    "rejection_chance": fraction("how likely the head holds a rejection; null where no head is in use"),
    "fold": Meaning(pl.Int64, "of the conversations this head did not see; the last is of those no label is about"),
    "bias": Meaning(pl.Float64, "log odds of a rejection without any feature"),
    "weights": Meaning(pl.List(pl.Float64), "of hashed features, from which no word can be read back"),
    "objects_from": fraction("from which chance on the head objects where the rules do not; null: it never does"),
    "objects_low": fraction("lower end of the 90 % interval of how often it is right then, on what it did not see"),
    "judge": one_of(("rules", "head"), "the rules alone, or the rules with the head"),
    "is_in_use": flag("whether the head decides with the rules in this publication"),
    "state": one_of(HEAD_STATES, "why it is in use or not"),
    "label_count": count("labels it is fitted on; where there are too few, those there are"),
    "rejected_label_count": count("of them, rejected"),
    "accepted_label_count": count("of them, accepted"),
    "neutral_label_count": count("of them, neither"),
    "rating_count": count("of them, ratings of users"),
    "reaction_count": count("of them, reactions of users"),
    "verdict_count": count("of them, verdicts of readers"),
    "first_labelled_at": moment("the first of them"),
    "last_labelled_at": moment("the last of them"),
    "held_out_count": count(
        "of them, judged by the fold that did not see the conversation, and not picked for what they teach"
    ),
    "precision": fraction("of what the judge calls so, how much is labelled so; null where it calls nothing so"),
    "precision_low": fraction("lower end of its 95 % interval (Wilson)"),
    "precision_high": fraction("upper end of its 95 % interval (Wilson)"),
    "recall": fraction("of what is labelled so, how much the judge calls so; null where nothing is"),
    "recall_low": fraction("lower end of its 95 % interval (Wilson)"),
    "recall_high": fraction("upper end of its 95 % interval (Wilson)"),
    "f1": fraction("of both"),
    "f1_low": fraction("lower end of its 95 % interval (1,000 seeded draws)"),
    "f1_high": fraction("upper end of its 95 % interval (1,000 seeded draws)"),
    "squared_error": fraction("mean squared error of what the judge claims; a neutral verdict claims an even chance"),
    # metrics
    "turn_count": count("turns"),
    "session_count": count("threads with a turn on the day"),
    "accepted_count": count("turns detected as accepted"),
    "explicit_count": count("rejections by explicit words"),
    "rephrased_count": count("rejections by repeating the request"),
    "abandonment_count": count("rejections by giving up"),
    "repeated_rejection_sessions": count("threads with two or more rejections in a row that end on the day (C5)"),
    "mean_satisfaction": signed_fraction("mean satisfaction_score of turns that have one"),
    "satisfaction_count": count("turns with a satisfaction_score"),
    "rejected_rate": fraction("rejected / (rejected + accepted + neutral)"),
    "accepted_rate": fraction("accepted / (rejected + accepted + neutral)"),
    "source_status_count": count("turns with a status of the source's own"),
    "disputed_count": count("turns whose own status of the source differs from the detected one (C3)"),
    "disputed_rate": fraction("disputed_count / source_status_count; null without any"),
    # calibration
    "compared_with": one_of(("ratings", "reactions"), "what people said explicitly about the same turns"),
    "confidence_decile": Meaning(pl.Int64, "confidence in [n/10, (n+1)/10), 1.0 in the last", least=0, most=9),
    "judged_count": count("explicit votes on turns detected with this confidence"),
    "right_count": count("of them, how many agree with the detector"),
    "right_share": fraction("right_count / judged_count"),
    "right_share_low": fraction("lower end of its 95 % interval (Wilson)"),
    "right_share_high": fraction("upper end of its 95 % interval (Wilson)"),
    "mean_confidence": fraction("mean confidence of the detector in the decile"),
    "calibration_error": fraction("expected calibration error over all deciles of confidence"),
}
