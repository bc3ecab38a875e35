"""Records of a release to read before training on it, each beside what it was made from (`gristmill sample`). Reads only.

They are drawn by a hash of their ids: the same every time, and as if at random. What a record was made from is told as of the
publication, with secrets and personal data masked (T8): the source has them still.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import polars_hash

from dagster_project.columns.content_hashes import shown
from dagster_project.columns.printable import printable
from dagster_project.contracts.formats import FIELDS, FORMATS
from dagster_project.lake.lake import Lake
from dagster_project.lake.releases import ReleaseName
from dagster_project.lookups import page
from dagster_project.lookups.questions import facts_of
from dagster_project.lookups.release_records import records, with_texts
from dagster_project.registry import SYSTEMS
from dagster_project.systems.declaration import Why

TOLD = (
    "source",
    "split",
    "quality_weight",
    "base_weight",
    "tier",
    "domain",
    "language",
    "is_refusal",
    "origin_ids",
    "id",
    "content_id",
)
SHORT = 80  # characters; what is longer is a text, and not an id or a word


@dataclass(frozen=True)
class Sampled:
    """A record with all its columns, and what is told of each thing it was made from."""

    record: dict[str, Any]
    made_from: list[dict[str, Any]]
    lines: list[str]

    @property
    def texts(self) -> dict[str, Any]:
        """The context first, then the format's fields."""
        names = ("context", *FIELDS[self.record["format"]])
        return {name: self.record[name] for name in names if self.record[name] not in (None, "")}

    @property
    def source_texts(self) -> dict[str, str]:
        """What stands in the rows it was made from, in full."""
        rows = [row for facts in self.made_from if isinstance(row := facts.get("source_row"), dict)]
        return {
            name: value for row in rows for name, value in row.items() if isinstance(value, str) and len(value) > SHORT
        }

    @property
    def facts(self) -> dict[str, Any]:
        return {name: self.record[name] for name in TOLD if self.record.get(name) is not None}


def drawn(lake: Lake, name: ReleaseName, format: str | None, count: int) -> pl.DataFrame:
    """So many records of a format, or of all."""
    found = records(lake, name, FORMATS if format is None else (format,))
    lot = polars_hash.col("id").chash.sha2_256()
    return found.with_columns(lot.alias("lot")).sort("lot", "format").head(count).select("format", "id")


def sample(lake: Lake, name: ReleaseName, format: str | None, count: int) -> list[Sampled]:
    chosen = with_texts(lake, name, drawn(lake, name, format, count))
    told = _facts_by_origin(lake, [origin for record in chosen for origin in record["origin_ids"]])
    seen = _Masked(facts for _, facts in told.values())
    told = {origin: (why, seen.of(facts)) for origin, (why, facts) in told.items()}
    found = []
    for record in chosen:
        known = [told[origin] for origin in record["origin_ids"] if origin in told]
        lines = [line for why, facts in known for line in why.tell(facts)]
        gone = [f"  {origin} is not known any more" for origin in record["origin_ids"] if origin not in told]
        found.append(Sampled(record, [facts for _, facts in known], lines + gone))
    return found


class _Masked:
    """Facts with the texts in them as people see them, all searched at once."""

    def __init__(self, facts: Iterable[Any]) -> None:
        texts = pl.Series("text", sorted({text for one in facts for text in _texts_in(one)}), dtype=pl.String)
        self._shown = dict(zip(texts, shown(texts.to_frame(), "text")["text"], strict=True))

    def of(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.of(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.of(part) for part in value]
        return self._shown[value] if isinstance(value, str) else value


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part)


def _facts_by_origin(lake: Lake, origins: list[str]) -> dict[str, tuple[Why, dict[str, Any]]]:
    """What is known of the things behind records, by their ids, from whichever system has them."""
    told: dict[str, tuple[Why, dict[str, Any]]] = {}
    for why in (system.why for system in SYSTEMS.values() if system.why):
        if why.fates:
            fates = why.fates(lake, pl.Series(origins, dtype=pl.String).unique()).filter(pl.col("fate") != "merged")
            for origin in sorted(fates["origin_id"]):
                for facts in facts_of(lake, why, [origin]):
                    told[origin] = (why, facts)
    return told


def lines_of(found: list[Sampled]) -> Iterator[str]:
    for number, one in enumerate(found, 1):
        yield f"{number}. {one.record['format']}  " + "  ".join(
            f"{name} {_fact(value)}" for name, value in one.facts.items()
        )
        for name, value in one.texts.items():
            yield f"    {name}"
            yield from (f"      {printable(line)}" for line in str(value).split("\n"))
        yield from (f"  {line}" for line in one.lines)
        yield ""


def page_of(name: ReleaseName, found: list[Sampled]) -> str:
    parts = [page.paragraph("Drawn by a hash of their ids. Left what a model learns from, right where it came from.")]
    for number, one in enumerate(found, 1):
        facts = page.table(("", ""), [(key, _fact(value)) for key, value in one.facts.items()])
        parts.append(page.heading(f"{number}. {one.record['format']}"))
        texts = [page.text_block(key, value) for key, value in one.texts.items()]
        source = [page.text_block(key, value) for key, value in one.source_texts.items()]
        parts.append(page.beside(texts, [page.text_block("made from", "\n".join(one.lines)), *source, facts]))
    return page.page(f"{len(found):,} records of release {name}", parts)


def _fact(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else f"{value:g}" if isinstance(value, float) else str(value)
