"""The figures of feedback, as seed 0 names them. Reads published tables only."""

from typing import Any

from dagster_project.engines.reading import read
from dagster_project.lake.lake import Lake


def figures(lake: Lake) -> dict[str, Any]:
    """Exactly the `stats` object of GET /api/feedback/stats (F11)."""
    row = read(lake, "metric__feedback_stats").row(0, named=True)
    return {
        "total_feedback": row["total_feedback"],
        "by_type": {kind: row[f"{kind}_count"] for kind in ("rating", "correction", "preference", "flag")},
        "sentiment": {
            "positive": row["positive_count"],
            "negative": row["negative_count"],
            "net_sentiment": row["net_sentiment"],
        },
        "processed": {"total": row["processed_count"], "pending": row["pending_count"]},
        "quality": {"avg_weight": row["avg_weight"], "high_quality_count": row["high_quality_count"]},
        "recent_24h": row["recent_24h"],
    }
