"""`gristmill label` (C7): pairs in the order of what they teach, verdicts that last, labels as files, and what a run makes of them."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from dagster_project.review.decision_lines import LABELS, REVIEWS
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.label_screen import LABELLING
from dagster_project.review.labels import what_is_missing
from dagster_project.review.screen import View, body, frame
from tests.conftest import GRISTMILL, ask, catalog, change, complaint, copy_home, gristmill, made_once, run
from tests.review.pseudo_terminal import Person
from tests.review.queue_of_tests import item
from tests.systems.conversations.turn_database import START, at, source, write
from tests.tables import table

VERDICTS = "core__label_verdicts"
REPLIES = (
    "Are you sure about that?",
    "Thanks, that's perfect!",
    "Hm.",
    "Send it to bob.miller@example.com, please.",
    "Never mind, forget it.",
    "What about the second one?",
)


def decisions(home: Path) -> Decisions:
    return Decisions(home, LABELS)


def lines(home: Path) -> list[tuple[str, str, str]]:
    return decisions(home).log().select("reviewer", "verdict", "example_id").rows()


# --- the log ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "held"),
    [
        (["ana rejected"], "rejected"),
        (["ana rejected", "ana accepted"], "accepted"),
        (["ana rejected", "ana undone"], None),
        (["ana rejected", "bob accepted"], "disputed"),
        (["ana rejected", "bob accepted", "eve accepted"], "accepted"),
        (["ana rejected", "bob accepted", "eve neutral"], "disputed"),
        (["ana rejected", "bob accepted", "eve neutral", "dan rejected"], "rejected"),
        (["ana rejected", "bob accepted", "bob undone"], "rejected"),
    ],
)
def test_what_most_said_holds(tmp_path: Path, votes: list[str], held: str | None) -> None:
    """The latest verdict of each; a tie is no label."""
    for vote in votes:
        who, verdict = vote.split()
        decisions(tmp_path).append(Decision("u1/1", verdict, who))
    assert decisions(tmp_path).current()["verdict"].to_list() == ([held] if held else [])


def test_labels_and_reviews_are_different_logs(tmp_path: Path) -> None:
    decisions(tmp_path).append(Decision("u1/1", "neutral", "ana"))
    assert decisions(tmp_path).path == tmp_path / "state" / "labels.jsonl"
    assert Decisions(tmp_path).log().is_empty()
    for log, verdict in ((LABELS, "approved"), (REVIEWS, "neutral")):
        with pytest.raises(Exception, match="a verdict is one of"):
            Decisions(tmp_path, log).append(Decision("u1/1", verdict, "ana"))
    assert len(lines(tmp_path)) == 1


def test_every_verdict_is_of_the_texts_that_were_seen(tmp_path: Path) -> None:
    """A rejection too: what is learned from are the texts."""
    log = decisions(tmp_path)
    log.append(Decision("u1/1", "rejected", "ana", content_hash="seen"))
    contents = log.log().select("example_id", "content_hash")
    assert log.current(contents)["verdict"].to_list() == ["rejected"]
    assert log.current(contents.with_columns(content_hash="example_id")).is_empty()


@pytest.mark.parametrize(
    ("labels", "rejected", "users", "missing"),
    [
        (200, 30, (15, 15), ""),
        (199, 30, (15, 15), "1 labels"),
        (500, 29, (15, 15), "1 rejected ones"),
        (200, 171, (15, 15), "1 others"),
        (200, 100, (14, 15), "1 turns users rated down"),
        (200, 100, (15, 14), "1 turns users rated otherwise"),
        (
            0,
            0,
            (0, 0),
            "200 labels, 30 rejected ones, 30 others, 15 turns users rated down, 15 turns users rated otherwise",
        ),
    ],
)
def test_what_is_missing(labels: int, rejected: int, users: tuple[int, int], missing: str) -> None:
    """C7: 200, and 30 of each class; and what users said themselves, to judge a head by."""
    found = {"labels": labels, "rejected": rejected, "not_rejected": labels - rejected}
    assert what_is_missing(found | {"users_rejected": users[0], "users_not_rejected": users[1]}) == missing


# --- the screen ------------------------------------------------------------------------------------------------------


def screen(view: View, columns: int = 80, height: int = 24) -> list[str]:
    drawn = frame(view, body(view, columns, LABELLING), columns, height, LABELLING)
    return ["".join(piece.text for piece in row.left).rstrip() for row in drawn.rows]


def test_all_three_texts_are_on_the_first_screen() -> None:
    """A long response is folded to its beginning and end; the detector's verdict is nowhere."""
    response = "\n".join(f"line {number}" for number in range(1, 41))
    pair = item("u1/7", kind="turn", query="Where?", attempt=response, answer="No, I meant Bath", reasons=["uncertain"])
    shown = screen(View("ana", pair, left=170, progress="31 of 200, about 17 min left"))
    assert shown[0] == " u1/7  turn  31 of 200, about 17 min left  ana"
    assert [line for line in shown if line.startswith("──")] == [
        f"── {title} {'─' * (76 - len(title))}" for title in ("the user asked", "the response", "then the user wrote")
    ]
    assert shown[3:13] == [
        f"── the response {'─' * 64}",
        "line 1",
        "line 2",
        "line 3",
        "(... 33 more lines: f shows them)",
        "line 37",
        "line 38",
        "line 39",
        "line 40",
        f"── then the user wrote {'─' * 57}",
    ]
    assert shown[13] == "No, I meant Bath"
    assert shown[-1] == "r reject  a accept  n neutral  s skip  u undo  b back  f unfold  q quit  ? help"
    assert "line 20" in screen(View("ana", pair, is_whole=True), height=60)


