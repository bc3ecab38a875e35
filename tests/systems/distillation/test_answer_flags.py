"""Rule D4: the ten quality flags, judged on hand-written answers, on the records' own examples, and against a plain
line-by-line reading of the rules."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.columns.spaces import SPACES
from dagster_project.systems.distillation import flags as module
from dagster_project.systems.distillation.flag_patterns import NO_REFUSAL, PATTERNS, REASONING, Pattern
from dagster_project.systems.distillation.flags import QUALITY_FLAGS, answer_flags

SCHEMA = {"query": pl.String, "claude_response": pl.String, "reasoning_type": pl.String, "step_count": pl.Int64}
SENTENCE = "The cache is cleared."  # 21 characters
LONG = (
    "Every request opens a connection, reads one row, closes the connection, and does so a thousand times a minute. "
    * 2
)
LONG = LONG.strip().replace("Every", "Each", 1)  # two different sentences: long enough not to be too short


def flags_of(
    *answers: str | None, query: str = "How?", kind: str | None = "multi_step", steps: int = 4
) -> list[list[str]]:
    rows = [
        {"query": query, "claude_response": answer, "reasoning_type": kind, "step_count": steps} for answer in answers
    ]
    return answer_flags(pl.DataFrame(rows, schema=SCHEMA)).to_list()


def raises(flag: str, answer: str, query: str = "How?") -> bool:
    """Whether the answer raises the flag; told to be a direct answer, so that nothing but the text speaks."""
    return flag in flags_of(answer, query=query, kind="direct", steps=0)[0]


SAMPLE = (
    "This error occurs when you try to call .map() on a variable that's undefined. Let me walk through the debugging steps:"
    "\n\n1. **Identify the variable**: Look at the line number in the error. What variable is being mapped?\n\n2. **Trace the "
    "data flow**: Where does this variable come from? Common sources:\n   - API response that hasn't arrived yet\n   - State "
    "that wasn't initialized\n   - Prop that wasn't passed\n\n3. **Add proper guards**: There are several patterns:\n   ```jsx"
    "\n   // Optional chaining (cleanest)\n   data?.map(item => ...)\n   \n   // Default value\n   (data || []).map(item => ...)"
    "\n   \n   // Early return\n   if (!data) return <Loading />;\n   return data.map(item => ...);\n   ```\n\n4. **Fix the root "
    "cause**: The guard is a band-aid. Find why data is undefined:\n   - Initialize state properly: `useState([])`\n   - Check "
    "API error handling\n   - Verify prop types\n\nFor React specifically, this often happens with:\n- `useState()` without "
    "initial value\n- Async data not handled with loading state\n- Missing null check on optional props"
)


def test_the_complete_sample_record_has_no_flag() -> None:
    """Seed 2 stores no flags for it, and D5's golden score needs none."""
    assert flags_of(SAMPLE, SAMPLE.replace("\n", "\r\n"), SAMPLE + "\n", kind="chain_of_thought", steps=4) == [
        [],
        [],
        [],
    ]


def test_shape_of_the_result() -> None:
    empty = answer_flags(pl.DataFrame(schema=SCHEMA))
    assert (empty.dtype, len(empty)) == (pl.List(pl.String), 0)
    assert flags_of(None, "", "  ") == [["too_short"]] * 3
    assert flags_of(None, kind=None) == [["too_short"]]
    nulls = answer_flags(pl.DataFrame([dict.fromkeys(SCHEMA)], schema=SCHEMA))
    assert nulls.to_list() == [["no_reasoning", "too_short"]]


def test_flags_come_in_the_order_of_the_seed() -> None:
    answer = f"I can't help with that. I'm not sure. As of 2020, studies show it. {SENTENCE} {SENTENCE} {SENTENCE} {LONG} and"
    expected = [flag for flag in QUALITY_FLAGS if flag not in ("too_short", "too_long", "code_only")]
    assert flags_of(answer, kind="direct", steps=0) == [expected]


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("characters", "expected"),
    [(0, True), (1, True), (195, True), (196, True), (197, False), (200, False), (16_000, False)],
)
def test_too_short_is_under_50_tokens(characters: int, expected: bool) -> None:
    """Tokens = ceil(characters / 4): 196 characters are 49 tokens, 197 are 50."""
    assert raises("too_short", "." * characters) is expected
    assert raises("too_short", "🙂" * characters) is expected, "characters are code points, not bytes"


