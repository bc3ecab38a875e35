"""Work on many things at once: as many threads as there are workers, results in the order of the things.

Polars, Arrow and DuckDB let go of Python's lock while they work, so threads are enough. What `work` does must depend on
its item alone and touch nothing that others share (the lake's catalogue, an open source, an account): it returns what is to
be noted, and whoever takes the results notes it, in one thread and in order. So how many workers there are decides how long
it takes and nothing else.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def nothing_to_check() -> None:
    """Where nobody can ask to stop."""


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    check: Callable[[], None] = nothing_to_check,
) -> Iterator[Result]:
    """What `work` makes of each item, in the order of the items.

    Items are taken in the caller's thread, so they may stream from a source, and at most `workers` of them are under way or
    wait for their turn: that bounds memory. `check` is asked before every item is taken and raises to stop. The first error,
    of an item, of the work on one or of a check, comes out where its result would; what has not begun then never does,
    and no thread is left when it is out, nor when the caller stops listening and closes.
    """
    if workers <= 1:  # no thread: the same calls one after the other
        for item in _checked(items, check):
            yield work(item)
        return
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="worker") as threads:
        try:
            for item in _checked(items, check):
                under_way.append(threads.submit(work, item))
                del item  # the worker's alone: it is let go of as soon as it is done
                if len(under_way) > workers:
                    yield under_way.popleft().result()
            while under_way:
                check()
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def _checked(items: Iterable[Item], check: Callable[[], None]) -> Iterator[Item]:
    """The items, each after a check."""
    check()
    for item in items:
        yield item
        del item
        check()
