"""T3: the proof reads a release's files back and counts what stands on both sides; it finds what was planted."""

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.columns.alike import alike_form, jaccard
from dagster_project.training import leak_proof
from dagster_project.training.leak_proof import Proof, _plain, prove

NOTHING = {"training_prompts", "evaluation_prompts", "compared_prompts", "training_contexts"}


def proof(files: dict[str, list[dict[str, Any]]], templates: list[str] | None = None) -> dict[str, int]:
    """What is not zero."""
    with tempfile.TemporaryDirectory() as folder:
        for name, records in files.items():
            lines = [
                json.dumps({"id": f"{name}{n}", "context": None} | record) + "\n" for n, record in enumerate(records)
            ]
            Path(folder, name).write_text("".join(lines), encoding="utf-8")
        found = prove(Path(folder), Path(folder), templates or ())
        assert not list(Path(folder).glob("leak_proof*"))
    return {name: count for name, count in found.counts().items() if count and name not in NOTHING}


def sides(
    trained: list[dict[str, Any]], evaluated: list[dict[str, Any]], format: str = "unpaired"
) -> dict[str, list[dict[str, Any]]]:
    return {f"{format}_20260112.jsonl": trained, f"{format}_20260112.validation.jsonl": evaluated}


def asked(*prompts: str) -> list[dict[str, Any]]:
    return [{"prompt": prompt, "completion": "Yes."} for prompt in prompts]


def test_an_empty_folder_leaks_nothing(tmp_path: Path) -> None:
    assert prove(tmp_path, tmp_path) == Proof()


def test_what_was_looked_at_is_counted(tmp_path: Path) -> None:
    record = {"id": "a", "prompt": "One?", "completion": "x", "context": "Before."}
    (tmp_path / "unpaired_20260112.jsonl").write_text(
        json.dumps(record) + "\n" + json.dumps(record | {"prompt": "One!"}) + "\n"
    )
    (tmp_path / "unpaired_20260112.test.jsonl").write_text(json.dumps(record | {"prompt": "Another"}) + "\n")
    (tmp_path / "pending.jsonl").write_text("{}\n")
    found = prove(tmp_path, tmp_path)
    assert (found.training_prompts, found.evaluation_prompts, found.training_contexts) == (1, 1, 1)


def test_the_same_prompt_in_other_clothes_is_shared() -> None:
    files = sides(
        asked("What is 2+2?", "Ça va", "x <EMAIL_1>"), asked("“what IS 2+\u200b2”", "c\u0327a va!", "x <EMAIL_2>")
    )
    assert proof(files) == {"shared_prompts": 3}


def test_formats_are_looked_at_together_and_augmentation_is_training() -> None:
    question = "How do I boil an egg?"
    files = {
        "instruction_20260112.augmentation.jsonl": [{"instruction": question, "input": "", "output": "x"}],
        "preference_20260112.test.jsonl": [{"prompt": question, "chosen": "x", "rejected": "y"}],
        "correction_20260112.test.jsonl": [
            {"instruction": "SAM said: 'x'", "input": question.upper(), "output": "Corrected answer: y"},
            {"instruction": "y", "input": f"Original question: {question}\n\nMy answer: none", "output": "z"},
        ],
    }
    assert proof(files) == {"shared_prompts": 1}


def test_alike_prompts_are_found_and_others_are_not() -> None:
    numbers = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
    seven, of_ten, below, above = numbers[:11], numbers[:14], numbers[100:173], numbers[100:203]
    assert proof(sides(asked(seven, below), asked(of_ten, above))) == {"alike_prompts": 1}


LONG = "Tell me all there is about the river Danube."


def test_the_same_sentence_leaks_unless_it_is_a_template() -> None:
    def own(first: int, count: int) -> list[str]:
        texts = ["".join(map(chr, range(0x4E00 + 70 * n, 0x4E00 + 70 * n + 35))) for n in range(first, first + count)]
        return [f"{text}. {LONG} {text[::-1]}" for text in texts]

    assert proof(sides(asked(*own(0, 18)), asked(*own(18, 2)))) == {"same_sentence_prompts": 2}
    assert proof(sides(asked(*own(0, 18)), asked(*own(18, 3)))) == {"template_sentence_prompts": 3}
    known = ["tell me all there is about the river danube"]
    assert proof(sides(asked(*own(0, 1)), asked(*own(1, 1))), known) == {"template_sentence_prompts": 1}


ANSWER = "Boil it for seven minutes, then put it into cold water \u2014 and peel it."
TURNS = [{"role": "user", "content": "An egg?"}, {"role": "assistant", "content": f'He said:\n"{ANSWER}"'}]


