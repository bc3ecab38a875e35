"""Review by editing a file: what is written, what may be filled in, and that neither side loses anything."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dagster_project.errors import GristmillError
from dagster_project.review.batch import (
    Filled,
    Imported,
    batch_path,
    batch_text,
    import_batch,
    kept_entries,
    read_batch,
)
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.items import ReviewItem
from tests.review.queue_of_tests import item, queue

DAY = date(2026, 1, 31)
ITEMS = queue("a", "b", "c")
HASH = {one.id: one.content_hash for one in ITEMS}
BY_ID = {one.id: one for one in ITEMS}


def write_batch(items: list[ReviewItem], folder: Path, day: date, decisions: Decisions | None = None) -> Path:
    """As a run does."""
    path = batch_path(folder, day)
    folder.mkdir(parents=True, exist_ok=True)
    text = batch_text(items, kept_entries(path, decisions))  # before the file is opened, which empties it
    path.write_text(text, encoding="utf-8", newline="")
    return path


def fill(path: Path, **filled: Any) -> Path:
    """Edit a batch as a person would: a verdict for an id, or a verdict and a note."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    for entry in entries:
        if entry["id"] in filled:
            value = filled[entry["id"]]
            entry["verdict"], entry["note"] = value if isinstance(value, tuple) else (value, entry["note"])
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def filled_in(path: Path) -> list[tuple[str, Any, Any]]:
    return [(entry["id"], entry["verdict"], entry["note"]) for entry in json.loads(path.read_text(encoding="utf-8"))]


def test_a_batch_is_a_list_of_items_to_fill_in(tmp_path: Path) -> None:
    path = write_batch([item("a", query="Größe?", score=1 / 3)], tmp_path / "pending_review", DAY)
    assert path == tmp_path / "pending_review" / "batch_20260131.json"
    assert path.read_text(encoding="utf-8").splitlines() == [
        "[",
        "  {",
        '    "id": "a",',
        '    "kind": "example",',
        '    "domain": "code",',
        '    "query": "Größe?",',
        '    "context": null,',
        '    "attempt": "The old answer is here",',
        '    "answer": "The new answer is here",',
        '    "flags": ["incomplete"],',
        '    "score": 0.333333,',
        '    "reasons": ["low_score"],',
        '    "feedback": ["thumbs down: does not work"],',
        '    "rank": 1,',
        f'    "content_hash": "{item("a", query="Größe?").content_hash}",',
        '    "verdict": null,',
        '    "note": ""',
        "  }",
        "]",
    ]
    assert [file.name for file in path.parent.iterdir()] == ["batch_20260131.json"]
    before = path.read_bytes()
    assert (
        write_batch([item("a", query="Größe?", score=1 / 3)], tmp_path / "pending_review", DAY).read_bytes() == before
    )


def test_an_empty_queue_is_an_empty_list(tmp_path: Path) -> None:
    assert write_batch([], tmp_path, DAY).read_text(encoding="utf-8") == "[]\n"
    assert read_batch(tmp_path / "batch_20260131.json") == []


def test_nothing_a_terminal_would_obey_is_in_the_file() -> None:
    odd = "\x1b[2J\x9b2J\x7f\u202e\u2028\u200b\ufeff\ud800é日"
    text = batch_text([item("a", query=odd)])
    assert json.loads(text)[0]["query"] == odd
    assert '"\\u001b[2J\\u009b2J\\u007f\\u202e\\u2028\\u200b\\ufeff\\ud800é日"' in text


# --- importing ---------------------------------------------------------------------------------------------------


def test_what_is_filled_in_is_read(tmp_path: Path) -> None:
    path = fill(write_batch(ITEMS, tmp_path, DAY), a=(" Approved ", " fine "), b="REJECT", c=(None, "who knows"))
    assert read_batch(path) == [
        Filled("a", "approved", "fine", HASH["a"]),
        Filled("b", "rejected", "", HASH["b"]),
        Filled("c", None, "who knows", HASH["c"]),
    ]
    assert read_batch(fill(path, a=("", ""), b=(None, None), c=("", "  "))) == []


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    path = fill(write_batch(ITEMS, tmp_path, DAY), a=("approved", "fine"), b="rejected", c=(None, "who knows"))
    decisions = Decisions(tmp_path)
    assert import_batch(path, BY_ID, decisions, "ana") == Imported(recorded=3)
    assert decisions.current().select("example_id", "verdict", "reviewer", "note").rows() == [
        ("a", "approved", "ana", "fine"),
        ("b", "rejected", "ana", ""),
    ]
    before = decisions.path.read_bytes()
    assert import_batch(path, BY_ID, decisions, "ana") == Imported(already=3)
    assert import_batch(path, {}, decisions, "ana") == Imported(already=3)  # a later run took them off the queue
    assert decisions.path.read_bytes() == before


def test_an_old_file_does_not_overrule_a_later_change_of_mind(tmp_path: Path) -> None:
    path = fill(write_batch(ITEMS, tmp_path, DAY), a="approved")
    decisions = Decisions(tmp_path)
    import_batch(path, BY_ID, decisions, "ana")
    decisions.append(Decision("a", "rejected", "ana", content_hash=HASH["a"]))
    assert import_batch(path, BY_ID, decisions, "ana") == Imported(already=1)
    assert decisions.current()["verdict"].to_list() == ["rejected"]
    assert import_batch(path, BY_ID, decisions, "bob") == Imported(recorded=1)  # somebody else's voice


