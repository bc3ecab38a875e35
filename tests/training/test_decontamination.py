"""T1, contaminated: which records hold something of an evaluation set, and of which item."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.columns.ngrams import WORDS, word_forms
from dagster_project.config import load
from dagster_project.config.evaluation_sets import evaluation_sets
from dagster_project.errors import GristmillError
from dagster_project.training.decontamination import LEAST_CHARACTERS, LEAST_WORDS, EvaluationIndex
from dagster_project.training.evaluation_items import evaluation_items

TRAIN = "A train leaves the station at noon and travels sixty miles an hour toward a town that lies ninety miles away."
POEM = "Write a short poem about the sea."


def found(items: list[tuple[str, str]], texts: list[tuple[str, str | None, bool]]) -> dict[str, str]:
    index = EvaluationIndex(pl.DataFrame(items, schema={"item": pl.String, "text": pl.String}, orient="row"))
    schema = {"id": pl.String, "text": pl.String, "is_asked": pl.Boolean}
    return dict(index.contaminated(pl.DataFrame(texts, schema=schema, orient="row")).iter_rows())


def test_a_shared_run_or_the_whole_prompt() -> None:
    items = [
        ("math:1", "Add 2 and 2, please."),
        ("math:2", TRAIN),
        ("poems:1", POEM),
        ("poems:2", "Go on."),
        ("late:1", TRAIN),
    ]
    texts = [
        ("a", "What is this?", True),
        ("a", f"It says: {TRAIN.upper()} And more.", False),  # in an answer
        ("b", "a train leaves the station at noon and travels sixty miles an, hour", True),  # 13 words
        ("c", "a train leaves the station at noon and travels sixty miles an", True),  # 12
        ("d", "“write a SHORT poem, about the sea”", True),
        ("e", POEM, False),  # an answer is not what is asked
        ("f", f"{POEM} Thanks.", True),
        ("g", "Go on.", True),
        ("h", None, True),
        ("i", POEM, True),
        ("i", TRAIN, False),  # the first item is named
    ]
    assert found(items, texts) == {"a": "math:2", "b": "math:2", "d": "poems:1", "i": "math:2"}
    assert found([], texts) == {}
    assert found(items, []) == {}


WORD_LISTS = st.lists(st.sampled_from(["red", "blue", "green"]), max_size=20).map(" ".join)


@given(
    st.lists(WORD_LISTS, max_size=5), st.lists(st.tuples(st.sampled_from("xyz"), WORD_LISTS, st.booleans()), max_size=6)
)
def test_as_a_search_by_brute_force_says(items: list[str], texts: list[tuple[str, str, bool]]) -> None:
    def runs(text: str) -> set[str]:
        words = text.split(" ")
        return {" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}

    def is_hit(item: str, text: str, is_asked: bool) -> bool:
        is_whole = text == item and item.count(" ") >= LEAST_WORDS - 1 and len(item) >= LEAST_CHARACTERS
        return bool(runs(item) & runs(text)) or (is_asked and is_whole)

    expected: dict[str, int] = {}
    for id, text, is_asked in texts:
        for number, item in enumerate(items):
            if is_hit(item, text, is_asked):
                expected[id] = min(number, expected.get(id, number))
    assert word_forms(pl.Series(items, dtype=pl.String)).to_list() == items
    named = [(str(number), item) for number, item in enumerate(items)]
    assert found(named, [*texts]) == {id: str(number) for id, number in expected.items()}


def test_items_of_every_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"question": "q1", "choices": ["c1", {"text": "c2"}], "answer": 3})
        + "\n\n"
        + json.dumps({"messages": [{"role": "user", "content": "q2"}]})
        + '\n"q3"\n{"half": "\\ud800"}\n',
        encoding="utf-8",
    )
    (tmp_path / "b.txt").write_text("one\n \ntwo\u2028still two\n", encoding="utf-8")
    pl.DataFrame(
        {"line": [7, 8], "question": ["p1", None], "turns": [[{"text": "t1", "n": 1}, {"text": "t2", "n": 2}], []]},
        schema_overrides={"turns": pl.List(pl.Struct({"text": pl.String, "n": pl.Int64}))},
    ).write_parquet(tmp_path / "c.parquet")
    sets = evaluation_sets(
        [{"name": "json", "files": "a.jsonl"}, {"name": "two", "files": ["b.txt", "c.parquet"]}], tmp_path
    )
    assert evaluation_items(sets).rows() == [
        ("json:1", "q1"),
        ("json:1", "c1"),
        ("json:1", "c2"),
        ("json:3", "user"),
        ("json:3", "q2"),
        ("json:4", "q3"),
        ("json:5", "?"),
        ("two:b.txt:1", "one"),
        ("two:b.txt:3", "two\u2028still two"),
        ("two:c.parquet:1", "p1"),
        ("two:c.parquet:1", "t1"),
        ("two:c.parquet:1", "t2"),
    ]
    assert evaluation_items(()).rows() == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("a.jsonl", b"{", "is no JSONL"), ("a.jsonl", b"\xff", "cannot be read"), ("a.parquet", b"x", "cannot be read")],
)
def test_a_file_that_is_not_what_it_says_is_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    sets = evaluation_sets([{"name": "e", "files": [name]}], tmp_path)
    with pytest.raises(GristmillError) as error:
        evaluation_items(sets)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_what_the_files_hold_decides_outputs_and_not_where_they_lie(tmp_path: Path) -> None:
    def rules(folder: str, content: str) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "e.txt").write_text(content)
        file = tmp_path / "gristmill.toml"
        file.write_text(f'[[decontaminate]]\nname = "e"\nfiles = ["{folder}/e.txt"]\n')
        return load(file, environ={}).rules_hash()

    assert rules("here", "one") == rules("there", "one") != rules("there", "two")


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("decontaminate = 3", "[[decontaminate]]"),
        ('[[decontaminate]]\nfiles = ["e.txt"]', "name must be"),
        ('[[decontaminate]]\nname = "a:b"\nfiles = ["e.txt"]', "name must be"),
        ('[[decontaminate]]\nname = "e"', "list of paths"),
        ('[[decontaminate]]\nname = "e"\nfiles = ["e.csv"]', "none of .jsonl"),
        ('[[decontaminate]]\nname = "e"\nfiles = ["gone.txt"]', "cannot be read"),
        ('[[decontaminate]]\nname = "e"\nfile = "e.txt"\nfiles = ["e.txt"]', "unknown key 'file'"),
        ('[[decontaminate]]\nname = "e"\nfiles = ["e.txt", "./e.txt"]', "two files of one name"),
        ('[[decontaminate]]\nname = "e"\nfiles = "e.txt"\n[[decontaminate]]\nname = "e"\nfiles = "e.txt"', "twice"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path: Path, said: str, complaint: str) -> None:
    (tmp_path / "e.txt").write_text("x")
    file = tmp_path / "gristmill.toml"
    file.write_text(said)
    with pytest.raises(GristmillError) as error:
        load(file, environ={})
    assert complaint in str(error.value) and "\n" not in str(error.value)
