"""Progress that is true: one bar over the steps, a line a layer, the one at work always in sight; plain lines elsewhere."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pyte
import pytest

from dagster_project.cli.progress import Picture, PlainLines
from dagster_project.run.watching import Watcher
from tests.conftest import GRISTMILL, environment
from tests.systems.feedback.feedback_rows import add_feedback

GROUPS = {"raw_a": "raw", "quarantine__rows": "quarantine", "core__a": "core", "core__b": "core", "metric__a": "metric"}
GROUPS |= {"train__a": "train", "warehouse": "serving"}
PATIENCE_SECONDS = 60

# A run as a terminal sees it: each line of its input takes it one step further.
CHILD = """
import sys
from dagster_project.cli.progress import progress
from tests.cli.test_progress import GROUPS
with progress() as watcher:
    sys.stdin.readline()
    watcher.plans(GROUPS)
    for step in GROUPS:
        watcher.begins(step)
        watcher.wrote(step, 1234)
        sys.stdin.readline()
        watcher.ends(step)
print("the end")
"""


def after(watcher: Watcher, *done: str, at_work: str | None = None) -> Watcher:
    watcher.plans(GROUPS)
    for step in done:
        watcher.begins(step)
        watcher.wrote(step, 1234)
        watcher.ends(step)
    if at_work:
        watcher.begins(at_work)
    return watcher


def drawn(most_lines: int, *done: str, at_work: str | None = None) -> list[str]:
    picture = Picture()
    after(picture, *done, at_work=at_work)
    return picture.drawn(most_lines)


def test_layers_and_steps_are_counted() -> None:
    watcher = after(Watcher(), "raw_a", "core__a", at_work="core__b")
    assert (watcher.steps, watcher.done, watcher.at_work) == (7, 2, "core")
    assert [(name, layer.done, layer.steps, layer.rows, layer.is_done) for name, layer in watcher.layers.items()] == [
        ("raw", 1, 2, 1234, False),
        ("core", 1, 2, 1234, False),
        ("metric", 0, 1, 0, False),
        ("train", 0, 1, 0, False),
        ("publish", 0, 1, 0, False),
    ]


def test_a_layer_that_is_done_stands_still() -> None:
    picture = Picture()
    after(picture, "raw_a", "quarantine__rows")
    before = picture.drawn(24)[0]
    assert before.startswith("✓ raw        2 of 2")
    time.sleep(0.15)
    assert picture.drawn(24)[0] == before


@pytest.mark.parametrize("most_lines", range(1, 9))
def test_the_layer_at_work_and_the_bar_are_in_sight_at_any_height(most_lines: int) -> None:
    lines = drawn(most_lines, "raw_a", "quarantine__rows", "core__a", at_work="metric__a")
    assert len(lines) == min(most_lines, 6)
    assert "3 of 7" in lines[-1]
    assert any("metric__a" in line for line in lines)


def test_what_is_left_out_first_is_what_is_done() -> None:
    lines = drawn(4, "raw_a", "quarantine__rows", "core__a", "core__b", at_work="train__a")
    assert [line.split()[0 if line[0] == " " else 1] for line in lines[:-1]] == ["metric", "train", "publish"]


def test_before_steps_are_known_it_says_so() -> None:
    assert Picture().drawn(8)[0].startswith("getting ready")


def test_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A step that wrote nothing has no line."""
    watcher = PlainLines()
    after(watcher, "raw_a")
    watcher.begins("quarantine__rows")
    watcher.ends("quarantine__rows")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 7  raw_a: 1,234 rows"
    assert lines[1].startswith("2 of 7  raw done, 2 steps in 0.0 s")
    assert len(lines) == 2


# --- a real terminal -------------------------------------------------------------------------------------------------


class Seen:
    """A command whose stderr is a terminal of so many rows, and what is on its screen."""

    def __init__(self, rows: int, command: list[str], cwd: Path, **env: str) -> None:
        self.screen = pyte.Screen(90, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.master, terminal = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 90, 0, 0))
        told_otherwise = (
            "NO_COLOR",
            "LINES",
            "COLUMNS",
        )  # the last two would say how large the terminal of the tests is
        inherited = {name: value for name, value in environment().items() if name not in told_otherwise}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=terminal,
            cwd=cwd,
            env={**inherited, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env},
        )
        os.close(terminal)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display if line.strip()]

    def go_on(self) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def sees(self, *texts: str) -> list[str]:
        """Wait until all of these are on the screen at once."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(any(text in line for line in self.lines) for text in texts):
            assert time.monotonic() < deadline, f"{texts} never came:\n" + "\n".join(self.lines)
            assert self.receives(), f"{texts} never came:\n" + "\n".join(self.lines)
        return self.lines

    def receives(self) -> bool:
        """False once there will be nothing more."""
        if select.select([self.master], [], [], 0.05)[0]:
            try:
                self._stream.feed(os.read(self.master, 65536))
            except OSError:  # the other end is closed
                return False
        return True


@contextmanager
def terminal(rows: int, command: list[str], cwd: Path, **env: str) -> Iterator[Seen]:
    seen = Seen(rows, command, cwd, **env)
    try:
        yield seen
    finally:
        if seen.process.poll() is None:
            seen.process.kill()
        seen.process.communicate()
        os.close(seen.master)


@pytest.mark.parametrize("rows", [4, 8, 24, 50])
def test_in_a_terminal(rows: int) -> None:
    """The step at work and the bar are on the screen all the time, and nothing is left of them at the end."""
    root = Path(__file__).parents[2]
    with terminal(rows, [sys.executable, "-c", CHILD], root) as seen:
        seen.sees("getting ready")
        for number, step in enumerate(GROUPS):
            seen.go_on()
            lines = seen.sees(f"{number} of 7", step)
            assert len(lines) <= min(rows - 1, 6)
        seen.go_on()
        while seen.receives():
            pass
        assert seen.lines == []
        assert seen.process.communicate()[0] == b"the end\n"


def test_no_colour_means_plain_lines() -> None:
    with terminal(24, [sys.executable, "-c", CHILD], Path(__file__).parents[2], NO_COLOR="1") as seen:
        for _ in range(len(GROUPS) + 1):
            seen.go_on()
        while seen.receives():
            pass
        assert seen.lines[0] == "1 of 7  raw_a: 1,234 rows"
        assert seen.lines[-1].startswith("7 of 7  publish done, 1 step in ")


@pytest.mark.slow
def test_a_run_in_a_low_terminal(tmp_path: Path) -> None:
    """All its steps, and then one screen of what it came to, with three things to try next."""
    home = tmp_path / "home"
    add_feedback(home / "sources" / "feedback.db", *({"day": date(2026, 1, 10)} for _ in range(4)))
    with terminal(8, [str(GRISTMILL), "--home", str(home), "run"], tmp_path) as seen:
        seen.sees("✓ raw", "› core")
        while seen.receives():
            assert len(seen.lines) <= 7
        output, _ = seen.process.communicate()
        assert seen.process.returncode == 0
    lines = output.decode().splitlines()
    assert len(lines) <= 24
    assert "  feedback      read 4 = kept 4 + quarantined 0 + copies 0" in lines
    assert lines[-4] == "to try next"
    assert [line.split()[1] for line in lines[-3:]] == ["status", "query", "sample"]
