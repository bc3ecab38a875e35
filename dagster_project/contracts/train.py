"""What leaves for training: the records of a release with all their columns, and the candidates left out."""

from dagster_project.contracts.anonymised_columns import ANONYMISED_COLUMNS, RATING
from dagster_project.contracts.columns import RECORD_SPLIT
from dagster_project.contracts.meaning import count, flag, hash_of, hashes_of, one_of, signature_of, text
from dagster_project.contracts.table import Table

ANONYMIZED = "contextCategories tokenBudgetUtilization? rating errorCategories qualityScores? editDistance?"
# What leaves in files of that name: seed 4's interface, nothing beside it.
ANONYMIZED_FEEDBACK = Table(
    "anonymized_feedback", "One rated session.", ("rating",), ANONYMIZED, own={**ANONYMISED_COLUMNS, "rating": RATING}
)
IDENTITY = """id content_id source origin_ids prompt_key component split quality_weight base_weight tier domain language?
    is_refusal release release_date messages"""
# Of the texts behind candidates, what a release must know of them. A text is asked (context and question), the answer that
# was given, the better one (a correction, what was preferred, the teacher's), or the note on what was wrong.
ROLES = ("asked", "answer", "better", "note")
TRAITS = f"""origin_id event_date session_id? user_id? record_split? has_items masked_prompt_key? masked_split? masked_thread_key?
    masked_answer_hash? masked_better_hash? masked_record_hash? language? is_refusal
    {" ".join(f"{role}_has_tokens" for role in ROLES)} {" ".join(f"{role}_item?" for role in ROLES)}
    {" ".join(f"{role}_length" for role in ROLES)} {" ".join(f"{role}_form?" for role in ROLES)}
    {" ".join(f"{role}_signature?" for role in ROLES)} exchanges earlier_exchanges is_context_parsed"""
IS = {
    "asked": "question and context",
    "answer": "the answer that was given",
    "better": "the better answer",
    "note": "what was wrong",
}
COMPARED = {**IS, "note": "what was wrong and the better answer, which a correction record says together"}
OF_TRAITS = {
    "record_split": one_of(
        ("train", "validation", "test"), "split drawn by the session or user, where the settings say so; else null"
    ),
    "has_items": flag("a text holds a secret or personal data"),
    "masked_prompt_key": text("prompt_key once secrets are masked; null where nothing is masked"),
    "masked_split": one_of(("train", "validation", "test"), "the split by that key; null where nothing is masked"),
    "masked_thread_key": hash_of("thread_key once secrets are masked; null where nothing is masked"),
    "masked_answer_hash": hash_of("answer_hash once secrets are masked; null where nothing is masked"),
    "masked_better_hash": hash_of("the same for equal better answers, secrets masked; null where nothing is masked"),
    "masked_record_hash": hash_of(
        "the same for equal correction records, secrets masked; null where nothing is masked"
    ),
    "is_refusal": flag("the answer it would teach refuses to help"),
    "exchanges": hashes_of("the question with each answer of 40 characters or more, a hash of each"),
    "earlier_exchanges": hashes_of("question and answer of the conversation before it, a hash of each"),
    "is_context_parsed": flag("the context could be read as turns, or there is none"),
    **{f"{role}_has_tokens": flag(f"{said} holds a control token of a chat template") for role, said in IS.items()},
    **{
        f"{role}_item": text(f"the item of an evaluation set that {said} holds; null without one")
        for role, said in IS.items()
    },
    **{f"{role}_length": count(f"length of {said}, in characters") for role, said in IS.items()},
    **{
        f"{role}_form": hash_of(
            f"the same for texts of {said} that are the same but for case and punctuation, secrets masked; null without one"
        )
        for role, said in COMPARED.items()
    },
    **{
        f"{role}_signature": signature_of(
            f"160 bytes that are the more alike the more alike two texts of {said} are, secrets masked"
        )
        for role, said in COMPARED.items()
    },
}
OWN = {"split": RECORD_SPLIT}

