"""What the demo of distillation holds, and what is said about it."""

from dagster_project.demo.asked import Asked, bad, since
from dagster_project.demo.distillation import hazards
from dagster_project.demo.distillation.sources import write_distillation

DAYS = 90


def write(asked: Asked) -> str:
    rows = asked.rows // 5
    n = write_distillation(asked.database("distillation"), rows, asked.seed, feedback=asked.database("feedback"))
    linked = sum(count for name, count in n.items() if name.startswith("linked_"))
    dirt = {*hazards.all_hazards((), ()), *hazards.PAIR_HAZARDS}
    return (
        f"{rows:,} interactions, {since(DAYS)}; {n.get('in_several_generations', 0)} in several tables at once, "
        f"{linked} that users judged, {bad(n, dirt)}"
    )
