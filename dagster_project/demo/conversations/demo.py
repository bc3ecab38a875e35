"""What the demo of conversations holds, and what is said about it."""

from random import Random

from dagster_project.demo.asked import Asked, bad, since
from dagster_project.demo.conversations import files, hazards, sources
from dagster_project.demo.conversations.followed import FollowedTurns

DAYS = 90
MOST_FOLLOWED = 200  # turns that somebody also reacts to


def write(asked: Asked) -> str:
    rows = asked.rows // 3
    followed = FollowedTurns(min(MOST_FOLLOWED, asked.rows // 40), Random(f"{asked.seed}:followed"))
    n = sources.write_turns(asked.folder, rows, asked.seed, feedback=asked.database("feedback"), followed=followed)
    asked.left["followed turns"] = followed.chosen
    dirt = {*hazards.DAMAGE, *files.FOLDER_HAZARDS.values(), *sources.OLDER_HAZARDS.values()}
    return (
        f"{rows:,} turns and {n['rows_fallback']:,} in an older file, {since(DAYS)}; {n.get('rated', 0)} rated by button too, "
        f"texts in {n.get('transcripts', 0)} transcripts and {n.get('folders', 0)} folders, {bad(n, dirt)}"
    )
