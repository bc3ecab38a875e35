"""What the demo of reactions holds, and what is said about it."""

from dagster_project.demo.asked import Asked, bad, since
from dagster_project.demo.reactions import hazards, sources


def write(asked: Asked) -> str:
    n = sources.write_reactions(asked.folder, asked.rows // 4, asked.seed, turns=asked.left["followed turns"])
    return (
        f"{asked.rows // 4:,} among {n['rows']:,} messages, {since(sources.DAYS)}; "
        f"{n.get('about_a_turn_of_conversations', 0)} on turns of conversations, {n.get('changed_mind', 0)} changes of mind, "
        f"{bad(n, hazards.HAZARDS)}"
    )