@pytest.mark.parametrize(("characters", "expected"), [(15_999, False), (16_000, False), (16_001, True), (20_000, True)])
def test_too_long_is_over_4000_tokens(characters: int, expected: bool) -> None:
    assert raises("too_long", "." * characters) is expected
    assert raises("too_long", "é" * characters) is expected


# --- repetition ------------------------------------------------------------------------------------------------------

REPETITION = {
    "a sentence three times in a row": f"{SENTENCE} {SENTENCE} {SENTENCE}",
    "a sentence four times": f"{SENTENCE} " * 4,
    "a sentence, spread over paragraphs": f"{SENTENCE} One.\n\nTwo. {SENTENCE}\n\nThree. {SENTENCE} Four.",
    "the last one without a space after it": f"So: yes. {SENTENCE} {SENTENCE}\n{SENTENCE}",
    "a line without a full stop": "try to turn it off and on\n\ntry to turn it off and on\n\ntry to turn it off and on",
    "a line, indented differently": "a line of twenty char\n  a line of twenty char\n a line of twenty char  ",
    "a line of short sentences": "Go up. Go down. Go on.\n" * 3,
    "exactly twenty characters": "abcde fghij klmno pq\n" * 3,
    "exactly twenty with the full stop": "Abcde fghij klmno p. " * 3,
    "exactly twenty with the list marker": "- abcde fghij klmnop\n" * 3,
    "a heading": "## The same old heading\n\na\n\n## The same old heading\n\nb\n\n## The same old heading\n\nc",
    "a table row": "| the same | old row |\n|---|---|\n| the same | old row |\n| the same | old row |",
    "list items": f"- {SENTENCE}\n- {SENTENCE}\n- {SENTENCE}",
    "numbered items": f"1. {SENTENCE}\n2. {SENTENCE}\n3. {SENTENCE}",
    "items numbered with brackets": f"1) {SENTENCE}\n2) {SENTENCE}\n3) {SENTENCE}",
    "as prose, as an item and in a quote": f"{SENTENCE}\n\n- {SENTENCE}\n\n> {SENTENCE}",
    "as checked items": f"- [ ] {SENTENCE}\n- [x] {SENTENCE}\n* [X] {SENTENCE}",
    "once alone and twice in a paragraph": f"{SENTENCE}\n\nSo: {SENTENCE} Now: no. {SENTENCE} And so on. {SENTENCE}",
    "exclamations": "Do not do this at home! " * 3,
    "questions": "What is the best way out? " * 3,
    "dots": "And then it went on... " * 3,
    "in quotation marks": '"Stop it now, please." ' * 3,
    "wrapped differently": "The cache\nis cleared. The\ncache is cleared. The cache is\ncleared. Well.",
    "wrapped and indented": "- The cache\n  is cleared. The\n  cache is cleared. The cache is\n  cleared. Well.",
    "with Windows line ends": f"{SENTENCE}\r\n{SENTENCE}\r\n{SENTENCE}\r\n",
    "with old Macintosh line ends": f"{SENTENCE}\r{SENTENCE}\r{SENTENCE}",
    "composed and decomposed": "Das wäre möglich, ja.\nDas wa\u0308re mo\u0308glich, ja.\nDas wäre möglich, ja.",
    "Chinese, with no space between sentences": "这个问题的答案取决于您使用的操作系统和版本。" * 3,
    "Hindi": "यह उत्तर आपके संस्करण पर निर्भर है। " * 3,
    "around code": f"{SENTENCE}\n```\nx\n```\n{SENTENCE}\n```\ny\n```\n{SENTENCE}",
    "below an open fence that closes": f"~~~\n```\n~~~\n{SENTENCE} {SENTENCE} {SENTENCE}",
    "before an open fence": f"{SENTENCE} {SENTENCE} {SENTENCE}\n```\nx",
    "with code in it": "Call `run(x)` once again. " * 3,
    "bold": "**Important:** save the file.\n" * 3,
    "below a list item": f"- a\n\n    {SENTENCE}\n\n    {SENTENCE}\n\n    {SENTENCE}",
}
NO_REPETITION = {
    "twice": f"{SENTENCE} {SENTENCE}",
    "nineteen characters": "abcde fghij klmno p\n" * 5,
    "nineteen with the full stop": "Abcde fghij klmno. " * 5,
    "sentences too short": "Go up now. " * 9,
    "another case": "The cache is cleared. the cache is cleared. THE CACHE IS CLEARED.",
    "other words": "The cache is cleared. The queue is cleared. The index is cleared.",
    "another end": "The cache is cleared. The cache is cleared! The cache is cleared?",
    "more space inside": "The cache is cleared. The  cache is cleared. The   cache is cleared.",
    "part of a longer sentence": f"Now {SENTENCE} Then {SENTENCE} So {SENTENCE}",
    "figures that differ": "Add 2 spoons of olive oil. Add 3 spoons of olive oil. Add 4 spoons of olive oil.",
    "in a fence": f"See:\n```\n{SENTENCE}\n{SENTENCE}\n{SENTENCE}\n```\nDone.",
    "in a fence of tildes": f"~~~text\n{SENTENCE}\n{SENTENCE}\n{SENTENCE}\n~~~",
    "in an open fence": f"See:\n```\n{SENTENCE}\n{SENTENCE}\n{SENTENCE}",
    "in a fence in a list": f"1. See:\n   ```\n   {SENTENCE}\n   {SENTENCE}\n   {SENTENCE}\n   ```",
    "in a fence on a list item's line": f"- ```\n  {SENTENCE}\n  {SENTENCE}\n  {SENTENCE}\n  ```",
    "in a quoted fence": f"> ```\n> {SENTENCE}\n> {SENTENCE}\n> {SENTENCE}\n> ```",
    "in a long fence that holds short ones": f"````md\n```\na\n```\n{SENTENCE}\n{SENTENCE}\n{SENTENCE}\n````",
    "in a fence that holds the other sign": f"```\n~~~\n{SENTENCE}\n{SENTENCE}\n{SENTENCE}\n```",
    "in a fence with Windows line ends": f"```\r\n{SENTENCE}\r\n{SENTENCE}\r\n{SENTENCE}\r\n```\r\n",
    "in indented code": f"See:\n\n    {SENTENCE}\n    {SENTENCE}\n\n    {SENTENCE}",
    "once in prose, twice in code": f"{SENTENCE}\n```\n{SENTENCE}\n{SENTENCE}\n```\n{SENTENCE}",
    "lines of nothing but inline code": "`pip install gristmill`\n\nor\n\n`pip install gristmill`\n\nor\n\n`pip install gristmill`",
    "rules between sections": "a\n\n" + "--------------------------\n\nb\n\n" * 5,
    "separators of tables": "| a | b |\n|-----------|-----------|\n\n" * 4,
    "blank lines": "\n" * 60 + "a" + " \n" * 60 + "b",
}


