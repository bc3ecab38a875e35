"""Whole runs on databases of reactions: what is read, what goes again, what is refused, and the reports."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dagster_project.contracts import TABLES
from tests.accounts import went
from tests.conftest import ask, catalog, change, complaint, gristmill, published_content, run
from tests.systems.reactions.reaction_database import (
    ABSENT,
    DECLARED,
    Row,
    add,
    at,
    derive,
    message,
    reaction,
    source,
    turn_log,
    write,
)
from tests.tables import table

WHERE = {"GRISTMILL_TENANT": "ACME", "GRISTMILL_PROJECT": "Support"}
PERIOD = ("report", "reactions", "--from", "2026-01-20", "--to", "2026-01-31")


# --- what is read --------------------------------------------------------------------------------------------------------


def test_only_reactions_and_turn_logs_are_read(tmp_path: Path) -> None:
    rows = [
        message(),
        turn_log(),
        reaction(),
        reaction(tag="kind:turn.log.reaction"),
        reaction(role=" ARTIFACT "),
        reaction(role="user"),
        reaction(tag="artifact:turn.log.reactions"),
        message(tags=None),
        turn_log(role="assistant"),
    ]
    write(source(tmp_path), rows)
    derived = derive(tmp_path)
    assert sorted(derived.raw) == ["3", "4", "5"]
    assert len(derived.tables["raw_reactions__turn_logs"]) == 2
    assert [account.read for account in derived.accounts.values()] == [3, 2]


def test_the_older_table(tmp_path: Path) -> None:
    """s3_uri instead of hosted_uri; whichever is there is no drift."""
    declared = DECLARED.replace("hosted_uri", "s3_uri").replace(", track_id TEXT", "").replace("user_id TEXT, ", "")
    row = {name: value for name, value in reaction(s3_uri="s3://x").items() if name != "user_id"}
    write(source(tmp_path), [row], declared)
    derived = derive(tmp_path)
    assert derived.raw["1"]["hosted_uri"] == "s3://x"
    assert derived.accounts["raw_reactions__reactions"].missing_columns == ["user_id"]


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    source(home).parent.mkdir(parents=True)
    with closing(sqlite3.connect(source(home))) as database:
        database.execute("create table conv_messages (id integer primary key, text text)")
    assert "has no column 'conversation_id'" in complaint(gristmill(home, "run"))


@pytest.mark.parametrize(
    ("row", "reasons"),
    [
        (reaction(text=None), ["missing:text"]),
        (reaction(text="oops"), ["bad_json:text"]),
        (reaction(text="[turn.log.reaction] ['ok']"), ["bad_json:text"]),
        (reaction(text="{'reaction': eval('1')}"), ["bad_json:text"]),
        (reaction(reaction_="great"), ["unknown:reaction"]),
        (reaction(reaction_=1), ["wrong_type:reaction"]),
        (reaction(origin_="robot"), ["unknown:origin"]),
        (reaction(origin_=ABSENT, tags=["artifact:turn.log.reaction", "origin:robot"]), ["unknown:origin"]),
        (reaction(origin_=ABSENT, meta={"origin": 3}), ["wrong_type:origin"]),
        (reaction(confidence_=1.01), ["out_of_range:confidence"]),
        (reaction(confidence_="1"), ["wrong_type:confidence"]),
        (reaction(confidence_=float("nan")), ["not_finite:confidence"]),
        (reaction(text_=5), ["wrong_type:text"]),
        (reaction(conversation_id=""), ["missing:conversation_id"]),
        (reaction(turn_id=None, turn_id_=None, tags=["kind:turn.log.reaction"]), ["missing:turn_id"]),
        (reaction(ts=None), ["missing:ts"]),
        (reaction(ts="2100-01-01T00:00:00Z"), ["out_of_range:ts"]),
        (reaction(ts="soon"), ["wrong_type:ts"]),
        (reaction(ttl_days="long"), ["wrong_type:ttl_days"]),
        (reaction(reaction_="no", origin_="x", ts=None), ["missing:ts", "unknown:origin", "unknown:reaction"]),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, list) else "",
)
def test_refused_rows(tmp_path: Path, row: Row, reasons: list[str]) -> None:
    write(source(tmp_path), [reaction(user_id="good"), row])
    derived = derive(tmp_path)
    assert derived.reasons == {"2": reasons}
    assert list(derived.raw) == ["1"]


def test_what_is_allowed(tmp_path: Path) -> None:
    rows = [
        reaction(origin_=ABSENT, confidence_=ABSENT),  # nobody says who reacts
        reaction(origin_=" User ", reaction_="Not_OK "),
        reaction(origin_="", meta={"origin": "machine"}, confidence_=0.8),
        reaction(origin_=None, tags=["artifact:turn.log.reaction", "origin:user", "origin:machine"]),
        reaction(turn_id="", turn_id_="of the object"),
        reaction(turn_id=None, turn_id_=ABSENT, tags=["artifact:turn.log.reaction", "turn:of é the tag"]),
        reaction(ts=1_768_910_400_000),
        reaction(reaction_=ABSENT),
    ]
    write(source(tmp_path), rows)
    raw = derive(tmp_path).raw
    assert [raw[str(n)]["origin"] for n in (1, 2, 3, 4)] == [None, "user", "machine", "user"]
    assert [raw[str(n)]["confidence"] for n in (1, 2, 3, 4)] == [None, 1.0, 0.8, 1.0]
    assert raw["2"]["reaction"] == "not_ok"
    assert [(raw[n]["turn_id"], raw[n]["repairs"]) for n in ("5", "6")] == [
        ("of the object", ["turn_id:object"]),
        ("of é the tag", ["turn_id:tag"]),
    ]
    assert (raw["7"]["event_date"].isoformat(), raw["7"]["repairs"]) == ("2026-01-20", ["ts:milliseconds"])
    assert raw["8"]["reaction"] is None


def test_resource_names(tmp_path: Path) -> None:
    rows = [
        reaction(user_id="a:b/c@d é", message_id="artifact-1"),
        reaction(meta={"rn": "ef:stored"}),
        reaction(message_id=None),
    ]
    write(source(tmp_path), rows)
    rebuilt = "ef:ACME:Support:chatbot:message:a%3Ab%2Fc%40d%20%C3%A9:c:t:artifact:artifact-1"
    assert [row["rn"] for row in derive(tmp_path, environ=WHERE).raw.values()] == [rebuilt, "ef:stored", None]
    assert [row["rn"] for row in derive(tmp_path).raw.values()] == [
        None,
        "ef:stored",
        None,
    ]  # read again: settings changed


# --- what goes again -----------------------------------------------------------------------------------------------------


def test_deleted_rows_vanish(tmp_path: Path) -> None:
    """A change of mind deletes the old row, a clear deletes without a trace, a failed delete leaves two."""
    write(
        source(tmp_path),
        [turn_log(), reaction(ts=at(days=-9)), reaction(turn_id="u"), reaction(turn_id="v", ts=at(days=-40))],
    )
    assert derive(tmp_path).why == {"2": None, "3": None, "4": None}
    add(source(tmp_path), reaction(id=9, ts=at(days=-9), reaction_="not_ok"))
    assert derive(tmp_path).why == {"2": "superseded", "3": None, "4": None, "9": None}
    change(source(tmp_path), "delete from conv_messages where id in (2, 3, 4)")
    derived = derive(tmp_path)
    assert derived.why == {"9": None}
    assert [str(row["event_date"]) for row in derived.tables["metric__reaction_daily"]] == ["2026-01-11"]
    change(source(tmp_path), "delete from conv_messages where id = 9")
    assert derive(tmp_path).tables["core__reactions"] == []


def test_edits_in_place_are_found(tmp_path: Path) -> None:
    """Also of texts of the same length, and of a row that another table's part is blind to."""
    write(
        source(tmp_path),
        [turn_log(turn_id="w"), reaction(ts=at(days=-40)), reaction(turn_id="u", ts=at(days=-40), text="oops")],
    )
    derived = derive(tmp_path)
    assert derived.reasons == {"3": ["bad_json:text"]}
    assert derived.reactions["2"]["is_orphan"]
    change(
        source(tmp_path),
        "update conv_messages set text = replace(text, '\"ok\"', '\"no\"') where id = 2",
        """update conv_messages set text = '{"reaction": "ok"}' where id = 3""",
    )
    derived = derive(tmp_path)
    assert derived.reasons == {"2": ["unknown:reaction"]}
    assert derived.reactions["3"]["origin"] is None
    change(source(tmp_path), "update conv_messages set turn_id = 'u' where id = 1")
    assert not derive(tmp_path).reactions["3"]["is_orphan"]


