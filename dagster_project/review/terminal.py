"""The window itself: raw keys in, frames out, and the terminal as it was when it ends, however it ends.

Only sequences every terminal of the last decades knows are used, so no terminfo entry has to be on the far side of an ssh
connection. Interrupts arrive as keys or as flags, never as exceptions: nothing breaks off half way through a decision.
"""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

from dagster_project.errors import GristmillError
from dagster_project.review.keys import Key, KeyReader
from dagster_project.review.screen import REVIEWING, Frame, Row, Task, View, body, frame
from dagster_project.review.sitting import Sitting

ENTER = "\x1b[?1049h\x1b[?2004h\x1b[?7l"  # another screen; pastes are marked as such; long lines do not wrap
LEAVE = "\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?1049l\x1b[?25h"
COLOURED = {
    "header": "\x1b[7m",
    "keys": "\x1b[7m",
    "message": "\x1b[1m",
    "rule": "\x1b[2m",
    "removed": "\x1b[31;4m",
    "added": "\x1b[32;1m",
}
PLAIN = COLOURED | {"removed": "\x1b[4m", "added": "\x1b[1m"}
IN_ASCII = str.maketrans("│─┬·→↵…␊", "|-+._$~$")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ESCAPE_SECONDS = 0.1  # how long the rest of a sequence may take over a slow line
HELD_SECONDS = 0.045  # a key that comes again this soon is held down: nobody presses, let alone judges, that fast
INTERRUPTED = 128 + signal.SIGINT
ELSEWHERE = "review needs a terminal; elsewhere use `gristmill review approve ID`, `reject ID` or `import FILE`"


def check_terminal(environ: Mapping[str, str] = os.environ, elsewhere: str = ELSEWHERE) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or environ.get("TERM", "dumb") == "dumb":
        raise GristmillError(elsewhere)


def review_in_terminal(
    sitting: Sitting,
    first_message: str = "",
    task: Task = REVIEWING,
    progress: Callable[[Sitting], str] = lambda _: "",
) -> int:
    """Let a person work until they leave. The exit code: 0, or what the signal that ended it asks for."""
    window = Window(sitting, first_message, task, progress)
    with window.open():
        return window.run()