@pytest.mark.parametrize("context", [f"User: An egg?\nAssistant: {ANSWER.upper()}\nUser: ok", json.dumps(TURNS)])
def test_evaluation_answers_in_training_contexts(context: str) -> None:
    trained = [{"prompt": "And then?", "completion": "x", "context": context}]
    assert proof(sides(trained, [{"prompt": "An egg...", "completion": ANSWER}])) == {
        "exchanges_in_contexts": 1,
        "answers_in_contexts": 1,
    }
    assert proof(sides(trained, [{"prompt": "How do I cook?", "completion": ANSWER}] * 2)) == {"answers_in_contexts": 2}
    assert proof(sides(trained, [{"prompt": "An egg", "completion": ANSWER + " Good luck."}])) == {}
    assert proof(sides(trained, [{"prompt": "An egg", "completion": "Boil it for seven minutes"}])) == {}


def test_an_answer_is_as_long_as_it_is_written() -> None:
    """40 characters, of which 8 stay without punctuation."""
    for answer, leaks in (
        (f"Boil it well! {'*' * 26}", True),
        (f"Boil it well! {'*' * 25}", False),
        (f"Boil! {'*' * 34}", False),
    ):
        trained = [{"prompt": "And then?", "completion": "x", "context": f"Notes: {answer}"}]
        found = proof(sides(trained, [{"prompt": "An egg", "completion": answer}]))
        assert found == ({"answers_in_contexts": 1} if leaks else {})


def test_the_worse_answer_of_a_pair_counts_too() -> None:
    files = {
        "preference_20260112.test.jsonl": [{"prompt": "An egg", "chosen": "No.", "rejected": ANSWER}],
        "unpaired_20260112.jsonl": [{"prompt": "And then?", "completion": "x", "context": f"An egg? {ANSWER}"}],
    }
    assert proof(files) == {"exchanges_in_contexts": 1, "answers_in_contexts": 1}


def test_files_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak_proof, "BLOCK", 10)
    monkeypatch.setattr(leak_proof, "PROMPTS_TOGETHER", 2)
    prompts = [f"{n} {chr(0x4E00 + n) * 3}" for n in range(9)]
    assert proof(sides(asked(*prompts), asked(*prompts[4:]))) == {"shared_prompts": 5}


# --- a second opinion must agree where there is nothing to disagree about ------------------------------------------------

ALPHABET = "abcZÀéßΣςЖあ日！，“”’'`´ʼ\"-_+=<$½①ﬁ\u0301\u200b\ufeff\u00ad\ufe0f \t\n\x1f\u00a0\u2028\u3000👍"


@given(texts=st.lists(st.text(alphabet=ALPHABET, max_size=20), max_size=5))
def test_its_normal_form_is_the_alike_form(texts: list[str]) -> None:
    series = pl.Series("text", texts, dtype=pl.String)
    assert series.to_frame().select(_plain(pl.col("text")))["text"].to_list() == alike_form(series).to_list()


PIECES = ["what is ", "the capital ", "of france ", "日本語で", "a", "b", "xyz", "please tell me about ", "1", "é"]
PROMPTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), max_size=9)


@settings(max_examples=25)  # a database on disk each
@given(trained=PROMPTS, evaluated=PROMPTS)
def test_alike_prompts_are_those_of_comparing_all_with_all(trained: list[str], evaluated: list[str]) -> None:
    one, other = ({*alike_form(pl.Series(texts, dtype=pl.String))} for texts in (trained, evaluated))
    near = {text for text in other - one for known in one if jaccard(pl.Series([text]), pl.Series([known]))[0] >= 0.7}
    expected = {"shared_prompts": len(one & other), "alike_prompts": len(near)}
    found = proof(sides(asked(*trained), asked(*evaluated)))
    assert {name: found.get(name, 0) for name in expected} == expected


def test_of_too_many_evaluation_prompts_some_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing all with all has its limit; how many were compared is said."""
    monkeypatch.setattr(leak_proof, "COMPARISONS", 6)
    prompts = [f"a prompt of its own about the number {number * 7919}" for number in range(20)]
    with tempfile.TemporaryDirectory() as folder:
        for name, some in (
            ("a_1.jsonl", []),
            ("unpaired_20260112.jsonl", prompts[:3]),
            ("unpaired_20260112.test.jsonl", prompts[3:]),
        ):
            Path(folder, name).write_text(
                "".join(
                    json.dumps({"id": str(n), "context": None} | record) + "\n" for n, record in enumerate(asked(*some))
                )
            )
        found = prove(Path(folder), Path(folder))
    assert (found.training_prompts, found.evaluation_prompts, found.compared_prompts) == (3, 17, 2)
