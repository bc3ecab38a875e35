"""What happened in the days of the demo, told by all systems alike: a model that makes things up was rolled out and taken back."""

from datetime import date

from dagster_project.demo.timeline import DAY, HOUR, epoch

# Days before the last one of the demo. With the last day 2026-01-31: rolled out on 2 December, taken back for half of the people
# on 18 December, for two thirds on 22 December, for everybody on 29 December.
BEGAN, HALVED, RARE, OVER = 60, 44, 40, 33
FIRST_HOUR = 7 * HOUR
SHARES = (1.0, 0.5, 0.35)


class Incident:
    """How much of the bad model people saw."""

    def __init__(self, last_day: date) -> None:
        self._steps = [epoch(last_day) - days * DAY + FIRST_HOUR for days in (BEGAN, HALVED, RARE, OVER)]

    def share(self, when: float) -> float:
        """The share of people whose questions went to it at that moment."""
        for start, end, share in zip(self._steps, self._steps[1:], SHARES, strict=False):
            if start <= when < end:
                return share
        return 0.0
