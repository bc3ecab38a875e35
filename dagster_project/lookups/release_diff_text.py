"""Two releases compared, for a person: as lines, and as a page."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from dagster_project.columns.printable import short
from dagster_project.lake.lake import Lake
from dagster_project.lake.releases import ReleaseName
from dagster_project.lookups import page
from dagster_project.lookups.release_diff import ReleaseDiff
from dagster_project.lookups.release_records import with_texts

ON_SCREEN, ON_PAGE = 10, 300  # records of a kind that are shown
MOST_VALUES = 12  # of one kind in the mix
ASKED = ("prompt", "input", "instruction")  # what of a record tells best which one it is


def lines(found: ReleaseDiff) -> Iterator[str]:
    yield _title(found)
    yield f"  same      {found.same:>9,}"
    for name, rows in _kinds(found):
        yield f"  {name:<9} {rows.height:>9,}"
        for format, why, count in _reasons(rows):
            yield f"            {count:>9,}  {format} {why}"
        for row in rows.head(ON_SCREEN).iter_rows(named=True):
            yield f"              {row['content_id']} {row['format']} ({', '.join(row['origin_ids'])}): {row['because']}"
        if rows.height > ON_SCREEN:
            yield f"              and {rows.height - ON_SCREEN:,} more (--json has them all)"
    if moves := _moves(found):
        yield "  moves between splits"
        yield from (f"            {count:>9,}  {before} -> {after}" for before, after, count in moves)
    yield f"  mix                 {found.older!s:>14} {found.newer!s:>22}"
    for row in _mix(found):
        shares = f"{row['a']:>9,} {row['a_pct']:>5.1f} %  {row['b']:>13,} {row['b_pct']:>5.1f} %"
        yield f"    {row['by']:<9} {row['value'] or 'unknown':<28.28} {shares}  {row['b'] - row['a']:+,}"


def page_of(lake: Lake, found: ReleaseDiff) -> str:
    counts = [("same", found.same), *((name, rows.height) for name, rows in _kinds(found))]
    told = (
        "Records are the same if they say the same. Weights are compared at age 0: by decay alone all change every day."
    )
    parts = [page.paragraph(told), page.table(("", "records"), counts)]
    if moves := _moves(found):
        parts += [page.heading("Moves between splits"), page.table(("from", "to", "records"), moves)]
    parts.append(page.heading("The mix"))
    heads = ("by", "value", str(found.older), "%", str(found.newer), "%", "more")
    rows = [
        (r["by"], r["value"] or "unknown", r["a"], r["a_pct"], r["b"], r["b_pct"], r["b"] - r["a"]) for r in _mix(found)
    ]
    parts.append(page.table(heads, rows))
    for name, rows in _kinds(found):
        parts.append(page.heading(f"{name.capitalize()}: {rows.height:,}"))
        if rows.height:
            parts.append(page.table(("format", "why", "records"), _reasons(rows)))
            parts.append(_records(lake, found.newer if name == "came" else found.older, rows))
    return page.page(_title(found), parts)


def _records(lake: Lake, name: ReleaseName, rows: pl.DataFrame) -> str:
    some = rows.head(ON_PAGE)
    texts = with_texts(lake, name, some)
    shown = [
        (
            row["content_id"],
            row["format"],
            row["split"],
            row["source"],
            ", ".join(row["origin_ids"]),
            _asked(record),
            row["because"],
        )
        for row, record in zip(some.iter_rows(named=True), texts, strict=True)
    ]
    heads = ("content_id", "format", "split", "source", "from", "asked", "because")
    more = (
        f"The first {ON_PAGE:,} of {rows.height:,}; gristmill diff --json has them all."
        if rows.height > ON_PAGE
        else ""
    )
    return page.table(heads, shown) + (page.paragraph(more) if more else "")


def _asked(record: dict[str, Any]) -> str:
    return short(next((record[name] for name in ASKED if record.get(name)), ""))


def _title(found: ReleaseDiff) -> str:
    return f"Release {found.newer} compared with {found.older}"


def _kinds(found: ReleaseDiff) -> list[tuple[str, pl.DataFrame]]:
    return [("came", found.came), ("went", found.went), ("changed", found.changed)]


def _reasons(rows: pl.DataFrame) -> list[tuple[str, str, int]]:
    counted = rows.group_by("format", "why").len().sort("len", "format", "why", descending=[True, False, False])
    return [(format, why, count) for format, why, count in counted.iter_rows()]


def _moves(found: ReleaseDiff) -> list[tuple[str, str, int]]:
    moved = found.changed.filter(pl.col("split") != pl.col("split_b"))
    return list(moved.group_by("split", "split_b").len().sort("split", "split_b").iter_rows())


def _mix(found: ReleaseDiff) -> list[dict[str, Any]]:
    """Of each kind the values with most records; of a kind nobody knows anything of, nothing."""
    size = pl.max_horizontal("a", "b").rank("ordinal", descending=True).over("by")
    is_known = pl.col("value").is_not_null().any().over("by")
    return found.mix.filter(is_known & (size <= MOST_VALUES)).rows(named=True)