@pytest.mark.parametrize("answer", REPETITION.values(), ids=REPETITION.keys())
def test_repetition(answer: str) -> None:
    assert raises("repetition", answer)


@pytest.mark.parametrize("answer", NO_REPETITION.values(), ids=NO_REPETITION.keys())
def test_no_repetition(answer: str) -> None:
    assert not raises("repetition", answer)


def test_rows_do_not_count_together() -> None:
    assert flags_of(*[LONG + SENTENCE] * 5) == [[]] * 5
    assert flags_of(LONG + SENTENCE, LONG + f" {SENTENCE}" * 3, LONG) == [[], ["repetition"], []]


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [*REPETITION.values(), *NO_REPETITION.values(), SAMPLE]
    together = flags_of(*answers)
    monkeypatch.setattr(module, "BATCH_ROWS", 7)
    assert flags_of(*answers) == together == [flags_of(answer)[0] for answer in answers]


# --- incomplete ------------------------------------------------------------------------------------------------------

INCOMPLETE = {
    "a letter": "The next step is to open the",
    "a digit": "The next step is number 3",
    "a comma": "You need flour, eggs,",
    "a hyphen": "This is a well-",
    "a soft wrap in the middle": "The next step is\nto open the",
    "space at the end": "The next step is to open the  \n\n \t",
    "Windows line ends": "Open the file.\r\n\r\nThen read\r\n",
    "an accent": "Ich hätte gern einen Café au lait und ein Stück Maß",
    "a decomposed accent": "One more cafe\u0301",
    "Cyrillic": "Затем откройте",
    "Chinese": "然后打开文件",
    "a Chinese comma": "然后打开文件，",
    "Arabic": "ثم افتح الملف",
    "Hindi, with a vowel sign": "फिर फ़ाइल खोलें और आगे बढ़ें जो",
    "Arabic digits": "الخطوة ٣",
    "a non-breaking hyphen": "This is a well\u2011",
    "an open fence": "Like this:\n```python\nprint(1)",
    "an open fence of tildes": "Like this:\n~~~\nprint(1);",
    "a fence and no more": "Like this:\n```",
    "an open fence in a list": "1. Like this:\n   ```sh\n   ls;",
    "an open fence on a list item's line": "- ```sh\n  ls;",
    "a second fence open": "```\na\n```\nThen:\n```\nb;",
    "a fence closed by the other sign": "```\na;\n~~~",
    "a fence closed by a shorter one": "````\na;\n```",
    "a fence closed by a line with more on it": "```\na;\n``` or so.",
    "an open fence with Windows line ends": "Like this:\r\n```python\r\nprint(1);\r\n",
    "prose after code": "```\na\n```\nand then",
    "prose after a list": "- one\n- two\n\nand then",
    "prose right after a list": "- one\n- two\nand then",
    "a paragraph in a list item, after code": "1. Run:\n   ```\n   ls\n   ```\n   and then",
    "a paragraph in a list item": "1. Open it.\n\n   Then you need to",
    "a quote": "> The next step is to",
    "a hashtag is no heading": "Use the word\n#winning",
    "a pipe outside a table": "Write a | b",
    "a word alone": "Paris",
    "inline fences": "Use ```a``` and then",
}
COMPLETE = {
    "a full stop": "Open the file.",
    "other ends": "Open the file!",
    "a question": "Did that help?",
    "a colon": "Open the file:",
    "a semicolon": "Open the file;",
    "a bracket": "Open the file (as before)",
    "a quotation mark": "He said “open the file”",
    "inline code": "Run `make`",
    "bold": "That is **all**",
    "an emoji": "Have fun 🎉",
    "an emoji with a variation selector": "Have fun ❤️",
    "a keycap emoji": "You are number 1️⃣",
    "a dash": "Open the file —",
    "an ellipsis": "Open the file…",
    "a Chinese full stop": "然后打开文件。",
    "a danda": "फिर फ़ाइल खोलें।",
    "a list item": "Open:\n- the file",
    "other list items": "Open:\n\n* one\n* two",
    "a plus item": "+ one\n+ two",
    "a bullet": "• one\n• two",
    "a check mark": "✅ one\n✅ two",
    "a numbered item": "1. one\n2. two",
    "a numbered item with a bracket": "1) one\n2) two",
    "a lettered item": "a) one\nb) two",
    "an item in brackets": "(1) one\n(2) two",
    "a nested item": "- one\n    - two",
    "a nested item below prose": "Options:\n    - one\n    - two",
    "a wrapped item": "- the first of all\n  the items",
    "an item that ends in a comma": "- eggs,\n- flour,",
    "a quoted item": "> - one",
    "a heading": "Text.\n\n## Next steps",
    "an underlined heading": "Next steps\n----------",
    "a rule": "That is all.\n\n---",
    "a table row": "| a | b |\n|---|---|\n| 1 | 2 |",
    "a table row that is cut": "| a | b |\n|---|---|\n| 1 | 2",
    "a table row without outer pipes": "a | b\n--- | ---\n1 | 2",
    "a closed fence": "Like this:\n```\nprint(1)\n```",
    "a closed fence and space": "Like this:\n```\nprint(1)\n```  \n\n",
    "a closed fence of tildes": "~~~\na\n~~~",
    "a fence closed by a longer one": "```\na\n`````",
    "a long fence with a short one in it": "````md\n```\na\n````",
    "a fence with the other sign in it": "```\n~~~\na\n```",
    "a closed fence in a list": "1. Like this:\n   ```sh\n   ls\n   ```",
    "a fence closed with another indent": "   ```sh\n   ls\n```",
    "a fence on a list item's line": "- ```sh\n  ls\n  ```",
    "a quoted fence": "> ```\n> ls\n> ```",
    "Windows line ends": "```\r\na\r\n```\r\n",
    "inline fences": "Use ```a``` there.",
    "indented code": "Like this:\n\n    print x",
    "code without a fence": "def double(x):\n    return 2 * x",
    "indented with a tab": "Like this:\n\n\tprint x",
    "nothing": "",
    "nothing but space": " \n ",
}


