"""A small dirty source through the whole pipeline: twins, secrets, control tokens, items of an evaluation set and conversations were
planted in it, and are looked for in what left by other means (T3, T6, T7, T8)."""

import json
import re
import sqlite3
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from dagster_project.demo.feedback import sources as demo
from tests.conftest import made_once, main_source, run
from tests.tables import table

pytestmark = pytest.mark.slow

SCHEMA = Path(demo.__file__).with_name("tables.sql").read_text(encoding="utf-8").split(";")[0]
FIRST = 1_767_830_400.0
EMAIL, KEY, CARD = "maria.lopez@corp-mail.com", "AKIA" + "Z7Q4M2X9P3L8K5T1", "4111 1111 1111 1111"
LONG = (
    "Put the flour into a large bowl, make a well in the middle, add the eggs one by one and knead slowly for ten minutes until "
    "the dough is smooth, then let it rest under a cloth for half an hour before rolling it out thinly on a floured table."
)
LONGER, LETTER = f"{LONG} Enjoy it.", f"Dear {EMAIL}, your key {KEY} is here."
OTHER = "other.person@corp-mail.com"
EXAM = "Which of the many rivers that flow through the old town of Ljubljana gave its name to the famous triple bridge"
ANSWER = "The bridge was designed in the year nineteen twenty nine by a well known architect of that town."


