"""Progress of a run: a live line on a terminal, plain lines elsewhere. On stderr, so that stdout holds results only."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def progress() -> Iterator[Callable[[str, int], None]]:
    """Give the function that stages call with a table and the rows just written to it."""
    totals: dict[str, int] = {}
    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")))
    if not console.is_terminal:
        yield lambda table, rows: _plain_line(totals, table, rows)
        _finish_plain(totals)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f} rows"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        tasks = {}

        def report(table: str, rows: int) -> None:
            if table not in tasks:
                tasks[table] = bar.add_task(table, total=None)
            bar.advance(tasks[table], rows)

        yield report


def _plain_line(totals: dict[str, int], table: str, rows: int) -> None:
    if table not in totals:
        _finish_plain(totals)
    totals[table] = totals.get(table, 0) + rows


def _finish_plain(totals: dict[str, int]) -> None:
    """Say the last table's total once the next one begins."""
    if totals:
        table, rows = list(totals.items())[-1]
        if rows >= 0:
            print(f"{table}: {rows:,} rows", file=sys.stderr)