@pytest.mark.parametrize("answer", INCOMPLETE.values(), ids=INCOMPLETE.keys())
def test_incomplete(answer: str) -> None:
    assert raises("incomplete", answer)


@pytest.mark.parametrize("answer", COMPLETE.values(), ids=COMPLETE.keys())
def test_complete(answer: str) -> None:
    assert not raises("incomplete", answer)


# --- code_only -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("```python\nprint(1)\n```", True),
        ("~~~\nprint(1)\n~~~", True),
        ("```python\n# one two three four five six seven eight nine ten\nprint(1)\n```", True),
        ("Here is the code:\n\n```python\nprint(1)\n```", True),
        ("One two three four five six seven eight nine:\n```\nx\n```", True),
        ("One two three four five six seven eight nine ten:\n```\nx\n```", False),
        ("One two three four\n```\nx\n```\nfive six seven\n```\ny\n```\neight nine ten.", False),
        ("```python\nprint(1)", True),
        ("使用以下函数可以反转列表：\n```\nx\n```", False),
        ("代码：\n```\nx\n```", True),
        ("print(1)", False),
        ("Use `print(1)`.", False),
        ("    print(1)", False),
        ("", False),
        ("x" * 300 + "\n```\nx\n```", True),
        ("x" * 300 + " one two three four five six seven eight nine\n```\nx\n```", False),
    ],
)
def test_code_only(answer: str, expected: bool) -> None:
    """A fence, and fewer than ten words outside of code; a character of a script without spaces counts as a word."""
    assert raises("code_only", answer) is expected


