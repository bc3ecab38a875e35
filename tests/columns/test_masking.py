"""Rule T8: secrets and personal data in texts become placeholders; what is none stays as it is."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.columns.masking import KINDS, masked, may_hold, without_items
from dagster_project.columns.masking_checks import CHECKS
from dagster_project.columns.masking_kinds import Pattern
from dagster_project.columns.masking_patterns import PATTERNS

FIELDS = ["context", "prompt", "answer"]
NOTHING_FOUND = dict.fromkeys(KINDS, 0)


def real(example: str) -> str:
    """The example without the `~` that keeps it from looking like a secret."""
    return example.replace("~", "")


def records(*rows: tuple[str | None, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(FIELDS, pl.String), orient="row")


def masked_text(text: str, **options: object) -> str:
    table, _ = masked(pl.DataFrame({"text": [text]}), ["text"], **options)  # pyright: ignore[reportArgumentType]
    return table["text"][0]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: f"{pattern.kind}: {pattern.catches}")
@pytest.mark.parametrize("ascii_only", [True, False])
def test_an_item_behind_an_escape_is_found_and_json_stays_json(pattern: Pattern, ascii_only: bool) -> None:
    """A context is often a list of turns as JSON, where every line of a text begins behind `\\n`."""
    for example in map(real, pattern.examples):
        if ascii_only and not example.isascii():
            continue  # its own letters are escapes then
        turns = [{"role": "user", "content": f"Here it is, as “given”:\n{example}\n\tBye"}]
        text = masked_text(json.dumps(turns, ensure_ascii=ascii_only))
        ((turn,),) = [json.loads(text)]
        assert turn["content"].endswith("\n\tBye")
        assert pattern.kind.upper() in text, example


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: f"{pattern.kind}: {pattern.catches}")
def test_every_pattern_finds_its_examples_and_not_its_counter_examples(pattern: Pattern) -> None:
    """An example holds one item of the kind and nothing else; a counter-example none of the kind."""
    assert pattern.examples and pattern.counter_examples and pattern.kind in KINDS and pattern.check in ("", *CHECKS)
    for example in map(real, pattern.examples):
        texts = pl.DataFrame({"text": [example]})
        assert may_hold(texts["text"]).to_list() == [True]
        assert masked(texts, ["text"])[1] == NOTHING_FOUND | {pattern.kind: 1}, example
    stay = pl.Series(list(map(real, pattern.counter_examples)))
    assert [text for text in without_items(stay) if f"<{pattern.kind.upper()}>" in text] == []


def test_the_order_of_patterns_is_the_order_of_kinds() -> None:
    assert [KINDS.index(pattern.kind) for pattern in PATTERNS] == sorted(
        KINDS.index(pattern.kind) for pattern in PATTERNS
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # (what is written, what is left of it)
        ("a@b.com and c@d.org, again A@b.com", "<EMAIL_1> and <EMAIL_2>, again <EMAIL_1>"),
        ("call +1 (415) 555-0132 or +14155550132", "call <PHONE_1> or <PHONE_1>"),
        ("postgres://app:Zx8kQ2mm@db.example.com/x, a@b.com", "<CONNECTION_STRING_1>, <EMAIL_1>"),
        ('api_key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"', 'api_key = "<ACCESS_TOKEN_1>"'),
        ('{"password": "Tr0ub4dor&3", "mail": "a@b.com"}', '{"password": "<ACCESS_TOKEN_1>", "mail": "<EMAIL_1>"}'),
        ("Card 4111 1111 1111 1111 exp 12/27 cvv 123.", "Card <CARD_NUMBER_1> exp 12/27 cvv 123."),
        ("DE89 3704 0044 0532 0130 00 AND MORE", "<IBAN_1> AND MORE"),
        ("10.1.2.3:8080 -> 10.1.2.4", "<IP_ADDRESS_1>:8080 -> <IP_ADDRESS_2>"),
        ("a@b.com<c@d.org>a@b.com", "<EMAIL_1><<EMAIL_2>><EMAIL_1>"),
        ("a@b.com a@b.com;c@d.org", "<EMAIL_1> <EMAIL_1>;<EMAIL_2>"),
        ("Mail joe@x.com.Thanks", "Mail <EMAIL_1>.Thanks"),
        ("写信给 joe@例え.jp 吧", "写信给 <EMAIL_1> 吧"),
        # scripts without spaces hide nothing that they touch, of any kind
        ("卡号4111111111111111，谢谢", "卡号<CARD_NUMBER_1>，谢谢"),
        ("これはDE89 3704 0044 0532 0130 00です", "これは<IBAN_1>です"),
        ("请打+49 30 901820吧", "请打<PHONE_1>吧"),
        ("地址是203.0.113.42吗", "地址是<IP_ADDRESS_1>吗"),
        ("看看2001:db8::8a2e:370:7334吧", "看看<IP_ADDRESS_1>吧"),
        ("Value:2001:db8::8a2e:370:7334", "Value:<IP_ADDRESS_1>"),
        ("密码是Tr0ub4dor，谢谢", "密码是<ACCESS_TOKEN_1>，谢谢"),
        ("server at 10.6.6.4, SQL Server 10.6.6.4", "server at <IP_ADDRESS_1>, SQL Server 10.6.6.4"),
        ("?password=Tr0ub4dor&next=1", "?password=<ACCESS_TOKEN_1>&next=1"),
        ("see <EMAIL_1> and a@b.com", "see <EMAIL_1> and <EMAIL_2>"),
        ("see <EMAIL_7>, <PHONE_2> and a@b.com", "see <EMAIL_7>, <PHONE_2> and <EMAIL_8>"),
        ("$1 ${item} \\1 a@b.com", "$1 ${item} \\1 <EMAIL_1>"),
        ("\ufdd0\ufdd1 a@b.com \U000f0000", "\ufdd0\ufdd1 <EMAIL_1> \U000f0000"),
    ],
)
def test_what_is_left(text: str, expected: str) -> None:
    assert masked_text(text) == expected


def test_numbers_go_through_a_record_in_the_order_of_its_fields() -> None:
    table = records(
        ("x@y.com", "a@b.com, +1 415 555 0132", "x@y.com wrote to c@d.org"),
        (None, "c@d.org", None),
        ("", "nothing here", "1.2.3"),
    )
    found, counts = masked(table, FIELDS)
    assert found.rows() == [
        ("<EMAIL_1>", "<EMAIL_2>, <PHONE_1>", "<EMAIL_1> wrote to <EMAIL_3>"),
        (None, "<EMAIL_1>", None),
        ("", "nothing here", "1.2.3"),
    ]
    assert counts == NOTHING_FOUND | {"email": 5, "phone": 1}
    assert masked(table, FIELDS[::-1])[0]["answer"].to_list() == ["<EMAIL_1> wrote to <EMAIL_2>", None, "1.2.3"]


def test_only_named_kinds_are_masked_but_all_are_looked_for() -> None:
    """The end of a connection string is no e-mail address where connection strings stay."""
    table = records(("postgres://app:Zx8kQ2mm@db.example.com/x", "a@b.com", "10.20.30.40"))
    found, counts = masked(table, FIELDS, kinds=["ip_address", "email"])
    assert found.rows() == [("postgres://app:Zx8kQ2mm@db.example.com/x", "<EMAIL_1>", "<IP_ADDRESS_1>")]
    assert counts == {"email": 1, "ip_address": 1}
    unmasked, nothing = masked(table, FIELDS, kinds=[])
    assert unmasked.equals(table) and nothing == {}
    assert without_items(pl.Series(table.row(0))).to_list() == ["<CONNECTION_STRING>", "<EMAIL>", "<IP_ADDRESS>"]


def test_what_is_allowed_stays() -> None:
    """Exactly these texts in any case, or all addresses of a domain; their parts are no items either."""
    text = "Support@Acme.com, joe@acme.com, joe@x.com, 10.20.30.40, https://a:Zx8kQ2mm@x.com/"
    assert masked_text(text, allow=["support@acme.com", "10.20.30.40", "https://a:Zx8kQ2mm@x.com/"]) == (
        "Support@Acme.com, <EMAIL_1>, <EMAIL_2>, 10.20.30.40, https://a:Zx8kQ2mm@x.com/"
    )
    assert masked_text(text, allow=["@acme.com"]).startswith("Support@Acme.com, joe@acme.com, <EMAIL_1>, ")
    assert without_items(pl.Series([text]), ["@ACME.com"])[0].startswith("Support@Acme.com, joe@acme.com, <EMAIL>, ")


def test_without_items_nothing_changes() -> None:
    """Not even the object: a table without items is the table that was given."""
    table = records(("def f(x): return x", "version 1.2.3.4", None), (None, None, None))
    found, counts = masked(table, FIELDS)
    assert found is table and counts == NOTHING_FOUND
    texts = table["prompt"]
    assert without_items(texts) is texts
    nothing = pl.Series([], dtype=pl.String)
    assert without_items(nothing).to_list() == [] and may_hold(nothing).to_list() == []
    assert masked(table.clear(), FIELDS)[1] == NOTHING_FOUND


def test_what_was_given_is_not_written_to() -> None:
    table = records(("a@b.com", "x", "y"))
    masked(table, FIELDS)
    without_items(table["context"])
    assert table.rows() == [("a@b.com", "x", "y")]


def test_a_very_long_text() -> None:
    """Items anywhere in four megabytes, and the rest as it was."""
    filler = "def add(a, b): return a + b  # 1.2.3 and 12345\n" * 40_000
    text = f"a@b.com\n{filler}10.20.30.40\n{filler}a@b.com"
    assert masked_text(text) == f"<EMAIL_1>\n{filler}<IP_ADDRESS_1>\n{filler}<EMAIL_1>"


PIECES = st.one_of(
    st.sampled_from(
        [real(example) for pattern in PATTERNS for example in (*pattern.examples, *pattern.counter_examples)]
    ),
    st.sampled_from(
        [
            "<EMAIL_1>",
            "<PHONE_12>",
            "<IP_ADDRESS_3>",
            "<",
            ">",
            "_1>",
            "password=",
            "token: ",
            "phone ",
            "version ",
            "@",
            "+",
            ".",
        ]
    ),
    st.sampled_from([" ", "", "\n", ", ", "-", ": ", "“", "é", "1", "0", "x"]),
    st.text(max_size=6),
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


ROWS = st.lists(st.tuples(TEXTS, st.none() | TEXTS, TEXTS), max_size=12)
UNNUMBERED = rf"<({'|'.join(kind.upper() for kind in KINDS)})_[0-9]+>"


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_masking_twice_is_masking_once(rows: list[tuple[str | None, ...]]) -> None:
    """No placeholder is an item, makes one of its neighbours or hides one from the first pass."""
    once, _ = masked(records(*rows), FIELDS)
    again, found = masked(once, FIELDS)
    assert found == NOTHING_FOUND and again is once
    keys = without_items(records(*rows)["context"])
    assert without_items(keys) is keys


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_each_text_by_itself_and_only_where_the_gates_say(rows: list[tuple[str | None, ...]]) -> None:
    """Neighbours make no difference; what changed came through the gates; keys have the words masks have."""
    table = records(*rows)
    keys = {field: without_items(table[field]) for field in FIELDS}
    found, _ = masked(table, FIELDS)
    for field in FIELDS:
        changed = (keys[field] != table[field]).fill_null(False)
        assert not (changed & ~may_hold(table[field])).any()
        assert found[field].is_null().equals(table[field].is_null())
        plain = [column.str.replace_all(UNNUMBERED, "<$1>") for column in (found[field], keys[field])]
        assert plain[0].equals(plain[1])
    if rows:
        assert masked(table[:1], FIELDS)[0].rows() == found[:1].rows()