def test_one_key_from_two_copies(tmp_path: Path) -> None:
    """Two copies of one database are united by id; databases of different tenants are not."""
    files = [tmp_path / "sources" / name for name in ("reactions.db", "later.db")]
    write(files[0], [reaction(), reaction(turn_id="u")])
    write(files[1], [reaction(), reaction(turn_id="u", reaction_="not_ok"), reaction(turn_id="v")])
    derived = derive(tmp_path, environ={"GRISTMILL_REACTIONS": ":".join(map(str, files))})
    assert derived.why == {"1": None, "2": None, "3": None}
    assert derived.reasons == {"2": ["conflict:id"]}
    (tmp_path / "gristmill.toml").write_text(
        "".join(f'[[reactions]]\nuri = "{path}"\ntenant = "{path.stem}"\nproject = "p"\n' for path in files)
    )
    derived = derive(tmp_path, environ={"GRISTMILL_CONFIG": str(tmp_path / "gristmill.toml")})
    assert sorted(derived.why) == ["later/p/1", "later/p/2", "later/p/3", "reactions/p/1", "reactions/p/2"]
    assert set(derived.why.values()) == {None}


# --- whole runs ----------------------------------------------------------------------------------------------------------


def many() -> list[Row]:
    """Conversations with their last activity on different instants, some on the same one."""
    rows: list[Row] = [turn_log(conversation_id="c0", turn_id="t0")]
    for n in range(40):
        origin = ("user", "machine", ABSENT)[n % 3]
        rows.append(
            reaction(
                ("json", "repr", "bare", "nested", "payload")[n % 5],
                turn_id=f"t{n % 4}",
                conversation_id=f"c{n % 9}",
                user_id=f"u{n % 7}",
                ts=at(minutes=(n * 37) % 11 * 200),
                origin_=origin,
                confidence_=0.6 + n / 100,
                reaction_=("ok", "not_ok", "neutral", None)[n % 4],
                text_=f"number {n}\n…",
                message_id=f"m{n}",
                ttl_days=(365, 0)[n % 6 == 5],
            )
        )
    return [*rows, reaction(ts="2090-01-01"), reaction(text="oops"), reaction(ts=None)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("reactions") / "home"
    write(source(home), many())
    run(home, env=WHERE)
    assert went(home, "raw_reactions__reactions", "raw_reactions__turn_logs") == (44, 42, 2, 0, 0)
    return home


def asked(home: Path, *arguments: str) -> Any:
    done = gristmill(home, *arguments, "--json", env=WHERE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "home"
    write(source(other), many())
    run(other, env=WHERE)
    names = {name for name in published_content(home) if name.startswith(("lake", "exports"))}
    mine, others = published_content(home), published_content(other)
    assert {name for name in names if mine[name] != others.get(name)} == set()
    before = catalog(other)
    run(other, env=WHERE)
    assert catalog(other) == before


@pytest.mark.slow
def test_the_warehouse_has_it(home: Path) -> None:
    sql = "select count(*) as n, count(*) filter (where is_active) as active from core__reactions"
    (row,) = json.loads(gristmill(home, "query", sql, "--format", "json").stdout)
    assert row == {"n": 40, "active": len(active(home))}
    assert ask(source(home), "select count(*) from conv_messages") == [(44,)]
    (signals,) = json.loads(
        gristmill(
            home, "query", "select count(*) as n from signals where system = 'reactions'", "--format", "json"
        ).stdout
    )
    assert signals["n"] == row["active"]


def active(home: Path) -> pl.DataFrame:
    return table(home, "core__reactions").filter("is_active")


@pytest.mark.slow
def test_conversations_in_period(home: Path) -> None:
    """Seed 3's object, field for field."""
    found = asked(home, *PERIOD)
    assert list(found) == ["tenant", "project", "window", "items", "next_cursor"]
    assert (found["tenant"], found["project"], found["next_cursor"]) == ("ACME", "Support", None)
    assert found["window"] == {"start": "2026-01-20T00:00:00Z", "end": "2026-01-31T23:59:59Z"}
    activity = [item["last_activity_at"] for item in found["items"]]
    assert activity == sorted(activity, reverse=True)
    total = 0
    for item in found["items"]:
        assert list(item) == ["conversation_id", "last_activity_at", "started_at", "feedback_counts", "turns"]
        counts = item["feedback_counts"]
        assert list(counts) == ["total", "user", "machine", "ok", "not_ok", "neutral"]
        assert (
            counts["total"] == counts["ok"] + counts["not_ok"] + counts["neutral"] >= counts["user"] + counts["machine"]
        )
        feedbacks = [said for turn in item["turns"] for said in turn["feedbacks"]]
        assert len(feedbacks) == counts["total"]
        assert item["last_activity_at"] == max(said["ts"] for said in feedbacks)
        for turn in item["turns"]:
            assert list(turn) == ["turn_id", "ts", "feedbacks"]
            assert turn["ts"] == max(said["ts"] for said in turn["feedbacks"])
            for said in turn["feedbacks"]:
                assert list(said) == ["turn_id", "ts", "text", "reaction", "confidence", "origin", "rn"]
                assert said["turn_id"] == turn["turn_id"]
                assert said["rn"].startswith("ef:ACME:Support:chatbot:message:u")
        total += counts["total"]
    assert total == active(home).height > 20


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2, 4, 8, 9, 100])
def test_pages_put_together_are_one_page(home: Path, limit: int) -> None:
    whole = asked(home, *PERIOD)["items"]
    items: list[Any] = []
    cursor: list[str] = []
    while True:
        page = asked(home, *PERIOD, "--limit", str(limit), *cursor)
        assert len(page["items"]) <= limit
        items += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = ["--cursor", page["next_cursor"]]
    assert items == whole
    assert len(whole) == 9


