"""Instants and days as a person writes them."""

from datetime import UTC, date, datetime
from typing import Literal

from dagster_project.errors import GristmillError


def parse_as_of(text: str) -> datetime | Literal["now"]:
    """An ISO instant; without an offset it is UTC, a bare day is its first instant. `now` is when the run begins."""
    if text.strip().lower() == "now":
        return "now"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise GristmillError(
            f"as-of {text!r} is not `now` and not a date or time such as 2026-02-01 or 2026-02-01T00:00:00Z"
        ) from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if not datetime(2000, 1, 1, tzinfo=UTC) < moment <= datetime(2100, 1, 1, tzinfo=UTC):
        raise GristmillError(f"as-of {text} is outside 2000-01-02..2100-01-01")
    return moment


def parse_day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise GristmillError(f"{text!r} is not a day such as 2026-01-31") from error
    if not date(2000, 1, 1) <= day < date(2100, 1, 1):
        raise GristmillError(f"{text} is outside 2000-01-01..2099-12-31")
    return day