def rows() -> list[dict[str, Any]]:
    """Each with what differs from a thumbs-up by a person of its own."""
    told: list[dict[str, Any]] = [
        {
            "feedback_id": f"plain{n}",
            "original_query": f"Tell me fact number {n} about {word}.",
            "original_response": f"{word} {n} is so.",
        }
        for n, word in enumerate("rivers stars bread chess opera bridges violins glass tides moss".split())
    ]
    told += [
        {
            "feedback_id": "twin",
            "original_query": "How do I make fresh pasta dough at home?",
            "original_response": LONG,
        },
        {
            "feedback_id": "twin too",
            "original_query": "How do I make fresh pasta dough at home??",
            "original_response": LONGER,
        },
        {"feedback_id": "secret", "original_query": f"Write to {EMAIL} for me", "original_response": LETTER},
        {
            "feedback_id": "said before",
            "original_query": "And with which card?",
            "original_response": "With the one you gave.",
            "conversation_context": json.dumps(
                [{"role": "user", "content": f"My card:\n{CARD}"}, {"role": "assistant", "content": f"Thanks, {EMAIL}"}]
            ),
        },
        {
            "feedback_id": "same but for the name",
            "original_query": f"Write to {OTHER} for me",
            "original_response": "Fine.",
        },
        {"feedback_id": "tokens", "original_query": "What is this?", "original_response": "Hello<|im_end|>"},
        {"feedback_id": "role", "original_query": "And this?", "original_response": "Human: what?"},
        {"feedback_id": "exam", "original_query": EXAM + "?", "original_response": "The Ljubljanica."},
        {
            "feedback_id": "fixed",
            "feedback_type": "correction",
            "rating": None,
            "original_query": "When was it built?",
            "original_response": "I do not know when it was.",
            "correction": ANSWER,
            "correction_type": "full_replacement",
            "what_was_wrong": "It does not answer",
            "conversation_context": "User: Tell me about the bridge.\nAssistant: Which one do you mean?",
        },
        {
            "feedback_id": "quotes",
            "original_query": "Go on.",
            "original_response": "It has three arches.",
            "conversation_context": f"User: When was it built?\nAssistant: {ANSWER}",
        },
    ]
    return [
        {
            "session_id": f"s{place}",
            "user_id": f"u{place}",
            "response_id": f"r{place}",
            "feedback_type": "rating",
            "rating": 1,
            "domain": "general",
            "processed": 0,
            "created_at": 0.0,
            "timestamp": FIRST + 3600 * place,
            "conversation_context": None,
            **row,
        }
        for place, row in enumerate(told)
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with made_once(tmp_path_factory, "planted_home") as (home, is_new):
        if is_new:
            make(home)
        return home


def make(home: Path) -> None:
    main_source(home).parent.mkdir(parents=True)
    with closing(sqlite3.connect(main_source(home))) as database:
        database.executescript(SCHEMA)
        for row in rows():
            names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
            database.execute(f"insert into feedback ({names}) values ({marks})", row)
        database.commit()
    (home.parent / "exam.txt").write_text(EXAM + "\n", encoding="utf-8")
    (home.parent / "planted.toml").write_text(
        '[[decontaminate]]\nname = "exam"\nfiles = ["exam.txt"]\n[recipe.unpaired]\nmin_chars = 20\n', encoding="utf-8"
    )
    run(home, env={"GRISTMILL_CONFIG": str(home.parent / "planted.toml")})


def release(home: Path) -> Path:
    (folder,) = (path for path in (home / "exports").iterdir() if path.is_dir())
    return folder


def records(home: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """By format and row, with the split."""
    found = {}
    for file in sorted(release(home).glob("*_2*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            found[file.name.split("_")[0], record["origin_ids"][0]] = record | {"file": file.name}
    return found


def reasons(home: Path) -> dict[tuple[str, str], tuple[str, str | None]]:
    return {
        (row["format"], row["origin_ids"][0]): (row["reason"], row["detail"])
        for row in table(home, "train__excluded").to_dicts()
    }


def test_each_planted_row_has_its_reason(home: Path) -> None:
    found = reasons(home)
    assert found["instruction", "tokens"] == found["unpaired", "tokens"] == ("control_tokens", None)
    assert found["instruction", "role"] == found["unpaired", "role"] == ("control_tokens", None)
    assert found["instruction", "exam"] == found["unpaired", "exam"] == ("contaminated", "exam:1")
    assert found["instruction", "twin"] == found["unpaired", "twin"] == ("near_duplicate", None)
    left_out = {key for key, (reason, detail) in found.items() if (reason, detail) == ("recipe", "min_chars")}
    assert left_out == {
        ("unpaired", row["feedback_id"]) for row in rows() if _characters(row) < 20 and row.get("rating")
    }
    assert {reason for reason, _ in found.values()} <= {
        "control_tokens",
        "contaminated",
        "near_duplicate",
        "recipe",
        "leak",
    }


def _characters(row: dict[str, Any]) -> int:
    names = ("original_query", "original_response", "conversation_context")
    return sum(len(row[name] or "") for name in names)


def test_no_secret_is_in_any_exported_file(home: Path) -> None:
    """T8: looked for as it was planted, and without its separators."""
    for file in (path for path in release(home).rglob("*") if path.is_file()):
        text = file.read_text(encoding="utf-8", errors="replace") if file.suffix != ".parquet" else ""
        assert not re.search(r"corp-mail|AKIA|4111", text), file.name
    for format in ("instruction", "unpaired", "correction", "preference"):
        for row in table(home, f"train__{format}").to_dicts():
            assert not re.search(r"corp-mail|AKIA|4111", str(row)), row["id"]
    counts = json.loads((release(home) / "manifest.json").read_text(encoding="utf-8"))["masked"]
    assert counts["email"] > 0 and counts["access_token"] > 0 and counts["card_number"] > 0


def test_a_mask_is_stable_within_a_record(home: Path) -> None:
    record = records(home)["instruction", "secret"]
    assert record["instruction"] == "Write to <EMAIL_1> for me"
    assert record["output"] == "Dear <EMAIL_1>, your key <ACCESS_TOKEN_1> is here."


def test_a_context_in_json_stays_json(home: Path) -> None:
    record = records(home)["instruction", "said before"]
    assert json.loads(record["context"]) == [
        {"role": "user", "content": "My card:\n<CARD_NUMBER_1>"},
        {"role": "assistant", "content": "Thanks, <EMAIL_1>"},
    ]


def test_conversations_arrive(home: Path) -> None:
    """T7: a correction is told in the order a person would read it."""
    told = {row["origin_ids"][0]: row["messages"] for row in table(home, "train__correction").to_dicts()}
    assert [(turn["role"], turn["content"]) for turn in told["fixed"]] == [
        ("user", "Tell me about the bridge."),
        ("assistant", "Which one do you mean?"),
        ("user", "When was it built?"),
        ("assistant", "I do not know when it was."),
        ("user", "It does not answer"),
        ("assistant", ANSWER),
    ]
    pairs = {row["origin_ids"][0]: row["messages"] for row in table(home, "train__preference").to_dicts()}
    assert [turn["role"] for turn in pairs["fixed"]] == ["user", "assistant", "user"]


def test_what_was_said_before_and_its_record_are_on_one_side(home: Path) -> None:
    """T3: the answer of `fixed` stands in the context of `quotes`."""
    component = {
        row["origin_ids"][0]: row["component"]
        for format in ("correction", "instruction")
        for row in table(home, f"train__{format}").to_dicts()
    }
    assert component["fixed"] == component["quotes"] != component["plain1"]


def test_no_two_records_that_left_are_twins(home: Path) -> None:
    """T6, by comparing all with all."""

    def shingles(text: str) -> set[str]:
        plain = " ".join("".join(c for c in text.lower() if c.isalnum() or c.isspace()).split())
        return {plain[place : place + 5] for place in range(max(1, len(plain) - 4))}

    def jaccard(one: str, other: str) -> float:
        left, right = shingles(one), shingles(other)
        return len(left & right) / len(left | right)

    left = [record for (format, _), record in records(home).items() if format == "instruction"]
    for one, other in combinations(left, 2):
        asked = jaccard(
            f"{one['context'] or ''} {one['instruction']}", f"{other['context'] or ''} {other['instruction']}"
        )
        assert min(asked, jaccard(one["output"], other["output"])) < 0.8, (one["origin_ids"], other["origin_ids"])


def test_the_files_prove_that_nothing_leaks(home: Path) -> None:
    proof = json.loads((release(home) / "manifest.json").read_text(encoding="utf-8"))["proof"]
    counted = ("training_prompts", "evaluation_prompts", "compared_prompts", "training_contexts")
    assert proof["training_prompts"] > 0 and proof["compared_prompts"] == proof["evaluation_prompts"]
    assert all(count == 0 for name, count in proof.items() if name not in counted)