@pytest.mark.slow
def test_both_days_are_included(home: Path) -> None:
    day = "2026-01-21"
    found = asked(home, "report", "reactions", "--from", day, "--to", day)
    said = [s for item in found["items"] for turn in item["turns"] for s in turn["feedbacks"]]
    assert {s["ts"][:10] for s in said} == {day}
    assert len(said) == active(home).filter(pl.col("event_date").cast(pl.String) == day).height
    assert asked(home, "report", "reactions", "--from", "2025-01-01", "--to", "2025-01-31")["items"] == []
    assert asked(home, *PERIOD, "--tenant", "somebody else")["items"] == []
    assert asked(home, *PERIOD, "--tenant", "ACME", "--project", "Support") == asked(home, *PERIOD)


@pytest.mark.slow
def test_turns_with_feedbacks(home: Path) -> None:
    found = asked(home, "report", "reactions", "--conversation", "c0")
    assert list(found) == ["user_id", "conversation_id", "turns"]
    rows = active(home).filter(pl.col("conversation_id") == "c0")
    assert sum(len(turn["feedbacks"]) for turn in found["turns"]) == rows.height
    for turn in found["turns"]:
        assert list(turn) == ["turn_id", "turn_log", "assistant", "user", "feedbacks", "reactions"]
        assert [r["id"] for r in turn["reactions"]] == sorted(r["id"] for r in turn["reactions"])
        assert len(turn["feedbacks"]) == sum(r["is_active"] for r in turn["reactions"])
    one = found["turns"][0]
    assert asked(home, "report", "reactions", "--conversation", "c0", "--turn", one["turn_id"])["turns"] == [one]


