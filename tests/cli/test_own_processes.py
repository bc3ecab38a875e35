"""Commands that read what is published, each in a process of its own: none finds in it what another has imported."""

from pathlib import Path

import pytest

from tests.conftest import finish, start
from tests.tables import table

QUEUES = ("safety", "corrections")
READING = [
    ("report", "session", "{session}"),
    ("review", "list"),
    ("review", "list", "--all", "--json"),
    *(("review", verb, "--queue", queue) for verb in ("list", "next") for queue in QUEUES),
    ("why", "{row}"),
    ("stats", "--system", "feedback"),
    ("query", "from core__feedback limit 3"),
    ("quarantine",),
]


@pytest.mark.slow
@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_it_reads_tables_and_views(published_home: Path, words: tuple[str, ...]) -> None:
    """A view is read by its contract and those of all it is made of."""
    row = (
        table(published_home, "core__feedback")
        .filter(session_id=table(published_home, "core__feedback_sessions")["session_id"][0])
        .row(0, named=True)
    )
    chosen = [word.format(session=row["session_id"], row=row["feedback_id"]) for word in words]
    done = finish(start(published_home, *chosen))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