# --- refusal ---------------------------------------------------------------------------------------------------------


def test_a_refusal_is_short_and_says_so_early() -> None:
    """Under 600 characters, and within the first 200."""
    refusal = "I can't help with that."
    assert raises("refusal", refusal.ljust(599, "."))
    assert raises("refusal", refusal.ljust(599, "é")), "characters are code points"
    assert not raises("refusal", refusal.ljust(600, "."))
    words = " I can't help with"
    assert raises("refusal", words.rjust(200, ".") + " that.")
    assert not raises("refusal", words.rjust(201, ".") + " that.")


# --- flags raised by words -------------------------------------------------------------------------------------------

SAID = {
    "refusal": (
        "I can't help with that.",
        "I cannot assist with that request.",
        "I’m sorry, but I can’t assist with that.",
        "I'm sorry, but I cannot provide instructions for making explosives.",
        "As an AI language model, I cannot provide medical advice.",
        "I won't help you write malware.",
        "I WILL NOT GENERATE THAT KIND OF CONTENT.",
        "I'm unable to help with this.",
        "I'm not able to provide legal advice.",
        "I must decline to answer.",
        "I have to decline this request.",
        "That's not something I'm able to help with.",
        "Unfortunately, I can't do that.",
        "Sorry, I can't.",
        "I'd rather not help with that.",
        "I don't feel comfortable writing this.",
        "I am not comfortable providing that information.",
        "This request violates my guidelines, so I will stop here.",
        "I refuse to answer that.",
        "I can't in good conscience help with this plan.",
        "I apologize, but I'm unable to fulfill this request.",
        "Sorry, but that's something I can't do.",
        "I'm not going to help with that.",
        "I don't have the ability to help with that.",
        "I can not help you with hacking into accounts.",
        "There's nothing I can do to help you with this.",
        "I cannot and will not provide this.",
        "I can’t answer that question.",
        "We are unable to process this request.",
        "I'm afraid I can't help you with that one.",
        "It would be inappropriate for me to help with that.",
        "My guidelines don't allow me to help with that.",
        "I'm just a language model and can't help with that.",
        "I am sorry, but I\ncannot help\nwith that.",
    ),
    "uncertain": (
        "I'm not sure, but it may be the cache.",
        "I am not certain that this is right.",
        "I’m not 100% sure about the flag.",
        "I'm unsure which version added it.",
        "I don't know the answer.",
        "I may be wrong here.",
        "AFAIK it is free.",
        "To the best of my knowledge there is no such API.",
        "If I recall correctly, it was 1998.",
        "If I'm not mistaken, that is the default.",
        "My guess is that the port is blocked.",
        "It's hard to say for sure without the log.",
        "I can't be certain without seeing the code.",
        "I honestly don't know.",
        "I can't confirm that.",
        "I think, though I'm not certain, that it is 42.",
        "Not sure if this helps, but try restarting.",
        "The limit is five, but I am\nnot sure.",
    ),
    "outdated": (
        "As of my last update in 2023, it costs 20 dollars.",
        "My knowledge cutoff is April 2023.",
        "As of 2022, the population is 8 million.",
        "As of January 2024 the tool is in beta.",
        "As of September 12, 2023, the rate is 5 %.",
        "At the time of writing, version 5 is the newest.",
        "This information may be outdated.",
        "These prices may have changed.",
        "I don't have access to real-time information.",
        "My training data ends in 2021.",
        "Please check the official site for the latest information.",
        "As of now, there is no fix.",
        "Visit their website for current prices.",
    ),
    "hallucination_risk": (
        "See Smith et al. (2019).",
        "According to a 2020 survey, 40 % agree.",
        "Studies show that sleep matters.",
        "Research suggests otherwise.",
        "arXiv:1706.03762",
        "ISBN 978-3-16-148410-0",
        "About 60% of adults agree.",
        "In Brown v. Board the court held so.",
        "Researchers have found that coffee helps.",
        "(Smith & Jones, 2018)",
        "According to the UN, 8 billion people live on earth.",
        "Please verify these facts.",
        "72 percent of companies fail.",
    ),
    "no_reasoning": (
        "Paris is the capital of France.",
        "Use `git push`.",
        "You can sort the list with sorted(items).",
        "Sofas are comfortable. Nextcloud is a server.",
        "```\n# because\nprint(1)\n```",
    ),
}
NOT_SAID = {
    "refusal": (
        "I can't help but notice the typo in line 3.",
        "I cannot stress enough how important backups are.",
        "I can't recommend this book enough.",
        "You can't help everyone, but you can start small.",
        "Sorry for the confusion! The right command is git push.",
        "I'm sorry to hear that. Try turning it off and on.",
        "I can help with that.",
        "I can't see anything wrong with your code.",
        "I can't reproduce the error; could you paste the traceback?",
        "The server will not provide a response until you log in.",
        "If the API refuses the request, check the token.",
        "You cannot create two tables with the same name.",
        "I won't go into detail here, but the short answer is yes.",
        "You are unable to write to the file because it is read-only.",
        "I couldn't find a bug in your function.",
        "I can't give you an exact number, but it is around 300.",
        "Python can't do that, but a C extension can.",
        'The phrase "I can\'t help with that" is a polite refusal.',
        "I would not use a list here; use a set.",
    ),
    "uncertain": (
        "Make sure that the port is open.",
        "I'm sure it works.",
        "If you are not sure, ask.",
        "They don't know the password.",
        "The result might be wrong if the list is empty.",
        'Users often say "I\'m not sure" in surveys.',
        "As far as the compiler knows, x is an int.",
        "The guess is stored in a variable.",
        "It is not known in advance which thread runs first.",
        "I think you should use a set.",
        "Say:\n```\nI am not sure.\n```\nDone.",
    ),
    "outdated": (
        "As of Python 3.8 you can use the walrus operator.",
        "The cache may be stale.",
        "Your pip may be outdated.",
        "The variable may have changed since the last read.",
        "Use the latest version of the library.",
        "The cutoff frequency is 3 kHz.",
        "Split your training data.",
        "Get real-time data with a websocket.",
        "In 2019 the law was passed.",
        "The last update of the row is stored in updated_at.",
    ),
    "hallucination_risk": (
        "Verify the input.",
        "Study the code below.",
        "Compare A vs. B.",
        "According to the docs, the default is 10.",
        "See https://docs.python.org/3/.",
        '"Hello" - the greeting',
        "The survey form has 3 fields.",
        "Double-check the spelling.",
    ),
    "no_reasoning": (
        "It is slow because the index is missing.",
        "Let's think step by step.",
        "Step 1: open the file.",
        "First, stop the server.",
        "Therefore, x is 4.",
        "The lock is held. So the other thread waits.",
        "1. Do a\n2. Do b",
        "That is why it fails.",
        "Thus the sum is 10.",
    ),
}


