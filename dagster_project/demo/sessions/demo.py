"""What the demo of AI sessions holds, and what is said about it."""

from dagster_project.demo.asked import Asked, bad, since
from dagster_project.demo.sessions import sources


def write(asked: Asked) -> str:
    n = sources.write_sessions(asked.folder, asked.rows // 2, asked.seed)
    dirt = {*sources.SESSION_HAZARDS, *sources.FEEDBACK_HAZARDS, "orphan", "other_tenant"}
    return (
        f"{asked.rows // 2:,} sessions of 8 tenants, {since(sources.DAYS)}; {n.get('feedback', 0):,} with feedback, "
        f"{n.get('late_feedback', 0)} of it days or months late, {bad(n, dirt)}"
    )
