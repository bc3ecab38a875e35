"""Small queues for tests, and a home that holds one."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dagster_project.review.items import ReviewItem
from tests.review.review_command import QUEUE


def item(example_id: str, rank: int = 1, **changes: Any) -> ReviewItem:
    values: dict[str, Any] = {
        "kind": "example",
        "domain": "code",
        "query": f"Question of {example_id}?",
        "context": None,
        "attempt": "The old answer is here",
        "answer": "The new answer is here",
        "flags": ["incomplete"],
        "score": 0.6,
        "reasons": ["low_score"],
        "feedback": ["thumbs down: does not work"],
    }
    return ReviewItem(id=example_id, rank=rank, **{**values, **changes})


def queue(*ids: str) -> list[ReviewItem]:
    return [item(example_id, rank) for rank, example_id in enumerate(ids, start=1)]


def home_with(folder: Path, items: list[ReviewItem]) -> Path:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / QUEUE).write_text(json.dumps([asdict(one) for one in items]), encoding="utf-8")
    return home
