"""Views in an analyst's words, on a few rows: complaints, judged turns, releases, workspaces, restatements."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.sql.harness import AS_OF, run_one_after_another, run_sql

Row = dict[str, Any]
DAY = date(2026, 1, 31)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def negative(system: str, key: str, **more: Any) -> Row:
    return {"signal_id": f"{system}:{key}", "system": system, "polarity": "negative", "answer_ref": "nobody", **more}


def test_complaints_have_what_was_asked_answered_and_said(tmp_path: Path) -> None:
    entries = ("correction", "flag", "preference", "rating")
    inputs: dict[str, list[Row]] = {
        "core__signals": [
            *(negative("feedback", kind, kind=kind, domain="code") for kind in entries),
            negative("conversations", "u1/1", kind="rejected"),
            negative("reactions", "r1", kind="not_ok", answer_ref="u1/1"),
            negative("sessions", "rating:s1", kind="rating", tenant_id="t", workspace_id="w"),
            {"signal_id": "feedback:good", "polarity": "positive"},
        ],
        "core__feedback": [
            {
                "feedback_id": kind,
                "effective_type": kind,
                "sentiment": "negative" if kind == "rating" else None,
                "comment": "useless" if kind == "rating" else None,
                "error_type": "outdated" if kind == "correction" else None,
                "flag_type": "harmful" if kind == "flag" else None,
            }
            for kind in entries
        ],
        "raw_feedback__entries": [
            {
                "feedback_id": kind,
                "rating_scale": "thumbs",
                "original_query": f"asked {kind}",
                "original_response": f"answered {kind}",
                "what_was_wrong": "too old" if kind == "correction" else None,
                "correction": "newer" if kind == "correction" else None,
                "preferred_response": "that one" if kind == "preference" else None,
                "comparison_basis": "shorter" if kind == "preference" else None,
                "flag_details": "burns" if kind == "flag" else None,
            }
            for kind in entries
        ],
        "core__turns": [
            {
                "turn_key": "u1/1",
                "feedback_status": "rejected",
                "correction_type": "rephrased",
                "user_said": "No, Rome.",
            }
        ],
        "raw_conversations__turns": [{"turn_key": "u1/1", "query": "flights", "response": "to Paris"}],
        "raw_reactions__reactions": [{"reaction_id": "r1", "reaction_text": "wrong city"}],
        "core__sessions": [{"session_id": "s", "feedback_id": "s1", "error_categories": ["hallucination", "other"]}],
        "raw_sessions__feedback": [{"id": "s1", "comment": "invented", "missing_context": "the brief"}],
    }
    found = {
        row["signal_id"]: tuple(
            row[name] for name in ("problem", "question", "answer", "said_by_user", "better_answer")
        )
        for row in run_sql(tmp_path, "complaints", inputs).to_dicts()
    }
    assert found == {
        "feedback:correction": ("outdated", "asked correction", "answered correction", "too old", "newer"),
        "feedback:flag": ("harmful", "asked flag", "answered flag", "burns", None),
        "feedback:preference": (
            "another answer preferred",
            "asked preference",
            "answered preference",
            "shorter",
            "that one",
        ),
        "feedback:rating": ("thumbs_down", "asked rating", "answered rating", "useless", None),
        "conversations:u1/1": ("rephrased", "flights", "to Paris", "No, Rome.", None),
        "reactions:r1": (None, "flights", "to Paris", "wrong city", None),
        "sessions:rating:s1": ("hallucination, other", None, None, "invented\nthe brief", None),
    }


def test_signals_have_a_day_and_what_their_system_knows(tmp_path: Path) -> None:
    """N: event_date is the UTC day on which the signal was given, not that of what it is about."""
    before, late = AS_OF - timedelta(days=1, hours=1), AS_OF - timedelta(minutes=1)
    inputs: dict[str, list[Row]] = {
        "core__feedback": [
            {"feedback_id": "f", "domain": "code", "occurred_at": before, "event_date": date(2026, 1, 30)}
        ],
        "core__turns": [
            {
                "feedback_status": "accepted",
                "occurred_at": before,
                "event_date": date(2026, 1, 30),
                "detected_at": late,
            }
        ],
        "core__reactions": [
            {
                "reaction_id": "r",
                "reaction": "ok",
                "tenant": "acme",
                "occurred_at": late,
                "event_date": DAY,
                "is_active": True,
            }
        ],
        "core__sessions": [
            {
                "session_id": "s",
                "feedback_id": "sf",
                "rating": "positive",
                "verdict": "approved",
                "tenant_id": "t",
                "workspace_id": "w",
                "started_at": before,
                "event_date": date(2026, 1, 30),
                "submitted_at": late,
            }
        ],
    }
    found = {
        row["signal_id"]: (row["event_date"], row["domain"], row["tenant_id"], row["workspace_id"])
        for row in run_sql(tmp_path, "core__signals", inputs).to_dicts()
    }
    assert found == {
        "feedback:f": (date(2026, 1, 30), "code", None, None),
        "conversations:u1/1": (DAY, None, None, None),
        "reactions:r": (DAY, None, "acme", None),
        "sessions:rating:sf": (DAY, None, "t", "w"),
        "sessions:verdict:sf": (DAY, None, "t", "w"),
    }


def test_calibration_by_class_is_made_of_the_turns_that_are_listed(tmp_path: Path) -> None:
    """C7: an accepted turn that people rate down is one the detector has wrong; neutral turns claim nothing."""
    turns = [("accepted", 0.95), ("accepted", 0.95), ("rejected", 0.92), ("neutral", 0.5)]
    votes = ["positive", "negative", "negative", "negative"]
    inputs: dict[str, list[Row]] = {
        "core__turns": [
            {"turn_key": f"u/{n}", "feedback_status": status, "feedback_confidence": confidence, "reason": "thanks"}
            for n, (status, confidence) in enumerate(turns)
        ],
        "core__signals": [
            {
                "signal_id": f"feedback:{n}",
                "answer_ref": f"u/{n}",
                "polarity": said,
                "occurred_at": NOON,
                "event_date": DAY,
            }
            for n, said in enumerate(votes)
        ],
    }
    names = ("core__judged_turns", "metric__detector_class_calibration")
    made = run_one_after_another(tmp_path, names, inputs)
    assert [(row["signal_id"], row["detected"], row["is_right"], row["reason"]) for row in made[names[0]]] == [
        ("feedback:0", "accepted", True, "thanks"),
        ("feedback:1", "accepted", False, "thanks"),
        ("feedback:2", "rejected", True, "thanks"),
    ]
    assert [
        (row["compared_with"], row["detected"], row["confidence_decile"], row["judged_count"], row["right_count"])
        for row in made[names[1]]
    ] == [("ratings", "accepted", 9, 2, 1), ("ratings", "rejected", 9, 1, 1)]
    accepted = made[names[1]][0]
    assert (accepted["right_share"], accepted["right_share_low"], accepted["right_share_high"]) == (
        0.5,
        0.094531,
        0.905469,
    )


def record(name: str, split: str = "train", **more: Any) -> Row:
    day = date(2026, 1, int(name[6:8]))
    return {"release": name, "release_date": day, "split": split, "quality_weight": 0.5, **more}


def test_releases_are_told_apart(tmp_path: Path) -> None:
    """T5: the tenth release of a day comes after the second, and both before none of another day."""
    inputs: dict[str, list[Row]] = {
        "train__instruction": [record("20260130.2", id="a"), record("20260130.10", id="a"), record("20260124", id="a")],
        "train__unpaired": [record("20260130.10", id="b"), record("20260130.10", "test", id="c", quality_weight=0.25)],
        "train__excluded": [
            {"id": "x", "release_date": date(2026, 1, 30), "reason": "flag", "format": "cot"},
            {"id": "x", "release_date": date(2026, 1, 20), "reason": "flag", "format": "cot"},
        ],
    }
    found = run_sql(tmp_path, "releases", {name: rows for name, rows in inputs.items() if name != "train__excluded"})
    columns = ("release", "is_newest", "format", "split", "record_count", "mean_weight")
    assert found.select(columns).rows() == [
        ("20260124", False, "instruction", "train", 1, 0.5),
        ("20260130.10", True, "instruction", "train", 1, 0.5),
        ("20260130.10", True, "unpaired", "test", 1, 0.25),
        ("20260130.10", True, "unpaired", "train", 1, 0.5),
        ("20260130.2", False, "instruction", "train", 1, 0.5),
    ]
    left_out = run_sql(tmp_path / "excluded", "training_exclusions", inputs)
    assert left_out.select("release", "is_newest", "id", "reason").rows() == [
        ("20260120", False, "x", "flag"),
        ("20260130.10", True, "x", "flag"),
    ]


def test_workspaces_and_documents_have_names_where_the_source_has_them(tmp_path: Path) -> None:
    sessions: list[Row] = [
        {
            "session_id": f"s{n}",
            "tenant_id": "t",
            "workspace_id": "w1" if n < 6 else "w2",
            "rating": "positive" if n < 4 else "negative",
            "document_ids": ["d1", "d2"],
        }
        for n in range(7)
    ]
    nodes: list[Row] = [
        {"id": "w1", "tenant_id": "t", "name": "Sales"},
        {"id": "w2", "tenant_id": "another", "name": "not ours"},
        {"id": "d1", "tenant_id": "t", "name": " Price list ", "type": "spec"},
    ]
    inputs = {"core__sessions": sessions, "raw_sessions__context_nodes": nodes}
    columns = ("workspace_id", "workspace_name", "session_count", "rated_count", "positive_rate", "first_day")
    assert run_sql(tmp_path, "workspaces", inputs).select(columns).rows() == [
        ("w1", "Sales", 6, 6, 0.666667, DAY),
        ("w2", None, 1, 1, 0.0, DAY),
    ]
    documents = run_sql(tmp_path / "documents", "metric__context_effectiveness", inputs)
    assert documents.select("workspace_id", "document_id", "document_name").rows() == [
        ("w1", "d1", "Price list"),
        ("w1", "d2", None),
        ("w2", "d1", "Price list"),
        ("w2", "d2", None),
    ]


def test_training_examples_are_the_records_of_all_formats(tmp_path: Path) -> None:
    formats = ("instruction", "cot", "correction", "preference", "unpaired")
    found = run_sql(
        tmp_path, "training_examples", {f"train__{name}": [record("20260131", id=name)] for name in formats}
    )
    assert found.select("id", "format").rows() == [(name, name) for name in sorted(formats)]
    assert found.filter(found["worse_answer"].is_not_null())["id"].to_list() == ["preference"]
    assert found.filter(found["label"].is_not_null())["id"].to_list() == ["unpaired"]


def test_restatements_of_all_systems_stand_in_one_view(tmp_path: Path) -> None:
    entry = {"entry": 1, "date": DAY, "column": "c", "old_value": "1", "new_value": "2", "why": "rules"}
    inputs: dict[str, list[Row]] = {
        "metric__restatements": [{**entry, "tenant_id": "t", "workspace_id": "w"}],
        "metric__daily_restatements": [{**entry, "metric": "metric__turn_daily"}],
    }
    found = run_sql(tmp_path, "restatements", inputs)
    assert found.select("metric", "entry", "workspace_id", "domain", "new_value").rows() == [
        ("metric__session_daily", 1, "w", None, "2"),
        ("metric__turn_daily", 1, None, None, "2"),
    ]
