"""What the demo of feedback holds, and what is said about it."""

from dagster_project.demo.asked import Asked, bad, since
from dagster_project.demo.feedback import hazards
from dagster_project.demo.feedback.sources import write_feedback_files

DAYS = 90


def write(asked: Asked) -> str:
    n = write_feedback_files(asked.folder, asked.rows, asked.seed)
    private = sum(count for name, count in n.items() if name.startswith("private_"))
    return (
        f"{asked.rows:,} rows, {since(DAYS)}; {n.get('bad_model', 0):,} on a bad roll-out in December, "
        f"{n.get('through_the_api', 0):,} through the API, {private} with things to mask, "
        f"{bad(n, {*hazards.DAMAGE, hazards.ORPHAN})}"
    )