def test_a_response_nobody_knows() -> None:
    pair = item("u1/7", kind="turn", query="Where?", attempt=None, answer="Never mind")
    assert "(nothing is known of it)" in screen(View("ana", pair))


# --- a home with turns -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def home_with_turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six users who say one thing each about a response, after one run. Not to be changed."""
    with made_once(tmp_path_factory, "home_with_turns") as (home, is_new):
        if is_new:
            rows: list[dict[str, Any]] = []
            for user, reply in enumerate(REPLIES, 1):
                who = {"user_id": f"u{user}", "session_id": f"s{user}"}
                said = {"query": f"Which town is number {user}?", "response": f"That would be town {user}."}
                rows.append(who | said | {"turn_number": 1, "timestamp": at(minutes=10 * user)})
                rows.append(who | {"turn_number": 2, "timestamp": at(minutes=10 * user + 1), "query": reply})
            write(source(home), rows)
            run(home)
        return home


@pytest.fixture
def home(home_with_turns: Path, tmp_path: Path) -> Path:
    return copy_home(home_with_turns, tmp_path / "home")


def label(home: Path, *arguments: str, who: str = "ana") -> str:
    env = {"GRISTMILL_REVIEWER": who, "GRISTMILL_SECOND_REVIEW_SHARE": "0"}
    done = gristmill(home, "label", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def waiting(home: Path, who: str = "ana") -> list[dict[str, Any]]:
    return json.loads(label(home, "list", "--json", who=who))["waiting"]


def filled_in(home: Path, labels: dict[str, str | None], **more: Any) -> Path:
    """A file of labels by key, made of an export of what waits."""
    file = home / "labels.jsonl"
    label(home, "export", "--waiting", str(file))
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    chosen = [row | {"label": labels[row["key"]], **more} for row in rows if row["key"] in labels]
    file.write_text("".join(json.dumps(row) + "\n" for row in chosen), "utf-8")
    return file


@pytest.mark.slow
def test_what_waits_and_how_many_labels_there_are(home: Path) -> None:
    """Texts are masked; nothing says what the detector thinks."""
    found = json.loads(label(home, "list", "--json"))
    rows = found.pop("waiting")
    assert set(found.values()) == {0} and {"labels", "rejected", "not_rejected", "judged"} < found.keys()
    assert sorted(row["next_message"] for row in rows) == sorted(
        [*REPLIES[:3], *REPLIES[4:], "Send it to <EMAIL_1>, please."]
    )
    (mailing,) = [row for row in rows if row["key"] == "u4/1"]
    assert {name: mailing[name] for name in ("prev_query", "prev_response", "label", "source", "dialog")} == {
        "prev_query": "Which town is number 4?",
        "prev_response": "That would be town 4.",
        "label": None,
        "source": "own labels",
        "dialog": "u4 / s4",
    }
    told = label(home, "list", "--limit", "2").splitlines()
    assert told[:2] == [
        "0 explicit labels: 0 turns rated, 0 reacted to, 0 judged here; 0 rejected, 0 not",
        "missing: 200 labels, 30 rejected ones, 30 others, 15 turns users rated down, 15 turns users rated otherwise",
    ]
    assert told[-1] == "6 pairs wait for ana, the first 2 shown" and len(told) == 5
    assert label(home, "list") == label(home, "list")


@pytest.mark.slow
def test_a_sitting_in_the_window(home: Path) -> None:
    """Keys of one letter; every verdict is on disk before the next pair is seen; 80 by 24, without colour."""
    order = [row["key"] for row in waiting(home)]
    with Person(home, command=[str(GRISTMILL)], verb="label", GRISTMILL_SECOND_REVIEW_SHARE="0") as person:
        person.sees("0 of 6, about 1 min left  ana")
        assert b"0 explicit labels: 0 turns rated" in person.received
        person.sees("then the user wrote")
        person.press("r")
        person.sees("1 of 6")
        assert lines(home) == [("ana", "rejected", order[0])]
        person.press("a")
        person.sees("2 of 6")
        person.press("n")
        person.sees("3 of 6")
        assert [verdict for _, verdict, _ in lines(home)] == ["rejected", "accepted", "neutral"]
        person.press("u")
        person.sees("taken back")
        person.sees(f" {order[2]}  turn  2 of 6")
        person.press("s")
        person.sees(f" {order[3]}  turn  2 of 5")
        person.press("?")
        person.sees("neutral: the message does not tell")
        person.press("r")  # leaves the help, judges nothing
        person.sees("then the user wrote")
        person.press("q")
        assert person.leaves() == 0
        assert b"1 accepted, 1 rejected, 1 skipped; 3 pairs left for ana" in person.received
        assert b"\x1b[31" not in person.received and b"\x1b[32" not in person.received
    assert lines(home)[3:] == [("ana", "undone", order[2])]
    with Person(home, command=[str(GRISTMILL)], verb="label", GRISTMILL_SECOND_REVIEW_SHARE="0") as person:
        person.sees(f" {order[2]}  turn  2 of 6")  # goes on where it was left; skipped is for one sitting
        person.process.send_signal(signal.SIGKILL)
        person.process.wait()
    assert len(lines(home)) == 4


@pytest.mark.slow
def test_without_a_terminal(home: Path) -> None:
    """How many labels there are, and where else to go."""
    done = gristmill(home, "label", env={"GRISTMILL_REVIEWER": "ana"})
    assert complaint(done) == (
        "gristmill: label needs a terminal; elsewhere use `gristmill label export --waiting FILE` and `import FILE`"
    )
    assert done.stdout.startswith("0 explicit labels")


@pytest.mark.slow
def test_labels_go_out_be_judged_elsewhere_and_come_back(home: Path, tmp_path: Path) -> None:
    """An export is what `evaluate implicit` reads; a second import records nothing."""
    file = filled_in(home, {"u1/1": "rejected", "u2/1": "accepted", "u3/1": " Neutral ", "u4/1": None})
    assert label(home, "import", str(file)) == "recorded 3, 0 were recorded before, 1 have no label\n"
    assert label(home, "import", str(file)) == "recorded 0, 3 were recorded before, 1 have no label\n"
    assert sorted(lines(home)) == [("ana", "accepted", "u2/1"), ("ana", "neutral", "u3/1"), ("ana", "rejected", "u1/1")]
    exported = tmp_path / "out.jsonl"
    assert label(home, "export", str(exported)) == f"3 labels in {exported}\n"
    assert label(home, "export", "-") == exported.read_text("utf-8")
    done = gristmill(home, "evaluate", "implicit", str(exported), "--json")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["sources"]["own labels"]
    assert {name: found["support"] for name, found in measured["labels"].items()} == {
        "rejected": 1,
        "accepted": 1,
        "neutral": 1,
    }
    label(home, "undo", "u2/1")
    assert "2 judged here; 1 rejected, 1 not" in label(home, "list")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[]", "is no JSON object"),
        ("{", "is not JSON"),
        ('{"label": "rejected"}', "key is missing: which turn is it?"),
        ('{"key": 7}', "key must be a string, not 7"),
        ('{"key": "u1/1", "label": "bad"}', "label must be rejected, accepted, neutral or null, not 'bad'"),
        ('{"key": "u9/1", "label": "rejected"}', "there is no turn 'u9/1' with a message after it"),
        ('{"key": "u1/2", "label": "rejected"}', "there is no turn 'u1/2' with a message after it"),
        ('{"key": "u2/1", "label": "rejected"}', "turn 'u2/1' is labelled in line 1 already"),
        ('{"key": "u1/1", "label": "rejected", "reviewer": "a\\u0000"}', "a reviewer's name has 1 to 100 printable"),
    ],
)
def test_a_file_is_taken_whole_or_not_at_all(home: Path, line: str, problem: str) -> None:
    file = home / "labels.jsonl"
    file.write_text(f'{{"key": "u2/1", "label": "accepted"}}\n{line}\n', "utf-8")
    done = gristmill(home, "label", "import", str(file), env={"GRISTMILL_REVIEWER": "ana"})
    assert f"{file}, line 2: {problem}" in complaint(done)
    assert lines(home) == []


