"""`gristmill report session ID`: seed 0's session object of a feedback session."""

import json
from pathlib import Path

from tests.conftest import ask, complaint, gristmill, main_source
from tests.systems.sessions.session_database import rows


def test_session_object(published_home: Path) -> None:
    session_id, quality = rows(
        published_home,
        "select session_id, session_quality from feedback_sessions order by feedback_given desc, 1 limit 1",
    )[0]
    done = gristmill(published_home, "report", "session", session_id, "--json")
    found = json.loads(done.stdout)
    assert list(found) == ["success", "session_id", "feedback", "session_quality"]
    assert (found["success"], found["session_id"], found["session_quality"]) == (True, session_id, quality)
    stored = ask(
        main_source(published_home),
        "select feedback_id, response_id, feedback_type, rating, correction, preferred_response, flag_type, timestamp "
        f"from feedback where session_id = '{session_id}' order by timestamp, feedback_id",
    )
    place = {"rating": 3, "correction": 4, "preference": 5, "flag": 6}
    names = {"preference": "preferred_response", "flag": "flag_type"}
    assert found["feedback"] == [
        {
            "feedback_id": row[0],
            "response_id": row[1],
            "feedback_type": row[2],
            names.get(row[2], row[2]): row[place[row[2]]],
            "timestamp": row[7],
        }
        for row in stored
    ]
    assert len(found["feedback"]) > 1
    assert (
        f"{len(stored)} feedback rows, session quality"
        in gristmill(published_home, "report", "session", session_id).stdout
    )


def test_an_unknown_session_is_one_line(published_home: Path) -> None:
    assert "no session 'nobody'" in complaint(gristmill(published_home, "report", "session", "nobody"))
