"""What waits at the source: days that look different from when they were read (G7). Reads only, holds no lock."""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from datetime import date, timedelta

from dagster_project.config import Config
from dagster_project.contracts.source_table import TableSpec
from dagster_project.databases.fingerprint_cache import FingerprintCache
from dagster_project.intake import fingerprints
from dagster_project.intake.open_files import files_with, open_files
from dagster_project.lake.lake import Catalog
from dagster_project.run.mill_run import fingerprint_code
from dagster_project.run.missing_files import missing_files, with_missing_defaults


def changed_days(config: Config, dated: Mapping[str, TableSpec]) -> dict[date, str]:
    """Each changed day with a digest of how it looks now: the same change asks for the same run only once.

    Files that are missing look as they did (G13): what waits is what the others hold.
    """
    catalog = Catalog.read(config.home / "lake" / "catalog.json")
    config = with_missing_defaults(config, catalog)
    gone = {(found.system, found.file.label) for found in missing_files(config, catalog)}
    changes: dict[date, str] = {}
    with contextlib.ExitStack() as stack:
        for asset, spec in dated.items():
            missing = {label for system, label in gone if system == spec.system}
            files = files_with(open_files(config, spec.system, missing, stack), spec)
            stored = catalog.sources.get(asset, {}).get("days", {})
            seen = fingerprints.look(files, spec, FingerprintCache(config.home, fingerprint_code()))
            seen = fingerprints.remembered(seen, stored, missing)
            accounts = {day: entry for day, entry in stored.items() if day != fingerprints.UNDATED}
            for day in fingerprints.changed_days(seen, accounts):
                look = json.dumps([asset, seen.as_stored(day)]) + changes.get(day, "")
                changes[day] = hashlib.sha256(look.encode()).hexdigest()[:16]
    return dict(sorted(changes.items()))


def ranges(days: list[date]) -> list[tuple[date, date]]:
    """Neighbouring days as ranges, so that one run takes each."""
    found: list[tuple[date, date]] = []
    for day in sorted(days):
        if found and day - found[-1][1] == timedelta(days=1):
            found[-1] = (found[-1][0], day)
        else:
            found.append((day, day))
    return found
