"""Signals: the first one is obeyed between two tables, a second one always ends the process."""

import signal
import subprocess
import sys

import pytest

WAITS = "time.sleep(60)"
COMPUTES = "re.match('(a+)+$', 'a' * 60 + 'b')"  # for years, and Python calls no handler meanwhile
WORK = """
import re, sys, time
from concurrent.futures import ThreadPoolExecutor
from dagster_project.run.stop import STOP
STOP.listen()
print("listens", flush=True)
with ThreadPoolExecutor(1) as executor:  # as `gristmill run` does
    executor.submit(lambda: {work}).result()
"""


def at_work(work: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK.format(work=work)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "listens\n"
    return process


@pytest.mark.parametrize(("first", "second"), [("SIGTERM", "SIGTERM"), ("SIGINT", "SIGINT"), ("SIGINT", "SIGTERM")])
def test_a_second_signal_ends_the_process(first: str, second: str) -> None:
    process = at_work(WAITS)
    process.send_signal(signal.Signals[first])
    assert process.stderr
    assert (
        process.stderr.readline()
        == f"gristmill: {first}: stops before the next table; a second signal ends it at once\n"
    )
    process.send_signal(signal.Signals[second])
    assert process.wait() == 128 + signal.Signals[second]
    assert (
        process.stderr.read()
        == f"gristmill: ended at once by a second signal, {second}; the next run puts things right\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_even_while_a_library_keeps_python_waiting(number: signal.Signals) -> None:
    """The system itself acts on the second signal then; to a shell it is 128 + n all the same."""
    process = at_work(COMPUTES)
    while process.poll() is None:
        process.send_signal(number)  # two that come at once are one: the second must come after the first was taken
    assert process.returncode in (-number, 128 + number)  # Python may have come to its turn before the long call began
