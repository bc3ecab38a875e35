"""`on_failure`: a command or an address is told of a run that did not go well, and nothing it does changes what becomes of the run."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from dagster_project import config
from dagster_project.errors import GristmillError
from dagster_project.registry import open_run
from dagster_project.run.calling import call, shown
from dagster_project.run.run_log import append, runs
from tests.conftest import gristmill
from tests.systems.feedback.feedback_rows import add_feedback

BODY = {"event": "run_failed", "text": "Gristmill: it failed: a „reason“", "outcome": "failed"}


class Inbox(HTTPServer):
    def __init__(self) -> None:
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                inbox.received.append((self.headers["Content-Type"], json.loads(body)))
                time.sleep(inbox.seconds)
                self.send_response(inbox.answer)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on stderr."""

        self.received: list[Any] = []
        self.answer, self.seconds = 200, 0.0
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/services/T0/secret"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with Inbox() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_address_is_posted_to(inbox: Inbox) -> None:
    assert call(inbox.address, BODY, "json") is None
    assert call(inbox.address, BODY, "slack") is None
    json_type = "application/json; charset=utf-8"
    assert inbox.received == [(json_type, BODY), (json_type, {"text": BODY["text"]})]


def test_what_goes_wrong_there_is_one_line_without_the_address(inbox: Inbox) -> None:
    """A webhook's path is a secret."""
    inbox.answer = 403
    assert call(inbox.address, BODY, "json") == "http://127.0.0.1/… answered 403"
    inbox.seconds = 0.5
    assert call(inbox.address, BODY, "json", 0.05) == "http://127.0.0.1/… did not answer within 0.05 seconds"
    nobody = "http://127.0.0.1:9/secret"
    assert call(nobody, BODY, "json") == "http://127.0.0.1/… cannot be reached (ConnectionRefusedError)"
    assert shown(inbox.address) == "http://127.0.0.1/…"


def test_a_command_is_given_json(tmp_path: Path) -> None:
    assert call(f"cat > {tmp_path}/told && echo done", BODY, "json") is None
    assert json.loads((tmp_path / "told").read_text(encoding="utf-8")) == BODY


def test_a_command_that_fails_or_hangs_is_told(tmp_path: Path) -> None:
    assert call("echo one >&2; echo two >&2; exit 3", BODY, "json") == (
        "echo one >&2; echo two >&2; exit 3 ended with 3: two"
    )
    began = time.monotonic()
    assert call("sleep 60 & sleep 60", BODY, "json", 0.1) == (
        "sleep 60 & sleep 60 took longer than 0.1 seconds and was ended"
    )
    assert time.monotonic() - began < 30
    assert call("no_such_command", BODY, "json", 5) is not None


def fail(home: Path, **environ: str) -> None:
    settings = config.load(home=home, environ={"GRISTMILL_MIN_FREE_MB": "999999999", **environ})
    with pytest.raises(GristmillError, match="MB free"), open_run(settings, started_by="schedule daily_refresh"):
        pass


def test_a_run_that_fails_is_told_and_so_is_the_one_before_that_was_killed(tmp_path: Path) -> None:
    """Whoever was killed can tell nobody: the next run does."""
    add_feedback(tmp_path / "sources" / "feedback.db")
    append(tmp_path, {"run": "k", "started": "2026-01-01T00:00:00+00:00", "started_by": "command line", "pid": 7})
    fail(tmp_path, GRISTMILL_ON_FAILURE=f"(cat; echo) >> {tmp_path}/told")
    killed, failed = map(json.loads, (tmp_path / "told").read_text(encoding="utf-8").splitlines())
    assert (killed["run_id"], killed["outcome"]) == ("k", "killed")
    assert (failed["outcome"], failed["started_by"], failed["event"]) == (
        "failed",
        "schedule daily_refresh",
        "run_failed",
    )
    assert failed["text"] == f"Gristmill: the run on {tmp_path} (by schedule daily_refresh) failed: {failed['reason']}"
    assert "MB free" in failed["reason"]


def test_a_hook_that_fails_is_one_line_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_feedback(tmp_path / "sources" / "feedback.db")
    fail(tmp_path, GRISTMILL_ON_FAILURE="exit 4")
    assert capsys.readouterr().err == "gristmill: on_failure: exit 4 ended with 4\n"
    assert [entry["outcome"] for entry in runs(tmp_path)] == ["failed"]


def test_a_run_that_cannot_even_begin_is_put_down_and_told(tmp_path: Path) -> None:
    """Its only source is gone before anything was read: the reason stands in the record of a home that has one."""
    home = tmp_path / "home"
    append(home, {"run": "a", "started": "2026-01-01T00:00:00+00:00", "outcome": "published"})
    done = gristmill(home, "run", env={"GRISTMILL_FEEDBACK": "gone.db", "GRISTMILL_ON_FAILURE": f"cat > {home}/told"})
    assert done.returncode == 1
    entry = runs(home)[-1]
    assert (entry["outcome"], entry["reason"]) == ("failed", done.stderr.strip().removeprefix("gristmill: "))
    assert json.loads((home / "told").read_text(encoding="utf-8"))["reason"] == entry["reason"]


def test_an_address_is_not_shown_with_the_settings(tmp_path: Path) -> None:
    env = {"GRISTMILL_ON_FAILURE": "https://hooks.example/services/T0B1"}
    for words in (("config",), ("config", "--json")):
        told = gristmill(tmp_path, *words, env=env).stdout
        assert "https://hooks.example/…" in told and "T0B1" not in told
