"""What reading a source's table comes to: its account as a `Made`, and what is claimed of every such table."""

import json
from collections.abc import Sequence

from dagster_project.intake.account import Account
from dagster_project.intake.dated_tables import repeated_keys
from dagster_project.run.made import DRIFT_CLAIM, Claim, Made, Outcome
from dagster_project.run.mill_run import MillRun

ROWS_ADD_UP = Claim("rows_add_up", "read = kept + quarantined + copies + not sampled (G3)")
NO_DRIFT = Claim(DRIFT_CLAIM, "no missing or unknown columns, no unknown words (G5, G8)", blocks=False)
KEY_IS_ONCE = Claim("key_is_once", "a key is in the lake once (G7)")
OF_WHOLE, OF_DATED = (ROWS_ADD_UP, NO_DRIFT), (ROWS_ADD_UP, NO_DRIFT, KEY_IS_ONCE)
ACCOUNTED = ("read", "kept", "quarantined", "copies", "not_sampled", "waiting")


def made_whole(table: str, account: Account) -> list[Made]:
    """A table that is not kept by day."""
    return [Made(table, outcomes=_outcomes(account), account=account)]


def made_by_day(run: MillRun, table: str, account: Account, companions: Sequence[str] = ()) -> list[Made]:
    """A table that is kept by day, and what was made with it while its texts were in memory."""
    told = {"days_read": len(account.days_read), "days_changed": len(account.changed_days)}
    repeated = repeated_keys(run, table, run.dated[table].key, account.changed_days) if account.changed_days else None
    outcomes = (*_outcomes(account), Outcome.of_rows(KEY_IS_ONCE, repeated))
    made = Made(table, told=told, outcomes=outcomes, account=account)
    return [made, *(Made(name, told=told) for name in companions)]


def _outcomes(account: Account) -> tuple[Outcome, ...]:
    drift = {
        "missing_columns": ", ".join(account.missing_columns),
        "unknown_columns": ", ".join(account.unknown_columns),
        "unknown_words": json.dumps(account.unknown_words),
    }
    is_known = not (account.missing_columns or account.unknown_columns or account.unknown_words)
    return (
        Outcome(ROWS_ADD_UP, account.adds_up, {name: getattr(account, name) for name in ACCOUNTED}),
        Outcome(NO_DRIFT, is_known, drift),
    )
