"""Progress of a run, on stderr, so that stdout holds results only: a picture that moves on a terminal, plain lines elsewhere.

The picture has one line a layer and one bar over all steps. A layer that is done stands still, with what it took; the one at work
is always in sight: where the terminal is too low for all, others give way.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from dagster_project.run.watching import Layer, Watcher

REFRESHED = 8  # times a second
BAR_COLUMNS, NAME_COLUMNS = 30, 8
SIGNS = {"done": "✓", "at work": "›", "waits": " ", "full": "━", "empty": "─"}
PLAIN_SIGNS = {"done": "+", "at work": ">", "waits": " ", "full": "#", "empty": "-"}


@contextmanager
def progress() -> Iterator[Watcher]:
    """What a run is to tell of its steps."""
    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal or os.environ.get("NO_COLOR"):
        yield PlainLines()
        return
    picture = Picture("utf" in console.encoding.lower())
    with Live(get_renderable=lambda: picture, console=console, refresh_per_second=REFRESHED, transient=True):
        yield picture


class PlainLines(Watcher):
    """A line for each step that wrote anything, and one for each layer that is done."""

    def has_ended(self, step: str, layer: Layer, written: Mapping[str, int]) -> None:
        for table, rows in written.items():
            print(f"{self.done} of {self.steps}  {table}: {rows:,} rows", file=sys.stderr)
        if layer.is_done:
            name = next(name for name, found in self.layers.items() if found is layer)
            print(
                f"{self.done} of {self.steps}  {name} done, {_steps(layer)} in {layer.seconds:.1f} s", file=sys.stderr
            )
            sys.stderr.flush()


class Picture(Watcher):
    """Drawn anew several times a second, however often it changes."""

    def __init__(self, has_signs: bool = True) -> None:
        super().__init__()
        self._signs = SIGNS if has_signs else PLAIN_SIGNS
        self._began_all = time.monotonic()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.max_height if options.height is None else options.height
        for line in self.drawn(max(1, height - 1)):
            yield Text(line, no_wrap=True, overflow="ellipsis", end="\n")

    def drawn(self, most_lines: int) -> list[str]:
        """The picture in at most so many lines: the bar, the layer at work, and as many others as there is room for."""
        names = list(self.layers)
        room = most_lines - 1
        first_open = next((name for name in names if not self.layers[name].is_done), None)
        important = self.at_work or first_open
        by_worth = sorted(names, key=lambda name: (name != important, self.layers[name].is_done))
        shown = set(by_worth[: max(0, room)])
        lines = [self._line(name) for name in names if name in shown]
        if not room and important:  # a single line is the bar and what is at work
            return [f"{self._bar()}  {self.layers[important].table or important}"]
        return [*lines, self._bar()]

    def _line(self, name: str) -> str:
        layer = self.layers[name]
        is_at_work = name == self.at_work
        sign = self._signs["done" if layer.is_done else "at work" if is_at_work else "waits"]
        counted = f"{layer.done:>3,} of {layer.steps:<3,}"
        took = f"{self._seconds(layer, is_at_work):>7.1f} s" if layer.done or is_at_work else " " * 9
        rows = f"{layer.rows:>13,} rows" if layer.rows else " " * 18
        return f"{sign} {name:<{NAME_COLUMNS}} {counted} {took} {rows}  {layer.table or ''}".rstrip()

    def _seconds(self, layer: Layer, is_at_work: bool) -> float:
        return layer.seconds + (time.monotonic() - self._began if is_at_work else 0)

    def _bar(self) -> str:
        took = f"{time.monotonic() - self._began_all:.0f} s"
        if not self.steps:
            return f"getting ready  {took}"
        full = BAR_COLUMNS * self.done // self.steps
        bar = self._signs["full"] * full + self._signs["empty"] * (BAR_COLUMNS - full)
        return f"{bar} {self.done} of {self.steps}  {took}"


def _steps(layer: Layer) -> str:
    return f"{layer.steps} {'step' if layer.steps == 1 else 'steps'}"