def test_a_verdict_on_texts_that_have_changed_since_is_about_those_texts(tmp_path: Path) -> None:
    path = fill(write_batch(ITEMS, tmp_path, DAY), a="approved")
    changed = {**BY_ID, "a": item("a", answer="another answer")}
    assert import_batch(path, changed, Decisions(tmp_path), "ana") == Imported(recorded=1, on_other_texts=1)
    assert Decisions(tmp_path).log()["content_hash"].to_list() == [HASH["a"]]


def entry(**changes: Any) -> dict[str, Any]:
    return {"id": "a", "query": "q", "answer": "t", "attempt": None, "verdict": "approved", "note": "", **changes}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[{]", "{path} is not JSON: Expecting property name enclosed in double quotes in line 1, column 3"),
        ("", "{path} is not JSON: Expecting value in line 1, column 1"),
        ("[" * 100_000, "{path} is not a batch: it is nested too deep"),
        ("{}", "{path} is not a batch: a list of items was expected"),
        ("[1]", "{path} is not a batch: entry 1 is not an object"),
        ([{"verdict": "approved"}], "{path}: entry 2 has no id"),
        ([entry(), entry(verdict=None)], "{path}: item 'a' is in the file twice"),
        ([entry(id="x")], "{path}: item 'x' is not in the review queue"),
        (
            [entry(verdict="aproved")],
            "{path}: item 'a': verdict must be \"approved\", \"rejected\" or null, not 'aproved'",
        ),
        ([entry(verdict=True)], '{path}: item \'a\': verdict must be "approved", "rejected" or null, not True'),
        (
            [entry(verdict=["approved"])],
            "{path}: item 'a': verdict must be \"approved\", \"rejected\" or null, not ['approved']",
        ),
        ([entry(note=5)], "{path}: item 'a': note must be a text, not 5"),
        ([entry(query=None)], "{path}: item 'a': query, answer or attempt is missing or not a text"),
        (
            [entry(content_hash="c0ffee")],
            "{path}: item 'a': query, answer or attempt was edited; only verdict and note may be",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line_and_nothing_is_recorded(
    tmp_path: Path, text: Any, problem: str
) -> None:
    path = tmp_path / "batch.json"
    path.write_text(text if isinstance(text, str) else json.dumps([entry(id="b"), *text]), encoding="utf-8")
    decisions = Decisions(tmp_path)
    with pytest.raises(GristmillError) as caught:
        import_batch(path, BY_ID, decisions, "ana")
    assert str(caught.value) == problem.replace("{path}", str(path))
    assert not decisions.path.exists()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(GristmillError, match=r"cannot read .*nowhere\.json: No such file"):
        read_batch(tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes('[{"id": "é"}]'.encode("latin-1"))
    with pytest.raises(GristmillError, match="is not UTF-8 text"):
        read_batch(tmp_path / "latin.json")


def test_an_unknown_item_without_a_verdict_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "batch.json"
    path.write_text(json.dumps([entry(id="gone", verdict=None)]), encoding="utf-8")
    assert import_batch(path, BY_ID, Decisions(tmp_path), "ana") == Imported()


# --- writing over a batch somebody is working on -----------------------------------------------------------------


def test_a_new_batch_of_the_day_keeps_what_was_filled_in_and_not_imported(tmp_path: Path) -> None:
    """`a` is still waiting; `b` has left the queue; `c` has other texts by now, and what was said of the old ones stays."""
    path = fill(write_batch(ITEMS, tmp_path, DAY), a=("approved", "fine"), b="aproved", c=(None, "who knows"))
    now = [item("c", answer="another answer"), item("a"), item("d")]
    write_batch(now, tmp_path, DAY, Decisions(tmp_path))
    assert filled_in(path) == [
        ("c", None, "who knows"),
        ("a", "approved", "fine"),
        ("d", None, ""),
        ("b", "aproved", ""),
    ]
    assert json.loads(path.read_text(encoding="utf-8"))[0]["content_hash"] == HASH["c"]
    before = path.read_bytes()
    assert write_batch(now, tmp_path, DAY, Decisions(tmp_path)).read_bytes() == before


def test_what_was_imported_is_let_go(tmp_path: Path) -> None:
    path = fill(write_batch(ITEMS, tmp_path, DAY), a="approved", b=("rejected", "no"))
    decisions = Decisions(tmp_path)
    import_batch(path, BY_ID, decisions, "ana")
    write_batch(ITEMS[2:], tmp_path, DAY, decisions)
    assert filled_in(path) == [("c", None, "")]


@pytest.mark.parametrize("content", ["[{half", "{}", "[1]"])
def test_a_file_that_cannot_be_read_is_put_aside(tmp_path: Path, content: str) -> None:
    path = write_batch(ITEMS, tmp_path, DAY)
    for number in (1, 2):
        path.write_text(content, encoding="utf-8")
        write_batch(ITEMS, tmp_path, DAY)
        assert (tmp_path / f"batch_20260131.unreadable{number}.json").read_text(encoding="utf-8") == content
    assert [one[0] for one in filled_in(path)] == ["a", "b", "c"]


def test_odd_texts_come_back_as_they_were(tmp_path: Path) -> None:
    odd = ReviewItem(
        "é\u2028",
        "example",
        "x",
        "q\x00\r\n",
        "\x1b",
        "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        "",
    )
    path = fill(write_batch([odd], tmp_path, DAY), **{odd.id: "approved"})
    assert read_batch(path, {odd.id}) == [Filled(odd.id, "approved", "", odd.content_hash)]