ALL = (
    Table(
        "train__instruction",
        "One instruction example: a question and an answer people liked.",
        ("release", "id"),
        f"instruction input output context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__cot",
        "One example of reasoning: a question and the teacher's answer with its steps.",
        ("release", "id"),
        f"instruction input output context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__correction",
        "One correction example: an answer, what was wrong with it, and the corrected one.",
        ("release", "id"),
        f"instruction input output error_type? context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__preference",
        "One preference pair: a better and a worse answer to the same prompt.",
        ("release", "id"),
        f"prompt chosen rejected votes_for? votes_against? context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__unpaired",
        "One answer with a thumb: what KTO trainers take.",
        ("release", "id"),
        f"prompt completion label context? {IDENTITY}",
        own=OWN,
    ),
    Table(
        "train__excluded",
        "One candidate that did not leave, with the one reason.",
        ("release_date", "id"),
        "id format source origin_ids reason duplicate_of? detail? quality_weight prompt_key release_date",
    ),
    Table(
        "core__feedback_traits",
        "One feedback row with texts: what a release must know of them, computed once per day of rows.",
        ("origin_id",),
        TRAITS,
        is_by_day=True,
        is_of_release=True,
        own=OF_TRAITS,
        said={
            "origin_id": "the feedback row",
            "event_date": "day of the feedback row, UTC",
        },
    ),
    Table(
        "core__distilled_traits",
        "One distilled example with texts: what a release must know of them, computed once per day of examples.",
        ("origin_id",),
        TRAITS,
        is_by_day=True,
        is_of_release=True,
        own=OF_TRAITS,
        said={
            "origin_id": "the distilled example",
            "event_date": "day of the example, UTC",
        },
    ),
    Table(
        "core__prompts",
        "One prompt of any candidate with texts: which prompts it belongs together with, and the split of all of them.",
        ("prompt_key",),
        "prompt_key component split own_split alike_group crossing?",
        is_of_release=True,
        own={
            "split": one_of(("train", "validation", "test"), "the split of all questions it belongs together with"),
            "own_split": one_of(("train", "validation", "test"), "the split its own hash gives"),
            "alike_group": text("the smallest prompt_key among those it is tied to by alike wording alone"),
            "crossing": one_of(
                ("jaccard", "sentence"),
                "in what it is alike to a question of another split all the same; null where it is not",
            ),
        },
    ),
    Table(
        "core__template_sentences",
        "One sentence that so many different prompts share that it ties none of them together.",
        ("sentence",),
        "sentence",
        is_of_release=True,
        own={"sentence": text("the sentence as prompts are compared, masked")},
    ),
    Table(
        "core__contenders",
        "One candidate that nothing speaks against but what a release looks at: masked texts, sets to keep apart from.",
        ("id",),
        """id format source origin_id partner_id? event_date partner_event_date? occurred_at quality_weight base_weight tier
        domain error_type? label? is_distilled prompt_key component split thread_key side_a side_b votes_for? votes_against?
        language? is_refusal has_items char_count session_id? user_id? reason? detail?""",
        is_of_release=True,
        own={
            "split": RECORD_SPLIT,
            "has_items": OF_TRAITS["has_items"],
            "char_count": count("length of all its texts together, in characters"),
            "is_distilled": flag("made of a distilled example, else of feedback"),
        },
    ),
    Table(
        "core__recipe_exclusions",
        "One candidate its format's recipe leaves out, and the rule.",
        ("id",),
        "id detail",
        is_of_release=True,
    ),
    Table(
        "core__duplicates",
        "One candidate that says the very same as a heavier one, which leaves instead.",
        ("id",),
        "id duplicate_of",
        is_of_release=True,
    ),
    Table(
        "core__near_duplicates",
        "One candidate that says nearly the same as a heavier one, which leaves instead.",
        ("id",),
        "id duplicate_of",
        is_of_release=True,
    ),
    Table(
        "core__leaks",
        "One evaluation candidate that would leak: its prompt or answer is known to the training side.",
        ("id",),
        "id",
        is_of_release=True,
    ),
    Table(
        "train__anonymised",
        "One rated AI session with nothing that says whose it was: at least k users of its week share all of it; rows may be equal.",
        ("release_date",),
        f"{ANONYMIZED} release_date",
        own={**ANONYMISED_COLUMNS, "rating": RATING},
    ),
)
