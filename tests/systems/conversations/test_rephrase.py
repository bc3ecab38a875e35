"""Rule C2, `rephrased`: a word exchanged for a synonym repeats the request; an exchanged name, number or thing does not."""

import polars as pl
import pytest

from dagster_project.systems.conversations.rephrase import repeats

# Every text is written for these tests; {} is where the word stood that was exchanged.
SYNONYMS = """
Where can I {buy|purchase} a used bicycle in town?
How do I {fix|repair} a dripping kitchen tap?
Which {movie|film} won the most awards in 1994?
Find me a {car|automobile} that seats seven people
How do I {begin|start} a vegetable garden on a balcony?
What are the {benefits|advantages} of sleeping eight hours?
How can I {reduce|lower} my monthly heating costs?
What is the best way to {delete|remove} duplicates from a list?
Is there a {doctor|physician} near the harbour open on Sundays?
Write a {letter|note} to the landlord about the broken heating
How do I {select|choose} the right size of running shoes?
What is an {easy|simple} recipe for onion soup?
Where do I {store|keep} my winter tyres in summer?
Which {phone|telephone} has the longest battery life?
What is the {quickest|fastest} route to the central station?
Recommend a good {picture|photo} editor for beginners
Can you {explain|describe} how a heat pump works?
How do I {calculate|compute} the area of a triangle?
What {job|position} pays well without a degree?
How do I {combine|merge} two tables in a spreadsheet?
Which {shop|store} sells spare parts for old radios?
Who {built|constructed} the old stone bridge over the river?
What is the {purpose|goal} of a feasibility study?
How do I {modify|change} the margins of a document?
Which {illness|disease} is caused by a lack of vitamin C?
How can I {improve|enhance} the sound of my old speakers?
Where can I {rent|lease} a van for the weekend?
How {difficult|hard} is it to learn the violin as an adult?
What should a {child|kid} eat before a swimming lesson?
List the {errors|mistakes} in this paragraph about whales
How do I {stop|prevent} my glasses from fogging up?
What is a {typical|usual} salary for a junior carpenter?
Which {town|city} has the oldest university in Europe?
How do I {connect|link} my printer to the tablet?
Where can I {obtain|get} a copy of my birth certificate?
Suggest a {present|gift} for a retired teacher
What {causes|produces} the smell after summer rain?
How do I {verify|check} that a download is not damaged?
Summarise the main {ideas|concepts} of this chapter on trade
Which {trip|journey} takes longer, by ferry or by train?
How {large|big} is the garden behind the museum?
What {topics|subjects} are covered in the driving test?
Is the {sick|ill} parrot allowed to fly in the room?
What are the {rules|regulations} for fishing in the lake?
"""

EXCHANGED = """
Book a flight to {Paris|Rome} for next Friday
Show me trains from {Leeds|York} to the coast
What is the weather in {Oslo|Bergen} tomorrow?
what is the weather in {oslo|bergen} tomorrow
Find a {Thai|Greek} restaurant near the station
Who {painted|designed} the ceiling of the chapel?
When was {Einstein|Newton} born, and in which town?
Convert 20 dollars to {euros|yen} at the rate of today
What is the {height|age} of the tallest tree in the park?
How many people live in {Peru|Chile} according to the census?
Set an alarm for {7|9} in the morning
Book a table for {two|six} people at the harbour
List the events on {3|4} May in the town hall
Who was the {first|second} president of the republic?
How do I cook {beans|lentils} without soaking them?
What is the {capital|population} of New Zealand?
Which {dog|cat} breeds are good for a small flat?
How do I install {Python|Rust} on an old laptop?
Give me the {address|number} of the nearest pharmacy
What time does the {library|museum} open on Sunday?
Is there a concert on {Monday|Thursday} in the old theatre?
How warm does the sea get in {June|September} there?
What should I plant in the {spring|autumn} in a dry garden?
Translate this sentence into {French|Polish} for the sign
What is the {price|weight} of the smallest electric piano?
Find me {shoes|gloves} for a long walk in the rain
How do I change the {tyre|chain} of a city bike?
Which {film|song} was the most popular of 1999?
How long is the {flight|drive} to the border?
What is the {cause|cure} of hay fever?
Which river flows through {Vienna|Lyon} and how long is it?
Write a poem about the {moon|sea} for a birthday card
Who wrote the {music|script} of that old pirate film?
Show me hotels in {Kyoto|Osaka} with a garden
How much {sugar|salt} goes into the dough for two loaves?
What is the boiling point of {water|alcohol} on a mountain?
Is the {red|blue} jacket still available in medium?
What do {owls|foxes} eat in the winter months?
Which {bus|tram} goes to the botanical garden?
How do I clean a {leather|wool} coat at home?
What are the symptoms of {flu|measles} in adults?
How old was {Mozart|Bach} when he died?
Find a flat under {900|1200} euros with two rooms
Who won the cup in {2006|2010} in the final?
How do I grow {tomatoes|basil} on a windowsill?
"""


def pairs(table: str) -> list[tuple[str, str]]:
    found = []
    for line in table.strip().splitlines():
        before, _, rest = line.partition("{")
        words, _, after = rest.partition("}")
        first, second = words.split("|")
        found.append((before + first + after, before + second + after))
    return found


def repeated(rows: list[tuple[str, str]]) -> list[bool]:
    return repeats(pl.DataFrame(rows, ["prev_query", "next_message"], orient="row")).to_list()


def test_a_word_exchanged_for_a_synonym_repeats_the_request() -> None:
    both = [*pairs(SYNONYMS), *((second, first) for first, second in pairs(SYNONYMS))]
    missed = [pair for pair, is_again in zip(both, repeated(both), strict=True) if not is_again]
    assert len(pairs(SYNONYMS)) >= 40
    assert missed == []


def test_an_exchanged_name_number_or_thing_asks_for_something_new() -> None:
    both = [*pairs(EXCHANGED), *((second, first) for first, second in pairs(EXCHANGED))]
    wrong = [pair for pair, is_again in zip(both, repeated(both), strict=True) if is_again]
    assert len(pairs(EXCHANGED)) >= 40
    assert wrong == []


@pytest.mark.parametrize(
    ("query", "message", "is_again"),
    [
        ("Who is Ada Byron?", "Which town was Ada Byron born in?", False),
        ("Who is Ada Byron?", "Who was this Ada Byron?", True),
        ("flights to New York in May", "flights to Los Angeles in May", False),
        ("Who painted the chapel ceiling?", "who painted that chapel ceiling", True),
        ("Who painted the chapel ceiling?", "so who painted the ceiling of the chapel please", True),
        ("Tell me about the old mill", "What is the evidence for the flood near the old mill?", False),
        ("", "", False),
        ("?", "!", False),
    ],
)
def test_a_request_is_repeated_or_not(query: str, message: str, is_again: bool) -> None:
    assert repeated([(query, message)]) == [is_again]


def test_no_rows_and_rows_in_any_company_get_the_same() -> None:
    rows = [*pairs(SYNONYMS)[:5], *pairs(EXCHANGED)[:5]]
    assert repeats(pl.DataFrame(schema={"prev_query": pl.String, "next_message": pl.String})).to_list() == []
    assert repeated(rows) == [repeated([row])[0] for row in rows]
