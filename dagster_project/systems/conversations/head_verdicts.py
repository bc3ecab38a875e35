"""What the head makes of the rules' verdicts (C7), kept by day: made again where the day's turns or the head changed.

A turn of a conversation that taught the head is judged by the fold that did not see it, so what is compared with labels later was
never learnt from them. Where no head is in use there are no rows, and the rules' verdicts stand.
"""

import hashlib
import json
from datetime import date, timedelta

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.engines.kept_days import KeptDays, grouped
from dagster_project.lake.lake import Lake
from dagster_project.run.made import Made
from dagster_project.run.mill_run import MillRun
from dagster_project.systems.conversations.detector_head import HEAD, head_in_use
from dagster_project.systems.conversations.head import FOLDS, chances, decided, fold_of
from dagster_project.systems.conversations.head_features import features
from dagster_project.systems.conversations.labelled_pairs import PAIRS, chosen_labels, followed_pairs, with_texts
from dagster_project.systems.conversations.source import DATED
from dagster_project.systems.conversations.tables import TABLES

TABLE = "core__head_verdicts"
GROUP_TURNS = 50_000


def make_head_verdicts(run: MillRun) -> list[Made]:
    """Judge the days that are not current; without a head in use none is kept."""
    lake = run.lake
    in_use = head_in_use(lake)
    kept = KeptDays(lake, TABLE, {} if in_use is None else _made_from(lake))
    made = 0
    folds = _folds(lake) if kept.stale else {}

    def turns_on(day: date) -> int:
        return lake.partitions(PAIRS)[f"event_date={day}"].rows

    for days in grouped(kept.stale, turns_on, GROUP_TURNS):
        assert in_use is not None
        heads, objects_from, objects_low = in_use
        pairs = with_texts(lake, followed_pairs(lake, days).collect(engine="streaming"))
        fold = pairs["thread_id"].replace_strict(folds, default=FOLDS, return_dtype=pl.Int64).to_numpy()
        verdicts = decided(pairs, chances(features(pairs), heads, fold), objects_from, objects_low)
        rows = pairs.select("turn_key", "next_turn_key", "event_date").hstack(verdicts)
        kept.store(days, rows.sort("event_date", "turn_key"))
        made += rows.height
        run.report(TABLE, rows.height)
    return [Made(TABLE, is_current=made == 0, told={"made_again": made})]


def _folds(lake: Lake) -> dict[str, int]:
    """Of each conversation that taught the head the fold that did not see it."""
    return {thread: fold_of(thread) for thread in chosen_labels(lake)["thread_id"].unique()}


def _made_from(lake: Lake) -> dict[str, str]:
    """Per day a hash of all that decides about its verdicts: the pairs' versions, those of their texts, and the head."""
    decides = [code_identity(__name__), TABLES[TABLE].digest, lake.catalog.inputs[HEAD]]
    texts = {
        (table, partition.removeprefix("event_date=")): version
        for table in DATED
        for partition, version in lake.versions(table)
    }
    found = {}
    for partition, version in lake.versions(PAIRS):
        day = partition.removeprefix("event_date=")
        near = (day, str(date.fromisoformat(day) + timedelta(days=1)))
        used = [texts.get((table, one)) for table in DATED for one in near]
        found[day] = hashlib.sha256(json.dumps([decides, version, used]).encode()).hexdigest()
    return found
