"""Why a day, or a table that has none, is read again (G7), in words for people: a run that is only asked says them."""

from datetime import date

ASKED = "asked for"
NEW = "new"
GONE = "gone at the source"
DIFFERENT = "looks different at the source"
STALE = "rules or settings have changed"
LAST = "one of the last 3 days"
DAMAGED = "its file in the lake is damaged"
MENDED = "a refused row has changed"
OTHERS = "what other tables say of its rows has changed"
RETURNED = "a file is back that was missing"
RIVALS = "a row of it may count again, in place of another day's"


def because(*reasons: tuple[str, set[date]]) -> dict[date, str]:
    """Days with the first reason there is."""
    return {day: reason for reason, days in reversed(reasons) for day in days}
