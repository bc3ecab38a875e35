"""The glossary of conversations (seed 1): what the columns about turns mean."""

import polars as pl

from dagster_project.contracts.meaning import (
    Meaning,
    count,
    flag,
    fraction,
    hash_of,
    interval,
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
CORRECTION_TYPE = one_of(TURN_CORRECTIONS, "how the user rejected the answer; null where it was not rejected")
DECIDING_RULE = word(
    "the rule that read the next message (docs/implicit.md), or head:objects, head:doubts; session_end, open or no_text where "
    "no message followed, refers_back where it is about an earlier turn"
)
LABEL_VERDICT = one_of(FEEDBACK_STATUSES, "what a person says of the turn's answer")
LABEL = one_of(FEEDBACK_STATUSES, "what somebody said explicitly of the turn's answer")
TURN_KIND = one_of(("rejected", "accepted"), "what the next message says of the turn")

COLUMNS: dict[str, Meaning] = {
    # turns as stored
    "turn_key": text("the turn: <user_id>/<turn_number>, or <source file>/<turn_number> where the user is unknown"),
    "turn_number": Meaning(pl.Int64, "the source's number of the turn, unique per user"),
    "turn_id": text("the turn's name within its user's: turn_ and six digits, as its folder is called"),
    "topic": long_text("what the turn is about, cut at 200 characters by the source"),
    "intent": word("the source's own classification of the query; null where unknown"),
    "keywords": long_text("keywords of the turn, JSON or separated by commas, as stored"),
    "goals_json": long_text("goals of the turn, JSON as stored"),
    "validation_outcome": word(
        "what the system's own validation said of the answer: APPROVE, REVISE, RETRY or FAIL, as stored"
    ),
    "strategy_summary": long_text("what the assistant did, as stored"),
    "user_feedback_status": word("what the source itself took the user's reaction to be, as stored; unreliable"),
    "rejection_detected_in": text("the turn in which the source detected a rejection, as stored"),
    "doc_path": text("the turn's folder, as stored"),
    "query_source": one_of(
        QUERY_SOURCES, "where the text of the query was found; a topic is cut at 200 characters; null without a text"
    ),
    "response_source": one_of(("column", "folder"), "where the text of the response was found; null without a text"),
    # what the next message says
    "thread_id": text("who speaks in which session: the turns of one thread follow each other"),
    "next_turn_key": text("the turn that follows in the thread within 30 minutes; null without one"),
    "next_turn_id": text("turn_id of the turn that follows; null without one"),
    "next_at": moment("when that turn began; null where none followed"),
    "similarity": signed_fraction(
        "how alike the query and the next message are, -1..1 (cosine of their vectors); null without a next message"
    ),
    "feedback_status": one_of(
        FEEDBACK_STATUSES, "what the next message says of this turn's answer, as the detector reads it"
    ),
    "feedback_confidence": fraction(
        "how sure the detector is: how often the rule that decided was right on labelled conversations"
    ),
    "nominal_confidence": fraction(
        "the confidence the conversation system's document names for this kind of decision; feedback_confidence is measured"
    ),
    "confidence_low": fraction(
        "lower end of the 90 % interval of the confidence, as measured; 0 where the rule was never seen"
    ),
    "detected_in_turn": text("turn_id of the next message, which tells; null where none does"),
    "detected_at": moment("when that message came; null where none does"),
    "user_said": long_text("the message that rejected the turn's answer; null where it was not rejected"),
    "planner_note": long_text("what a planner is told of a rejected turn, as text; null where it was not rejected"),
    "source_status": word(
        "the source's own reading of the turn: rejected, accepted or neutral; null where it has none"
    ),
    "source_correction_type": one_of(
        TURN_CORRECTIONS, "how the user rejected the answer as the source itself has it; null where it says nothing"
    ),
    "source_confidence": Meaning(
        pl.Float64, "the source's own confidence in source_status; null where it says nothing"
    ),
    "is_disputed": flag("the source's own status differs from the detected one; null where it has none"),
    "refers_back": flag("the turn's own message points further back than to the turn before"),
    "said_status": one_of(
        FEEDBACK_STATUSES, "what the turn's own message says by itself, where it points further back"
    ),
    "said_confidence": fraction("how sure the detector is of said_status"),
    "said_confidence_low": fraction("lower end of the 90 % interval of said_confidence"),
    "said_reason": word("the rule that decided said_status"),
    "text_hash": hash_of("hash of query and response: another value, and the turn is judged again"),
    # scores (C4, C5)
    "satisfaction_score": signed_fraction(
        "-1 where rejected; else what the system's validation said (0.5 more where accepted); null where nothing is known"
    ),
    "ranking_score": Meaning(
        pl.Float64,
        "what strategies are ranked by: 0.6 * quality_score + 0.4 * what the user's reaction weighs",
        least=-1,
        most=1,
    ),
    "is_reusable": flag("not rejected: a planner may reuse what was done"),
    "consecutive_rejections": count("on a rejected turn: rejected turns in a row up to and including it, else 0"),
    # labels of one's own (C7)
    "lesson": one_of(
        LESSONS,
        "why a label of it teaches: the detector disagrees with others, its rule is seldom right, or decides much",
    ),
    "judged_at": moment("when the reviewer judged it"),
    # machine signals (C6)
    "message_turn_key": text("the turn whose query is the message that tells"),
    "target_turn_key": text("the turn the signal is about"),
    "target_kind": one_of(
        MACHINE_TARGETS, "whether the signal is about the turn before, or one the message refers back to"
    ),
    "targets": Meaning(
        pl.List(pl.Struct({"turn_key": pl.String, "score": pl.Float64})),
        "the five turns the message most likely means, with their scores; empty where it means the last one",
    ),
    "score": Meaning(
        pl.Float64, "how likely the message means this turn: 0.85 * similarity + 0.15 * 0.5^(age in days / 30)"
    ),
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
    "turn_count": count("turns of the day"),
    "session_count": count("threads with a turn on the day"),
    "accepted_count": count("turns detected as accepted"),
    "explicit_count": count("rejections by explicit words"),
    "rephrased_count": count("rejections by repeating the request"),
    "abandonment_count": count("rejections by giving up"),
    "repeated_rejection_sessions": count("threads with two or more rejections in a row that end on the day"),
    "mean_satisfaction": signed_fraction(
        "mean satisfaction_score of the satisfaction_count turns that have one, -1..1"
    ),
    "satisfaction_count": count("turns with a satisfaction_score"),
    "rejected_rate": fraction("rejected_count / turn_count"),
    "accepted_rate": fraction("accepted_count / turn_count"),
    **interval("rejected_rate", "turn_count"),
    **interval("accepted_rate", "turn_count"),
    "source_status_count": count("turns with a status of the source's own"),
    "disputed_count": count("turns whose own status of the source differs from the detected one"),
    "disputed_rate": fraction("disputed_count / source_status_count; null without any"),
    **interval("disputed_rate", "source_status_count"),
    # calibration
    "compared_with": one_of(
        ("ratings", "reactions"), "which explicit votes on the same turns the detector is compared with"
    ),
    "detected": one_of(("rejected", "accepted"), "what the detector read from the next message"),
    "is_right": flag("the vote agrees with the detector"),
    "confidence_decile": Meaning(
        pl.Int64, "tenth of the detector's confidence: 7 is 0.7 up to 0.8; 9 takes 1.0 too", least=0, most=9
    ),
    "judged_count": count("explicit votes on turns detected with this confidence"),
    "right_count": count("of judged_count, how many agree with the detector"),
    "right_share": fraction("right_count / judged_count"),
    "right_share_low": fraction("lower end of right_share's 95 % interval (Wilson), of judged_count votes"),
    "right_share_high": fraction("upper end of right_share's 95 % interval (Wilson), of judged_count votes"),
    "mean_confidence": fraction("mean confidence of the detector on those turns"),
    "calibration_error": fraction(
        "how far right_share is from the confidence claimed, over all tenths of this comparison"
    ),
}
