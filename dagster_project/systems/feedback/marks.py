"""What a write-back marks in feedback (F10)."""

from dagster_project.intake.own_writes import MarkedTable
from dagster_project.systems.feedback.source import ENTRIES

MARKED = MarkedTable(
    "raw_feedback__entries", ENTRIES, ("processed", "training_format", "quality_weight", "processed_at")
)
