"""What a run would read again and why, without one: sources and lake are looked at under the lock, and nothing is published.

Tables that are not kept by day are really read, if they changed: what they hold decides which days of others are read. It goes
to the staging folder, which is swept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime

from dagster_project.config import Config
from dagster_project.intake.stage import Choice
from dagster_project.registry import SYSTEMS, open_run
from dagster_project.run import nothing_new
from dagster_project.run.mill_run import MillRun
from dagster_project.run.missing_files import told
from dagster_project.run.source_changes import ranges
from dagster_project.systems.declaration import System

MOST_RANGES = 3  # named one by one


@dataclass(frozen=True)
class Plan:
    """What a run would do. `days` has for each table its days, or None for all of it, with why."""

    as_of: datetime
    as_of_choice: str
    is_at_its_end: bool  # nothing has changed: it would end at once
    makes_release: bool
    missing: list[str]
    days: dict[str, dict[date | None, str]]


def plan(config: Config, choice: Choice) -> Plan:
    with open_run(config, replace(choice, is_dry=True)) as run:
        is_at_its_end = _is_nothing_new(run)
        for name, system in SYSTEMS.items():
            if not is_at_its_end and (run.config.sources[name] or _known(run, system)):
                _look_at(run, system)
        missing = told(run.missing, run.lake.published)
        return Plan(run.as_of, run.as_of_choice, is_at_its_end, run.makes_release, missing, run.planned)


def _is_nothing_new(run: MillRun) -> bool:
    asked = run.choice.as_of
    picture = nothing_new.latest(run.config.home)
    if picture is None or run.choice.full or run.choice.days or asked == "now":
        return False
    return nothing_new.is_true(picture, run.config, asked, run.began.date())


def _known(run: MillRun, system: System) -> bool:
    return any(table in run.lake.catalog.sources for table in (*system.dated, *system.undated))


def _look_at(run: MillRun, system: System) -> None:
    """Each table in the order a run takes them: who judges others comes before them."""
    for table in system.undated:
        assert system.read_whole
        system.read_whole(run, table)
    judged = [table for table in system.dated if system.judged_by.get(table) in system.dated]
    for table in (*(table for table in system.dated if table not in judged), *judged):
        system.read_by_day(run, table)


def plan_lines(found: Plan) -> Iterator[str]:
    """For a person."""
    days = {day for planned in found.days.values() for day in planned if day is not None}
    at = f"as of {found.as_of:%Y-%m-%d %H:%M} UTC ({found.as_of_choice})"
    if found.is_at_its_end:
        yield f"{at}: nothing has changed, a run would end at once"
        return
    release = "make a release" if found.makes_release else "make no release"
    yield f"{at}: a run would read {len(days):,} {'day' if len(days) == 1 else 'days'} again and {release}; nothing was changed"
    yield from (f"  {line}" for line in found.missing)
    width = max((len(table) for table in found.days), default=0)
    for table, planned in sorted(found.days.items()):
        reasons = dict.fromkeys(why for _, why in sorted(planned.items(), key=lambda item: item[0] or date.min))
        for reason in reasons:
            yield f"  {table:<{width}}  {_named([day for day, why in planned.items() if why == reason])}: {reason}"


def _named(days: list[date | None]) -> str:
    """Days as ranges, or between which they lie if those are many."""
    if None in days:
        return "all of it"
    found = sorted(day for day in days if day is not None)
    said = [str(first) if first == last else f"{first} to {last}" for first, last in ranges(found)]
    if len(said) <= MOST_RANGES:
        return ", ".join(said)
    return f"{len(found):,} days between {found[0]} and {found[-1]}"