@pytest.mark.parametrize(("flag", "answer"), [(flag, answer) for flag, answers in SAID.items() for answer in answers])
def test_said(flag: str, answer: str) -> None:
    assert raises(flag, answer)


@pytest.mark.parametrize(
    ("flag", "answer"), [(flag, answer) for flag, answers in NOT_SAID.items() for answer in answers]
)
def test_not_said(flag: str, answer: str) -> None:
    assert not raises(flag, answer)


@pytest.mark.parametrize("record", [*PATTERNS, *REASONING], ids=lambda record: f"{record.flag}: {record.catches}")
def test_record_keeps_its_promise(record: Pattern) -> None:
    """Each record finds its example and not its counter-example, and the flag follows."""
    assert record.flag in QUALITY_FLAGS
    pattern = module._any_of((record,))
    texts = pl.Series([record.example, record.counter_example, ""])
    if record.looks_at == "opening":
        texts = texts.str.replace_all(module._wrappable(NO_REFUSAL), " ")
    assert texts.str.contains(pattern).to_list() == [True, False, False]
    is_evidence_against = record in REASONING
    for text, expected in ((record.example, not is_evidence_against), (record.counter_example, is_evidence_against)):
        found = raises(record.flag, "42.", text) if record.looks_at == "query" else raises(record.flag, text)
        assert found is expected


