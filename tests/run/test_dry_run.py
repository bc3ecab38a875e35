"""`run --dry-run`: which days would be read again and why (G7); nothing published is touched."""

import fcntl
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.conftest import change, complaint, content, gristmill, run
from tests.systems.feedback.feedback_rows import add_feedback, noon

ENTRIES = "raw_feedback__entries"
FIRST = date(2026, 1, 10)
DAYS = [FIRST + timedelta(days=back) for back in range(10)]


def source(home: Path) -> Path:
    return home / "sources" / "feedback.db"


def planned(home: Path, *arguments: str) -> list[str]:
    done = gristmill(home, "run", "--dry-run", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def published(home: Path) -> dict[str, bytes]:
    """All of the home but what looking at it leaves: the cache of how sources looked."""
    return {name: data for name, data in content(home).items() if name not in ("lock", "runs/fingerprints.json")}


@pytest.mark.slow
def test_days_and_why(tmp_path: Path) -> None:
    home = tmp_path / "home"
    rows = [{"day": day, "feedback_id": f"{day}"} for day in DAYS]
    add_feedback(source(home), *rows, {"day": DAYS[2], "feedback_id": "bad", "rating": 9})
    before = published(home)
    end = "as of 2026-01-20 00:00 UTC (the end of the newest day that is over):"
    assert planned(home) == [
        f"{end} a run would read 10 days again and make a release; nothing was changed",
        f"  {ENTRIES}  2026-01-10 to 2026-01-19: new",
    ]
    assert published(home) == before

    run(home)
    change(
        source(home),
        "update feedback set rating = -1, processed = 1 where feedback_id = '2026-01-11'",
        "update feedback set original_query = 'Which tides?' where feedback_id = 'bad'",
        "delete from feedback where feedback_id = '2026-01-14'",
        f"update feedback set timestamp = {noon(date(2026, 1, 8))} where feedback_id = '2026-01-16'",
    )
    before = published(home)
    assert planned(home) == [
        f"{end} a run would read 8 days again and make a release; nothing was changed",
        f"  {ENTRIES}  2026-01-08: new",
        f"  {ENTRIES}  2026-01-11: looks different at the source",
        f"  {ENTRIES}  2026-01-12: a refused row has changed",
        f"  {ENTRIES}  2026-01-14, 2026-01-16: gone at the source",
        f"  {ENTRIES}  2026-01-17 to 2026-01-19: one of the last 3 days",
    ]
    assert planned(home, "--from", "2026-01-12", "--to", "2026-01-13") == [
        f"{end} a run would read 3 days again and make a release; nothing was changed",
        f"  {ENTRIES}  2026-01-08: new",
        f"  {ENTRIES}  2026-01-12 to 2026-01-13: asked for",
    ]
    assert planned(home, "--full")[1] == f"  {ENTRIES}  2026-01-08, 2026-01-10 to 2026-01-19: asked for"
    assert published(home) == before
    with (home / "lock").open("a+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is in use by" in complaint(gristmill(home, "run", "--dry-run"))
    (home / "commit.json").write_text("{}", encoding="utf-8")
    assert "a publication is half done" in complaint(gristmill(home, "run", "--dry-run"))
