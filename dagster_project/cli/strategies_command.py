"""`gristmill strategies`: what was done for the most similar past questions, in seed 1's order (C8)."""

from typing import Annotated

import typer

from dagster_project.cli.given import settings
from dagster_project.cli.terminal import hand_over_json, say


def strategies(
    query: Annotated[str, typer.Argument(help="The question at hand.")],
    limit: Annotated[int, typer.Option(min=1, help="So many of the most similar turns.")] = 5,
    user: Annotated[str | None, typer.Option(help="Only this user's turns.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Strategies of the most similar past turns: accepted ones first, then neutral; rejected ones never."""
    from dagster_project.columns.printable import short
    from dagster_project.lake.lake import published
    from dagster_project.systems.conversations.similar_strategies import similar_strategies

    chosen = settings()
    found = similar_strategies(published(chosen.home), chosen.similarity_model, query, limit, user)
    if as_json:
        hand_over_json(found)
        return
    lines = [
        f"{place}. {short(row['strategy_summary'])}\n   {row['feedback_status']}, quality "
        f"{'unknown' if row['quality_score'] is None else format(row['quality_score'], 'g')}, similarity {row['similarity']:g}, "
        f"{row['turn_key']}: {short(row['query'])}"
        for place, row in enumerate(found, 1)
    ]
    say("\n".join(lines) or "no past turn with a strategy that may be reused is like this")
