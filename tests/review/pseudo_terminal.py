"""A person at a terminal: the real command in a real pseudo-terminal, and a terminal emulator to read its screen with."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte

from tests.conftest import environment

PATIENCE_SECONDS = 30
A_QUICK_PERSON_SECONDS = 0.05  # between two keys
PROJECT = Path(__file__).parents[2]
WITH_A_QUEUE_OF_TESTS = (sys.executable, "-m", "tests.review.review_command")


class Person:
    """Use as a context manager; leaving it ends the command, however it is doing."""

    def __init__(
        self,
        home: Path,
        reviewer: str = "ana",
        columns: int = 80,
        rows: int = 24,
        command: Sequence[str] = WITH_A_QUEUE_OF_TESTS,
        verb: str = "review",
        **env: str,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.received = b""
        self.master, terminal = pty.openpty()
        self.set_size(columns, rows)
        self.settings_before = termios.tcgetattr(terminal)
        self.process = subprocess.Popen(
            [*command, "--home", str(home), verb, "--reviewer", reviewer],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=PROJECT,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  or a new size would reach nobody
            env={**environment(TERM="xterm-256color", LANG="C.UTF-8"), **env},
        )
        self.terminal = terminal  # kept open, so that what was sent can be read after the command has ended

    def __enter__(self) -> "Person":
        return self

    def __exit__(self, *failure: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        if self.master >= 0:
            os.close(self.master)

    # --- doing ---------------------------------------------------------------------------------------------------

    def press(self, keys: str) -> None:
        time.sleep(A_QUICK_PERSON_SECONDS)
        os.write(self.master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.set_size(columns, rows)

    def set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    # --- seeing --------------------------------------------------------------------------------------------------

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def sees(self, text: str) -> list[str]:
        """Wait until the text is somewhere on the screen; the screen's lines."""
        return self.waits_for(lambda: any(text in line for line in self.lines), text)

    def no_longer_sees(self, text: str) -> list[str]:
        return self.waits_for(lambda: not any(text in line for line in self.lines), f"no {text}")

    def waits_for(self, condition: Callable[[], bool], what: str) -> list[str]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{what!r} never came:\n" + "\n".join(self.lines)
            self._receive(0.05)
        return self.lines

    def _receive(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            data = os.read(self.master, 65536)
            self.received += data
            self._stream.feed(data)
        return bool(ready)

    def leaves(self) -> int:
        """Wait for the command to end; its exit code."""
        self.waits_for(lambda: self.process.poll() is not None, "the end")
        while self._receive(0):
            pass
        return self.process.returncode