class Window:
    def __init__(self, sitting: Sitting, message: str, task: Task, progress: Callable[[Sitting], str]) -> None:
        self.sitting = sitting
        self.task = task
        self.progress = progress
        self.view = View(sitting.reviewer, None, message=message)
        self.styles = PLAIN if os.environ.get("NO_COLOR") else COLOURED
        self.encoding = sys.stdout.encoding or "utf-8"
        self.keys = KeyReader()
        self.exit_code: int | None = None
        self.held: tuple[str, float] = ("", 0.0)  # the latest verdict key, and when it arrived
        self.arrived = 0.0
        self._body: tuple[Any, list[Row]] = (None, [])
        self._page = 1
        self.actions: dict[str, Callable[[], None]] = {
            **{key: partial(self._decide, key) for key in task.verdicts},
            **({"n": self._start_note} if task.has_notes else {}),
            **({"f": lambda: self._show(is_whole=not self.view.is_whole, top=0)} if task.folds else {}),
            "s": self._skip,
            "u": self._undo,
            "b": self._back,
            "?": lambda: self._show(is_help=True, top=0),
            "q": lambda: self._leave(0),
            "ctrl-d": lambda: self._leave(0),
            "ctrl-z": self._suspend,
            "ctrl-l": lambda: None,
            "up": lambda: self._scroll(-1),
            "k": lambda: self._scroll(-1),
            "down": lambda: self._scroll(1),
            "j": lambda: self._scroll(1),
            "page up": lambda: self._scroll(-self._page),
            "page down": lambda: self._scroll(self._page),
            " ": lambda: self._scroll(self._page),
            "home": lambda: self._show(top=0),
            "end": lambda: self._show(top=len(self._body[1])),
        }

    # --- the terminal --------------------------------------------------------------------------------------------

    @contextmanager
    def open(self) -> Iterator[None]:
        """Take the terminal over and give it back."""
        self._input, self._output = sys.stdin.fileno(), sys.stdout.fileno()
        sys.stdout.flush()
        self._before = termios.tcgetattr(self._input)
        self._wake_up, wake = os.pipe()
        os.set_blocking(self._wake_up, False)
        os.set_blocking(wake, False)
        handlers = {number: signal.signal(number, self._on_signal) for number in (*SIGNALS, signal.SIGWINCH)}
        old_wake = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        try:
            self._enter()
            yield
        finally:
            with suppress(OSError, termios.error):  # a terminal that is gone needs no putting back
                self._exit()
            signal.set_wakeup_fd(old_wake)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.close(wake)
            os.close(self._wake_up)

    def _enter(self) -> None:
        tty.setraw(self._input, termios.TCSADRAIN)
        self._write(ENTER)

    def _exit(self) -> None:
        self._write(LEAVE)
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def _suspend(self) -> None:
        """Stop as any program does at ctrl-z, and come back with a whole screen."""
        self._exit()
        os.kill(0, signal.SIGTSTP)
        self._enter()

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if number != signal.SIGWINCH:
            self.exit_code = 128 + number

    def _write(self, text: str) -> None:
        if "utf" not in self.encoding.lower():
            text = text.translate(IN_ASCII)
        data = text.encode(self.encoding, "replace")
        while data:
            data = data[os.write(self._output, data) :]

    # --- the loop ------------------------------------------------------------------------------------------------

    def run(self) -> int:
        self._refresh()
        while self.exit_code is None:
            try:
                self._draw()
                keys = self._read_keys()
            except OSError:  # the line is gone; every decision is on disk
                return 128 + signal.SIGHUP
            for key in keys:
                if self.exit_code is None:
                    self._press(key)
        return self.exit_code

    def _read_keys(self) -> list[Key]:
        """Wait for keys, a new size or a signal."""
        sources = [self._input, self._wake_up]
        ready, _, _ = select.select(sources, [], [], 0)
        if not ready:
            ready, _, _ = select.select(sources, [], [], ESCAPE_SECONDS if self.keys.is_waiting else None)
            if not ready:
                return self.keys.give_up()
            self.arrived = time.monotonic()  # what was there at once was typed before this screen was seen
        if self._wake_up in ready:
            with suppress(BlockingIOError):
                os.read(self._wake_up, 4096)
        if self._input not in ready:
            return []
        data = os.read(self._input, 4096)
        if not data:
            raise OSError("the terminal is closed")
        return self.keys.feed(data)

    def _draw(self) -> None:
        columns, height = os.get_terminal_size(self._output)
        columns, height = columns or 80, height or 24
        view = self.view
        deciding = (view.item and view.item.id, view.own, view.others, view.is_help, view.is_whole, columns)
        if self._body[0] != deciding:
            self._body = (deciding, body(view, columns, self.task))
        drawn = frame(view, self._body[1], columns, height, self.task)
        self.view = replace(self.view, top=drawn.top)
        self._page = max(drawn.page - 1, 1)
        self._write(painted(drawn, self.styles))

    # --- what keys do --------------------------------------------------------------------------------------------

    def _press(self, key: Key) -> None:
        if key.name.lower() != self.held[0]:
            self.held = ("", 0.0)
        if key.name == "ctrl-c":
            self._leave(INTERRUPTED)
        elif self.view.typing is not None:
            self._type(key, self.view.typing)
        elif self.view.is_help:
            self._show(is_help=False, top=0)
        elif action := self.actions.get(key.name.lower()):
            try:
                action()
            except GristmillError as error:  # it was not saved: stay, and say so
                self._show(message=str(error))

    def _leave(self, code: int) -> None:
        self.exit_code = code

    def _show(self, **changes: Any) -> None:
        self.view = replace(self.view, **changes)

    def _refresh(self, **changes: Any) -> None:
        """Look at the sitting again after something was done in it."""
        sitting = self.sitting
        self._show(
            item=sitting.item,
            left=sitting.left,
            progress=self.progress(sitting),
            own=sitting.own_voice(),
            others=tuple(sitting.shown_verdicts()),
            **changes,
        )

    def _scroll(self, lines: int) -> None:
        self._show(top=max(self.view.top + lines, 0))

    def _decide(self, key: str) -> None:
        is_held = self.held[0] == key and self.arrived - self.held[1] < HELD_SECONDS
        self.held = (key, self.arrived)
        if is_held or self.sitting.item is None:
            return
        example_id = self.sitting.item.id
        verdict = self.task.verdicts[key]
        self.sitting.decide(verdict)
        self._refresh(message=f"{verdict} {example_id}; u undoes", top=0, is_whole=False)

    def _skip(self) -> None:
        self.sitting.skip()
        self._refresh(message="", top=0, is_whole=False)

    def _undo(self) -> None:
        is_done = self.sitting.undo()
        self._refresh(message="taken back" if is_done else "nothing decided in this sitting", top=0)

    def _back(self) -> None:
        has_moved = self.sitting.back()
        self._refresh(message="" if has_moved else "this is where you began", top=0)

    def _start_note(self) -> None:
        if self.sitting.item is not None:
            voice = self.sitting.own_voice()
            self._show(typing=voice.note if voice else "", message="")

    def _type(self, key: Key, written: str) -> None:
        if key.name == "enter":
            self._show(typing=None)
            try:
                self.sitting.keep_note(written.strip())
            except GristmillError as error:
                self._show(message=str(error), typing=written)
            else:
                self._refresh(message="note kept")
        elif key.name == "escape":
            self._show(typing=None)
        elif key.name == "backspace":
            self._show(typing=written[:-1])
        elif key.name == "ctrl-u":
            self._show(typing="")
        elif key.name == "ctrl-w":
            self._show(typing=" ".join(written.split(" ")[:-1]))
        elif key.name == "paste" or (len(key.name) == 1 and key.name.isprintable()):
            self._show(typing=written + " ".join((key.text or key.name).split("\n")))


def painted(drawn: Frame, styles: Mapping[str, str]) -> str:
    """A frame as what a terminal is sent: every row wiped and written at its place, the right half at its own."""
    parts = ["\x1b[?25l"]
    for number, row in enumerate(drawn.rows, start=1):
        parts.append(f"\x1b[{number};1H\x1b[0m\x1b[2K")
        halves = [row.left] if row.right is None else [row.left, row.right]
        for column, half in zip((1, row.middle + 1), halves, strict=False):
            parts.append(f"\x1b[{number};{column}H" if column > 1 else "")
            parts += [f"{styles[piece.style]}{piece.text}\x1b[0m" if piece.style else piece.text for piece in half]
    if drawn.cursor:
        parts.append("\x1b[{};{}H\x1b[?25h".format(*drawn.cursor))
    return "".join(parts)