@pytest.mark.parametrize(
    ("kind", "steps", "expected"),
    [
        ("direct", 0, True),
        ("direct", 1, True),
        ("direct", 2, False),
        ("tool_use", 0, True),
        (None, 0, True),
        ("", 0, True),
        ("chain_of_thought", 0, False),
        (" Multi_Step ", 0, False),
        ("correction", 0, True),
        ("meta_cognitive", 0, True),
    ],
)
def test_no_reasoning_looks_at_steps_and_type_first(kind: str | None, steps: int, expected: bool) -> None:
    assert ("no_reasoning" in flags_of("It is Paris.", kind=kind, steps=steps)[0]) is expected
    assert "no_reasoning" not in flags_of("It is Paris because of history.", kind=kind, steps=steps)[0]


def test_the_answer_in_code_says_nothing() -> None:
    said = " ".join(SAID["uncertain"] + SAID["outdated"] + SAID["hallucination_risk"])
    assert flags_of(f"{LONG}\n```\n{said}\n```\nThat is all there is to say about the code.") == [[]]


def test_the_page_about_flags_is_true() -> None:
    """docs/flags.md: each flag in order, with a text that raises it and one that does not."""
    page = (Path(__file__).parents[3] / "docs" / "flags.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \|.*\| (`+) ?(.+?) ?\2 \| (`+) ?(.+?) ?\4 \|$", page, re.MULTILINE)
    assert tuple(flag for flag, *_ in table) == QUALITY_FLAGS
    for flag, _, raising, _, other in table:
        assert (raises(flag, as_written(raising)), raises(flag, as_written(other))) == (True, False), flag


def as_written(text: str) -> str:
    """A text of the page: ⏎ is a line break, `×` and a number at the end repeat what is before."""
    text = text.replace("⏎", "\n")
    times = re.fullmatch(r"(.+) × ([0-9]+)", text, re.DOTALL)
    return times[1] * int(times[2]) if times else text


# --- laws ------------------------------------------------------------------------------------------------------------

ITEM = re.compile(r"(?:[-*+•]|[0-9]{1,9}[.)])(?:\s|$)")
LISTED = re.compile(r"(?:(?:[-*+–—‣◦▪●○■✅✔☑✓❌✗✘]|\(?(?:[0-9]{1,9}|[A-Za-z]|[ivxIVX]{2,4})[.)])\ufe0f?(?:\s|$)|•)")
END = re.compile(r"([.!?…।؟۔]+[\"'”’»)\]*_`」』）]*)\s+|([。！？]+[\"'”’»)\]*_`」』）]*)")


def read_lines(answer: str) -> tuple[list[str | None], bool]:
    """The lines of an answer, None for code, and whether a fence stays open: a plain reading of docs/flags.md."""
    text = re.sub("\r\n?", "\n", unicodedata.normalize("NFC", answer)).strip(SPACES)
    lines: list[str | None] = []
    fence = ""
    for line in (line.rstrip(" \t") for line in text.split("\n")):
        opened = re.fullmatch(r"[ \t>]*(?:(?:[-*+•]|[0-9]{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)", line)
        if fence:
            closing = line.lstrip(" \t>")
            fence = "" if closing == fence[0] * len(closing) and len(closing) >= len(fence) else fence
            lines.append(None)
        elif opened and opened[1][0] not in opened[2]:
            fence = opened[1]
            lines.append(None)
        else:
            lines.append(line)
    return without_indented_code(lines), bool(fence)


def without_indented_code(lines: list[str | None]) -> list[str | None]:
    found: list[str | None] = []
    may_begin = in_code = False
    for line in lines:
        is_indented = line is not None and line.startswith(("    ", "\t"))
        if line:
            in_code = is_indented and (in_code or (may_begin and not ITEM.match(line.lstrip(" \t"))))
            may_begin = not line[0].isspace() and not ITEM.match(line)
        elif line is None:
            in_code = may_begin = False
        found.append(None if in_code and line else line)
    return found


