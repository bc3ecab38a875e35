"""Tables about the work itself: what runs did, what they found, what waits for people. No run makes them from a source.

They are kept under `<home>/runs` (`run/work_tables.py`) and shown in the warehouse up to its publication. The clock is in them, so
they are no part of "same input, same bytes".
"""

import polars as pl

from dagster_project.contracts.meaning import Meaning, count, flag, fraction, long_text, moment, one_of, text, word
from dagster_project.contracts.table import Table

OUTCOMES = ("published", "nothing_new", "failed", "stopped", "killed", "running")
DRIFT_KINDS = ("missing column", "unknown column", "unknown word")
ALERTS_OF = ("volume", "refused", "negative", "vocabulary", "silence")
QUEUES = ("review", "safety", "corrections")

_TEXTS = pl.List(pl.String)
_DAY = Meaning(pl.Date, "calendar day (UTC)")
_RUN = text("the run; the same id as in Dagster's history")
_STARTED = moment("when the run began")
_ROWS = {
    "read_count": count("rows the sources hold"),
    "kept_count": count("rows that were kept"),
    "quarantined_count": count("rows that were refused, each with its reasons in `quarantine`"),
    "copy_count": count("rows that say the same as a kept one, and were dropped"),
    "not_sampled_count": count("rows outside the sample that is looked at"),
}
_RUN_FACTS = {
    "run_id": _RUN,
    "started_by": word("who started it: command line, Dagster, or the schedule, sensor or backfill by its name"),
    "started_at": _STARTED,
    "ended_at": moment("when it ended; of the run that wrote this file, when it published"),
    "duration_seconds": Meaning(pl.Float64, "from its start to its end", least=0),
    "outcome": one_of(OUTCOMES, "what came of it"),
    "reason": text("why it failed, was stopped or killed"),
    "publication": Meaning(pl.Int64, "number of the publication it made, or left as it was", least=0),
    "published_at": moment("when it was published"),
    "as_of": moment("everything before this instant counted"),
    "as_of_choice": word("how as_of was chosen"),
    "release": word("the newest training release then, by the name of its folder under exports"),
    "is_full": flag("every day was to be read again"),
    "asked_from": Meaning(pl.Date, "first day that was asked for, if any was"),
    "asked_to": Meaning(pl.Date, "last day that was asked for, if any was"),
    "days_read_count": count("days that were read again"),
    "days_changed_count": count("days of which anything changed"),
    "waiting_count": count("rows dated at or after as_of, whose time will come"),
    "drift_count": count("unexpected columns and words it found, see `drift`"),
    "new_drift_count": count("of these, those the run before had not found"),
    "failed_check_count": count("claims that did not hold, see `checks`"),
    "missing_files": Meaning(_TEXTS, "source files that were not there, one sentence each"),
    "host": word("the machine it ran on"),
    "pid": Meaning(pl.Int64, "its process there"),
    "cpu_seconds": Meaning(pl.Float64, "CPU time of its process", least=0),
    **_ROWS,
}