# --- what a run makes of them ------------------------------------------------------------------------------------------


def verdicts(home: Path) -> list[tuple[Any, ...]]:
    return table(home, VERDICTS).select("turn_key", "verdict", "reviewer").rows()


@pytest.mark.slow
def test_a_run_honours_new_verdicts(home: Path) -> None:
    """G12: the state is an input. Two who differ give no label; `why` shows one; a torn line is told and stops nothing."""
    before = catalog(home)["publication"]
    run(home)
    assert catalog(home)["publication"] == before  # nothing new
    file = filled_in(home, {"u1/1": "rejected", "u3/1": "neutral"})
    label(home, "import", str(file))
    file.write_text(file.read_text("utf-8").replace('"neutral"', '"accepted"'), "utf-8")
    label(home, "import", str(file), who="bob")
    run(home)
    (row,) = table(home, VERDICTS).to_dicts()
    judged_at = row.pop("judged_at")
    assert judged_at in decisions(home).log().filter(reviewer="bob")["decided_at"].to_list()
    assert row == {
        "turn_key": "u1/1",
        "user_id": "u1",
        "turn_number": 1,
        "session_id": "s1",
        "source_file": "conversations.db",
        "verdict": "rejected",
        "reviewer": "bob",
        "event_date": START.date(),
    }
    told = gristmill(home, "why", "u1/1").stdout
    assert f"judged    rejected by bob, {judged_at:%Y-%m-%d} (label)" in told
    with decisions(home).path.open("ab") as log:
        log.write(b'{"example_id": "u2/1", "verd\n{"example_id": "u2/1", "verdict"')
    done = run(home)
    assert "labels.jsonl line 5 is left out: it is not JSON" in done.stdout + done.stderr
    assert verdicts(home) == [("u1/1", "rejected", "bob")]