def is_repetitive(lines: list[str | None]) -> bool:
    bare: list[str | None] = []
    for line in lines:
        marked = line and re.match(r"\s*>*\s*(?:(?:(?:[-*+•]|[0-9]{1,9}[.)])|#{1,6})\s+(?:\[[ xX]\]\s+)?|>)", line)
        bare += [None, line[marked.end() :]] if line and marked else [line]
    paragraphs = [""]
    for line in bare:
        paragraphs = [*paragraphs, ""] if not line else [*paragraphs[:-1], f"{paragraphs[-1]} {line.lstrip()}"]

    def sentences(texts: list[str]) -> list[str]:
        return [sentence for text in texts for sentence in END.sub(r"\1\2\n", text).split("\n")]

    whole = [
        sentence
        for sentence in sentences(paragraphs)
        if re.search(r"[.!?…।؟۔。！？][\"'”’»)\]*_`」』）]*$", sentence.strip())
    ]
    families = ([line for line in lines if line], sentences([line for line in bare if line]), whole)
    counts = [count for family in families for count in Counter(unit.strip() for unit in family).items()]
    return any(
        count >= 3
        and len(unit) >= 20
        and any(sign.isalnum() for sign in unit)
        and not re.fullmatch("`+[^`]+`+[.:;,]?", unit)
        for unit, count in counts
    )


def is_cut_off(lines: list[str | None]) -> bool:
    last = lines[-1]
    if not last or not re.search(r"[^\W_]$|[,-]$", last) or not any(sign.isalnum() for sign in last):
        return False
    block: list[str] = []
    for line in reversed(lines):
        if not line:
            break
        block.append(line.lstrip(" \t>"))
    bare = last.lstrip(" \t>")
    hangs = last.startswith(("  ", "\t")) and any(LISTED.match(line) for line in block)
    is_row = bare.startswith("|") or (
        "|" in bare and any(re.fullmatch(r"[-:| \t]*-[-:| \t]*", row) and "|" in row for row in block)
    )
    return not (LISTED.match(bare) or hangs or re.match(r"#{1,6}\s", bare) or is_row)


FRAGMENTS = (
    "",
    "",
    "   ",
    "```",
    "```py",
    "````",
    "~~~",
    "~~~~",
    "  ```",
    "- ```",
    "> ```",
    "```a```",
    "    some indented line of code",
    "\tanother line with a tab here",
    "    - nested item of some length",
    "- an item of twenty signs",
    "1. an item of twenty signs",
    "2) an item of twenty signs",
    "an item of twenty signs",
    "# an item of twenty signs",
    "> an item of twenty signs",
    "  an item of twenty signs",
    SENTENCE,
    f"{SENTENCE} {SENTENCE}",
    "The cache is",
    "cleared. The cache",
    "is cleared.",
    "| a | b |",
    "|---|---|",
    "a | b",
    "----------------------",
    "`only a bit of inline code`",
    "Go. Go on. Go up. Go.",
    "2019",
    "end,",
    "end-",
    "•",
    "a line.  ",
    "**bold** and some more text",
    "这个问题的答案取决于您使用的操作系统和版本。",
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=14), min_size=5, max_size=20),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_agrees_with_a_plain_reading(texts: list[list[str]], line_end: str) -> None:
    answers = [line_end.join(text) for text in texts]
    found = flags_of(*answers)
    for answer, flags in zip(answers, found, strict=True):
        lines, is_open = read_lines(answer)
        assert ("repetition" in flags) is is_repetitive(lines), answer
        assert ("incomplete" in flags) is (is_open or is_cut_off(lines)), answer


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=5))
def test_any_text_gets_known_flags_in_order(answers: list[str]) -> None:
    for flags in flags_of(*answers):
        assert flags == [flag for flag in QUALITY_FLAGS if flag in flags]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab .\n`~-", max_size=80))
def test_line_ends_and_outer_space_change_nothing_but_lengths(answer: str) -> None:
    """G10: the same answer gets the same flags."""
    forms = (answer, answer.replace("\n", "\r\n"), f"\n{answer}\n ")
    found = [[flag for flag in flags if flag != "too_short"] for flags in flags_of(*forms)]
    assert found == [found[0]] * 3


def test_what_is_said_to_need_no_composing_needs_none() -> None:
    signs = pl.Series([chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000])
    plain = signs.filter(~signs.str.contains(module._MAY_COMPOSE))
    assert len(plain) > 20_000
    assert unicodedata.is_normalized("NFC", "".join(plain))
    assert all(unicodedata.combining(sign) == 0 for sign in plain)


def test_inputs_stay_as_they_are() -> None:
    rows = pl.DataFrame([["How?", "a\r\nb \n```", "direct", 0]], schema=SCHEMA, orient="row")
    before = rows.clone()
    answer_flags(rows)
    assert rows.equals(before)