@pytest.mark.slow
def test_reports_for_people(home: Path) -> None:
    told = gristmill(home, *PERIOD, "--limit", "2").stdout
    assert "2 conversations with reactions, 2026-01-20..2026-01-31\nmore with --cursor " in told
    assert "…" in told
    told = gristmill(home, "report", "reactions", "--conversation", "c0").stdout
    assert told.startswith("conversation c0 of unknown user\n")
    expired = json.loads(
        gristmill(
            home,
            "query",
            "select reaction_id as i from core__reactions where inactive_reason = 'expired'",
            "--format",
            "json",
        ).stdout
    )
    told = gristmill(home, "why", expired[0]["i"]).stdout
    assert "    status    expired\n" in told
    assert "waits: dated 2090-01-01" in gristmill(home, "why", "ACME/Support/42").stdout
    assert "refused: bad_json:text" in gristmill(home, "why", "ACME/Support/43").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "2026-01-20"], "name the days with --from and --to, or a conversation with --conversation"),
        (["--from", "20 January", "--to", "2026-01-31"], "'20 January' is not a day such as 2026-01-31"),
        (["--from", "2026-01-31", "--to", "2026-01-30"], "--from 2026-01-31 is after --to 2026-01-30"),
        ([*PERIOD[2:], "--cursor", "bm9uc2Vuc2U"], "'bm9uc2Vuc2U' is no cursor of ours"),
        ([*PERIOD[2:], "--cursor", "é"], "is no cursor of ours"),
        ([*PERIOD[2:], "--turn", "t0"], "--turn is a turn of a conversation"),
        (["--conversation", "elsewhere"], "no reaction of conversation 'elsewhere' is known"),
        (["--conversation", "c0", "--turn", "t9"], "no reaction on turn 't9' of conversation 'c0' is known"),
        (["--conversation", "c0", *PERIOD[2:4]], "--conversation shows all of its turns"),
    ],
    ids=str,
)
def test_one_line_for_what_cannot_be_answered(home: Path, arguments: list[str], message: str) -> None:
    assert message in complaint(gristmill(home, "report", "reactions", *arguments))


@pytest.mark.slow
def test_a_cursor_of_another_question(home: Path) -> None:
    cursor = asked(home, *PERIOD, "--limit", "2")["next_cursor"]
    done = gristmill(home, "report", "reactions", "--from", "2026-01-20", "--to", "2026-01-30", "--cursor", cursor)
    assert "another period" in complaint(done)


def test_nothing_published_yet(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(source(home), many())
    assert "nothing is published" in complaint(gristmill(home, *PERIOD))


def test_the_contract_names_what_outputs_promise() -> None:
    promised = (
        "conversation_id turn_id user_id origin reaction confidence occurred_at is_active inactive_reason is_orphan rn"
    )
    assert set(promised.split()) <= set(TABLES["core__reactions"].columns)