RUNS = Table(
    "runs",
    "One run, whoever started it and whatever came of it. Counts are over all days the sources hold, not only those read again.",
    ("run_id",),
    """run_id started_by? started_at ended_at? duration_seconds? outcome reason? publication? as_of? as_of_choice? release?
    is_full? asked_from? asked_to? days_read_count? days_changed_count? read_count? kept_count? quarantined_count? copy_count?
    not_sampled_count? waiting_count? drift_count? new_drift_count? failed_check_count? missing_files? host? pid? cpu_seconds?""",
    own=_RUN_FACTS,
)
PUBLICATIONS = Table(
    "publications",
    "One publication: the moment everything in this file, the lake and the release changed together, and the run that did it.",
    ("publication",),
    """publication published_at run_id started_by? as_of? release? read_count? kept_count? quarantined_count? copy_count?
    not_sampled_count? missing_files?""",
    own={**_RUN_FACTS, "publication": Meaning(pl.Int64, "its number, one higher each time", least=1)},
)
CHECKS = Table(
    "checks",
    "One claim about one table as a run found it, whether it held or not. The newest runs are kept, some hundreds.",
    ("run_id", "table", "claim"),
    "run_id started_at table claim says is_blocking holds is_unchanged offending_count? found? first_rows?",
    own={
        "run_id": _RUN,
        "started_at": _STARTED,
        "table": word("the table the claim is about"),
        "claim": word("its name"),
        "says": word("what it claims, in words"),
        "is_blocking": flag("nothing is published where it does not hold"),
        "holds": flag("it held"),
        "is_unchanged": flag("the table was as before, so that what was found then still holds: nobody looked again"),
        "offending_count": count("rows that break it; null where it is not about rows"),
        "found": long_text("what was found, as JSON"),
        "first_rows": long_text("the first rows that break it, as a JSON list"),
    },
)
DRIFT = Table(
    "drift",
    "One thing about a source a run did not expect: a column that is missing or unknown, a word no vocabulary has.",
    ("run_id", "table", "kind", "name"),
    "run_id started_at table kind name row_count? share? is_new first_seen_at",
    own={
        "run_id": _RUN,
        "started_at": _STARTED,
        "table": word("the table it was found in"),
        "kind": one_of(DRIFT_KINDS, "what it is"),
        "name": text("the column, or <column>=<word>"),
        "row_count": count("rows that have the unknown word"),
        "share": fraction("their share of the table's rows"),
        "is_new": flag("the last run that went well before had not found it"),
        "first_seen_at": moment("since which run every run has found it"),
    },
)
ROWS_READ_DAILY = Table(
    "rows_read_daily",
    "One day of one source table: where its rows went. Read = kept + quarantined + copies + not sampled.",
    ("table", "event_date"),
    "system table event_date? read_count kept_count quarantined_count copy_count not_sampled_count",
    own={
        "system": word("the system the rows are of"),
        "table": word("the table the rows are kept in"),
        "event_date": Meaning(pl.Date, "day of the rows (UTC); null for rows without a day, and tables that have none"),
        **_ROWS,
    },
)
REVIEW_DAILY = Table(
    "review_daily",
    "One day of one queue for people: how much waited when the day's last run published, how much was decided that day.",
    ("date", "queue"),
    "date queue waiting_count? oldest_waiting_date? decided_count",
    own={
        "date": _DAY,
        "queue": one_of(QUEUES, "which queue: items to judge, harmful flags, answers rated down without a correction"),
        "waiting_count": count("items that waited; null where no run published that day"),
        "oldest_waiting_date": Meaning(pl.Date, "day of the oldest item that waited"),
        "decided_count": count("items a person judged or settled that day, as far as the decision still stands"),
    },
)
ALERTS = Table(
    "alerts",
    "One day of one source that was unusual, as a run found it; silent for a source's first four weeks.",
    ("run_id", "event_date", "system", "kind", "says"),
    "run_id started_at event_date system kind value usual? says is_new",
    own={
        "run_id": _RUN,
        "started_at": _STARTED,
        "event_date": Meaning(pl.Date, "the day that was unusual (UTC)"),
        "system": word("the system whose day it was"),
        "kind": one_of(
            ALERTS_OF, "what was unusual: rows that came, share refused, share negative, new words or columns, no rows"
        ),
        "value": Meaning(pl.Float64, "what it was: rows, or a share between 0 and 1"),
        "usual": Meaning(pl.Float64, "what was to be expected; null where that is hard to say"),
        "says": text("in a sentence"),
        "is_new": flag("nothing of its kind was unusual in the week before; only then somebody is told"),
    },
)
WORK: dict[str, Table] = {
    table.name: table for table in (RUNS, PUBLICATIONS, CHECKS, DRIFT, ROWS_READ_DAILY, REVIEW_DAILY, ALERTS)
}
