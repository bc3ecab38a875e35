"""What a write-back marks in distilled examples (D9)."""

from dagster_project.intake.own_writes import MarkedTable
from dagster_project.systems.distillation.source import EXAMPLES

MARKED = MarkedTable(
    "raw_distillation__distillation_examples",
    EXAMPLES,
    tuple(
        """
        quality_score quality_flags human_reviewed reviewer_notes training_ready training_format
        export_count last_exported_at
    """.split()
    ),
)
