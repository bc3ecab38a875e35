"""Rule C8: the strategies of the most similar past turns, accepted before neutral, rejected never."""

from pathlib import Path

from dagster_project.engines.stored_tables import store, store_days
from dagster_project.lake.lake import Lake
from dagster_project.systems.conversations.similar_strategies import similar_strategies
from tests.sql.harness import frame

LAPTOPS = "Which laptops under $1000 are good for gaming?"


def lake_of(folder: Path, rows: list[tuple[str, str | None, str, str | None, float]]) -> Lake:
    """Of each turn its query, strategy, status, user and ranking."""
    lake = Lake(folder)
    turns = [
        {
            "turn_key": f"u/{n}",
            "strategy_summary": strategy,
            "feedback_status": status,
            "is_reusable": status != "rejected",
            "user_id": user,
            "ranking_score": ranking,
        }
        for n, (_, strategy, status, user, ranking) in enumerate(rows, 1)
    ]
    asked = [{"turn_key": f"u/{n}", "query": query} for n, (query, *_) in enumerate(rows, 1)]
    store(lake, "core__turns", [frame("core__turns", turns)])
    store_days(lake, "raw_conversations__turns", frame("raw_conversations__turns", asked))
    return lake


def told(lake: Lake, limit: int = 5, user: str | None = None) -> list[str]:
    return [row["strategy_summary"] for row in similar_strategies(lake, "wordllama", LAPTOPS, limit, user)]


def test_similar_turns_in_seed_1s_order(tmp_path: Path) -> None:
    lake = lake_of(
        tmp_path,
        [
            ("good gaming laptops under $1000", "neutral one", "neutral", "ann", 0.9),
            ("cheap laptops for gaming", "accepted, ranked low", "accepted", "ann", 0.3),
            ("gaming laptops up to $900", "accepted, ranked high", "accepted", "bob", 0.7),
            (LAPTOPS, "rejected one", "rejected", "ann", -0.4),
            ("How do I bake rye bread?", "another subject", "accepted", "ann", 1.0),
            ("laptops for gaming", None, "accepted", "ann", 1.0),
            ("good laptops for gaming under $1000 please", "neutral one", "neutral", "ann", 0.9),
        ],
    )
    assert told(lake) == ["accepted, ranked high", "accepted, ranked low", "neutral one"]
    assert told(lake, user="ann") == ["accepted, ranked low", "neutral one"]
    assert told(lake, limit=1) == ["neutral one"]  # the most similar one, whatever became of the others


def test_without_turns_there_is_none(tmp_path: Path) -> None:
    assert told(Lake(tmp_path)) == []
