"""engines/workers.py: order, bounds, errors and stopping, whatever the number of workers."""

import threading
import time
from collections.abc import Iterator

import pytest

from dagster_project.engines.workers import in_order
from dagster_project.errors import Stopped

MANY = (1, 2, 3, 8)


def square(number: int) -> int:
    time.sleep(0.001 * (7 - number % 7))  # later ones are done earlier
    return number * number


@pytest.mark.parametrize("workers", MANY)
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(in_order(square, range(20), workers)) == [number * number for number in range(20)]


@pytest.mark.parametrize("workers", MANY)
def test_nothing_comes_of_nothing(workers: int) -> None:
    assert list(in_order(square, [], workers)) == []


@pytest.mark.parametrize("workers", MANY)
def test_items_are_taken_no_further_ahead_than_there_are_workers(workers: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(30):
            taken.append(number)
            yield number

    ahead = [len(taken) - done for done, _ in enumerate(in_order(square, items(), workers))]
    assert max(ahead) == (1 if workers == 1 else workers + 1)


def test_items_are_taken_in_the_callers_thread_and_worked_on_in_others() -> None:
    taken: set[str] = set()

    def items() -> Iterator[int]:
        for number in range(10):
            taken.add(threading.current_thread().name)
            yield number

    working = {*in_order(lambda _: threading.current_thread().name, items(), 2)}
    assert taken == {threading.current_thread().name}
    assert not working & taken


@pytest.mark.parametrize("workers", MANY)
def test_the_first_error_comes_out_in_its_place_and_nothing_begins_after_it(workers: int) -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 5:
            raise ValueError("the fifth")
        return number

    results = in_order(work, range(1000), workers)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="the fifth"):
        next(results)
    assert max(begun) <= 5 + 2 * workers
    assert not workers_left()


@pytest.mark.parametrize("workers", MANY)
def test_an_error_of_the_items_ends_it_too(workers: int) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(in_order(square, items(), workers))
    assert not workers_left()


@pytest.mark.parametrize("workers", MANY)
def test_a_check_stops_it_between_two_items(workers: int) -> None:
    done: list[int] = []

    def check() -> None:
        if done:
            raise Stopped("stopped by SIGTERM; nothing was published", 143)

    with pytest.raises(Stopped):
        list(in_order(done.append, range(1000), workers, check))
    assert len(done) <= workers + 1
    assert not workers_left()


@pytest.mark.parametrize("workers", MANY)
def test_no_thread_is_left_when_the_caller_stops_listening(workers: int) -> None:
    results = in_order(square, range(1000), workers)
    next(results)
    results.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert not workers_left()


def workers_left() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("worker")]
