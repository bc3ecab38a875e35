"""The real `gristmill` command with a queue read from `<home>/queue.json`: python -m tests.review.review_command ..."""

import json
from collections.abc import Collection

from dagster_project import cli
from dagster_project.cli import review_command as commands
from dagster_project.config import Config
from dagster_project.review.items import ReviewItem

QUEUE = "queue.json"


def load_queue(config: Config, _: Collection[str]) -> list[ReviewItem]:
    return [ReviewItem(**item) for item in json.loads((config.home / QUEUE).read_text(encoding="utf-8"))]


def prepare() -> None:
    commands.load_queue = load_queue
    if not any(group.name == "review" for group in cli.app.registered_groups):
        cli.app.add_typer(commands.review_app, name="review")


if __name__ == "__main__":
    prepare()
    cli.main()