@pytest.mark.slow
def test_a_verdict_on_a_turn_that_vanished_or_changed_is_no_label(home: Path) -> None:
    """It stays in the state, and holds again when the turn is back as it was."""
    label(home, "import", str(filled_in(home, {"u1/1": "rejected", "u2/1": "accepted", "u3/1": "neutral"})))
    run(home)
    assert [key for key, *_ in verdicts(home)] == ["u1/1", "u2/1", "u3/1"]
    path = source(home)
    change(
        path,
        "delete from turns where user_id = 'u1'",
        "update turns set query = 'Great' where user_id = 'u3' and turn_number = 2",
    )
    assert ask(path, "select count(*) from turns") == [(10,)]
    run(home, "--full")
    assert [key for key, *_ in verdicts(home)] == ["u2/1"]
    assert len(lines(home)) == 3
    assert "1 judged here" in label(home, "list")
    change(path, "update turns set query = 'Hm.' where user_id = 'u3' and turn_number = 2")
    run(home, "--full")
    assert [key for key, *_ in verdicts(home)] == ["u2/1", "u3/1"]


@pytest.mark.slow
def test_two_homes_with_the_same_state_hold_the_same_labels(home: Path, home_with_turns: Path, tmp_path: Path) -> None:
    """G2, G12."""
    label(home, "import", str(filled_in(home, {"u1/1": "rejected", "u3/1": "neutral"})))
    other = copy_home(home_with_turns, tmp_path / "other")
    (other / "state").mkdir(exist_ok=True)
    (other / "state" / "labels.jsonl").write_bytes(decisions(home).path.read_bytes())
    run(home)
    run(other)
    first, second = (table(one, VERDICTS) for one in (home, other))
    assert first.equals(second) and first.height == 2
