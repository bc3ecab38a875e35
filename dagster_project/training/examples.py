"""The records of a release with their texts, a group of days at a time.

Candidates and texts lie by day, so each text is read once, with those of its days. First the candidates that leave are dealt
to their groups of days, without texts (`Dealt`). Then every group is worked on by itself, whoever does it and in whatever order
(`DayGroup.records`). The better answer of a rating pair is another row's, often of another day: such a record is a half that
waits, its answer is found where its partner's texts are, and both are put together last (`late_groups`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa

from dagster_project.columns.templates import DISTILLATION, FEEDBACK, context
from dagster_project.engines import reading
from dagster_project.engines.kept_days import grouped
from dagster_project.lake.lake import Lake, partition_day
from dagster_project.systems.distillation.answers import merged
from dagster_project.training.content_ids import content_ids
from dagster_project.training.masked_records import masked_rows
from dagster_project.training.messages import messages

GROUP_ROWS = 16_000  # few, because every worker holds the texts of one group in memory
TEXTS = tuple(
    """
    original_query original_response conversation_context correction what_was_wrong preferred_response
""".split()
)
CARRIED = tuple(
    """
    format id source origin_id partner_id prompt_key component split quality_weight base_weight tier domain language
    is_refusal has_items error_type label votes_for votes_against
""".split()
)
IDENTITY = tuple(
    """
    id source origin_ids prompt_key component split quality_weight base_weight tier domain language is_refusal
""".split()
)
# The texts of records beside their context, in the order in which items in them are numbered (T8): prompt, then answers.
SAID = {
    "instruction": ("original_query", "original_response"),
    "correction": ("original_query", "original_response", "what_was_wrong", "correction"),
    "preference": ("original_query", "preferred_response", "correction", "partner_response", "original_response"),
    "unpaired": ("original_query", "original_response"),
}
CHOSEN = {"preferred_response": "feedback_preference", "correction": "feedback_correction_pair"}
SAID_BY_TEACHER = {
    "instruction": ("query", "claude_response"),
    "cot": ("query", "claude_response"),
    "correction": ("query", "attempt", "claude_response"),
    "preference": ("query", "claude_response", "attempt"),
}
PAIRS = "preference"
ENTRIES, SOURCES, DISTILLED = "raw_feedback__entries", "core__distillation_sources", "core__distilled_answers"
DISTILLED_TEXTS = ("query", "query_context", "sam_attempt", "claude_response")
NO_PARTNER = pl.lit(None, dtype=pl.String).alias("partner_response")

Records = list[tuple[str, pl.DataFrame]]


class Spool:
    """Rows on disk under a number, in the order they came."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.rows: dict[int, int] = {}
        self._writers: dict[int, pa.ipc.RecordBatchStreamWriter] = {}

    def add(self, numbered: pl.DataFrame) -> None:
        """Each row to the number in its column `number`."""
        for (number,), rows in numbered.partition_by("number", as_dict=True, include_key=False).items():
            self.put(number, rows)

    def put(self, number: int, rows: pl.DataFrame) -> None:
        table = rows.to_arrow()
        if number not in self._writers:
            self._writers[number] = pa.ipc.new_stream(str(self._path(number)), table.schema)
        self._writers[number].write_table(table)
        self.rows[number] = self.rows.get(number, 0) + rows.height

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def take(self, number: int) -> pl.DataFrame | None:
        """All rows under a number; they are gone from disk then."""
        if number not in self.rows:
            return None
        rows = pl.read_ipc_stream(self._path(number)).rechunk()  # else its batches are put together at every join
        self._path(number).unlink()
        return rows

    def _path(self, number: int) -> Path:
        return self.folder / f"{self.name}.{number}.arrow"


@dataclass(frozen=True)
class Told:
    """What a group of days comes to: its whole records per format, the halves of pairs, and answers for others' halves."""

    records: Records
    halves: pl.DataFrame | None = None
    answers: pl.DataFrame | None = None
    masked: Counter[str] = field(default_factory=Counter)  # how many items of each kind were


@dataclass(frozen=True)
class Masks:
    """What is masked in what leaves (T8)."""

    kinds: tuple[str, ...]
    allow: tuple[str, ...]


@dataclass(frozen=True)
class DayGroup:
    """Days whose texts are in memory together, with what is wanted of them."""

    number: int
    days: list[date]
    lake: Lake
    masks: Masks
    candidates: Callable[[], pl.DataFrame | None]
    errands: (
        pl.DataFrame | None
    )  # pairs whose better answer is of these days: id, partner_id, number of the pair's group
    sources: pl.DataFrame | None  # of distilled examples

    def records(self) -> Told:
        candidates = self.candidates()
        records: list[_OneFormat] = []
        if candidates is None and self.errands is None:
            return Told([])
        texts = _texts(self.lake, self.days)
        answers = None if self.errands is None else _answers(self.errands, texts)
        halves = None
        if candidates is not None:
            is_half = pl.col("partner_id").is_not_null() & ~pl.col("partner_event_date").is_in(self.days)
            candidates = candidates.with_columns(is_half.fill_null(False).alias("is_half"))
            users, distilled = candidates.filter(~pl.col("is_distilled")), candidates.filter("is_distilled")
            waiting = users.filter("is_half")
            halves = waiting.select(*CARRIED).join(texts, on="origin_id") if waiting.height else None
            records += _of_feedback(users.filter(~pl.col("is_half")), texts, answers, self.masks)
            if distilled.height and self.sources is not None:
                records += _of_distillation(self.lake, distilled, self.sources, self.masks)
        others = None if answers is None else answers.filter(pl.col("number") != self.number)
        return _put_together(records, halves, others)


class Dealt:
    """The candidates that leave, dealt to the groups of days their texts are read with."""

    def __init__(self, lake: Lake, folder: Path, leaving: Iterable[pl.DataFrame], masks: Masks) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.lake, self._masks = lake, masks
        self._days = list(_grouped_days(lake))
        self._candidates, self._halves, self._answers = (
            Spool(folder, name) for name in ("leaving", "halves", "answers")
        )
        self._numbers = pl.DataFrame(
            [(day, number) for number, days in enumerate(self._days) for day in days],
            schema={"event_date": pl.Date, "number": pl.Int64},
            orient="row",
        )
        pairs = []
        for rows in leaving:
            self._candidates.add(rows.join(self._numbers, on="event_date"))
            pairs.append(
                rows.filter(pl.col("partner_id").is_not_null()).select(
                    "id", "partner_id", "event_date", "partner_event_date"
                )
            )
        self._candidates.close()
        self._errands = self._dealt_pairs(pairs)

    def _dealt_pairs(self, pairs: list[pl.DataFrame]) -> dict[int, pl.DataFrame]:
        """Pairs by the group of days their better answer is of, each with the number of its own group."""
        if not pairs:
            return {}
        where = self._numbers.rename({"event_date": "partner_event_date", "number": "partner_number"})
        placed = pl.concat(pairs).join(self._numbers, on="event_date").join(where, on="partner_event_date")
        dealt = placed.select("id", "partner_id", "number", "partner_number").partition_by(
            "partner_number", as_dict=True, include_key=False
        )
        return {number: rows for (number,), rows in dealt.items()}

    def groups(self) -> Iterator[DayGroup]:
        """In order of days."""
        by_day = _sources_by_day(self.lake)
        for number, days in enumerate(self._days):
            found = [by_day[day] for day in days if day in by_day]
            yield DayGroup(
                number,
                days,
                self.lake,
                self._masks,
                lambda number=number: self._candidates.take(number),
                self._errands.get(number),
                pl.concat(found) if found else None,
            )

    def keep(self, group: int, told: Told) -> None:
        """Put halves and answers aside until all groups are told."""
        if told.halves is not None:
            self._halves.put(group, told.halves)
        if told.answers is not None:
            self._answers.add(told.answers)

    def late_groups(self) -> Iterator[Callable[[], Told]]:
        """The halves with their answers, once every group is told."""
        self._halves.close()
        self._answers.close()
        for numbers in grouped(sorted(self._halves.rows), self._halves.rows.__getitem__, GROUP_ROWS):
            yield lambda numbers=numbers: self._late(numbers)

    def _late(self, numbers: list[int]) -> Told:
        halves = [rows for number in numbers if (rows := self._halves.take(number)) is not None]
        answers = [rows for number in numbers if (rows := self._answers.take(number)) is not None]
        known = pl.concat(answers) if answers else pl.DataFrame(schema={"id": pl.String, "partner_response": pl.String})
        whole = pl.concat(halves).join(known, on="id", how="left")
        return _put_together([_told(whole, PAIRS, False, self._masks)])


def _grouped_days(lake: Lake) -> Iterator[list[date]]:
    """The days records come from, as many together as have some rows: from the lake alone, so the same every time."""
    rows: dict[date, int] = {}
    for table in (ENTRIES, DISTILLED):
        for partition, stored in lake.partitions(table).items():
            day = partition_day(partition)
            rows[day] = rows.get(day, 0) + stored.rows
    return grouped(sorted(rows), rows.__getitem__, GROUP_ROWS)


def _sources_by_day(lake: Lake) -> dict[date, pl.DataFrame]:
    """The source rows of distilled examples, narrow, by the day of the example."""
    days = reading.read(lake, SOURCES).partition_by("example_date", as_dict=True)
    return {day: rows for (day,), rows in days.items()}


def _texts(lake: Lake, days: list[date]) -> pl.DataFrame:
    rows = reading.scan(lake, ENTRIES, [f"event_date={day}" for day in days])
    return rows.select(pl.col("feedback_id").alias("origin_id"), *TEXTS).collect()


def _answers(errands: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    found = errands.join(texts.select("origin_id", "original_response"), left_on="partner_id", right_on="origin_id")
    return found.select("id", "number", pl.col("original_response").alias("partner_response"))


def _of_feedback(
    candidates: pl.DataFrame, texts: pl.DataFrame, answers: pl.DataFrame | None, masks: Masks
) -> "list[_OneFormat]":
    told = []
    for format in [name for name in FEEDBACK if name in candidates["format"].unique()]:
        rows = candidates.filter(pl.col("format") == format).select(*CARRIED).join(texts, on="origin_id")
        if format == PAIRS:
            known = None if answers is None else answers.select("id", "partner_response")
            rows = rows.with_columns(NO_PARTNER) if known is None else rows.join(known, on="id", how="left")
        told.append(_told(rows, format, False, masks))
    return told


def _of_distillation(lake: Lake, candidates: pl.DataFrame, sources: pl.DataFrame, masks: Masks) -> "list[_OneFormat]":
    """The texts of distilled examples are merged over the generations again."""
    needed = candidates.select(example_id=pl.col("origin_id").unique())
    texts = merged(lake, sources.join(needed, on="example_id", how="semi"), DISTILLED_TEXTS).select(
        pl.col("example_id").alias("origin_id"), "query", "query_context", "claude_response", "attempt"
    )
    told = []
    for format in [name for name in DISTILLATION if name in candidates["format"].unique()]:
        rows = candidates.filter(pl.col("format") == format).select(*CARRIED).join(texts, on="origin_id")
        told.append(_told(rows, format, True, masks))
    return told


@dataclass(frozen=True)
class _OneFormat:
    """Records of one format and system, and how many items were masked in them."""

    format: str
    records: pl.DataFrame
    masked: Counter[str]


def _told(rows: pl.DataFrame, format: str, is_distilled: bool, masks: Masks) -> _OneFormat:
    """Records as they leave: masked, in their templates; content_id tells nothing of numbers of masked items (T4, T8)."""
    template = (DISTILLATION if is_distilled else FEEDBACK)[format]
    before, question = ("query_context", "query") if is_distilled else ("conversation_context", "original_query")
    said = (SAID_BY_TEACHER if is_distilled else SAID)[format]
    if format == PAIRS and not is_distilled:  # what a pair does not say takes no number (T8)
        rows = rows.with_columns(pl.when(pl.col("source") == CHOSEN[name]).then(name).alias(name) for name in CHOSEN)
    found = masked_rows(rows, before, said, masks.kinds, masks.allow)
    origins = pl.concat_list("origin_id", "partner_id").list.drop_nulls().alias("origin_ids")
    records = found.rows.with_columns(origins).select(*template, context(before), *IDENTITY)
    keyed = found.keyed.select(*template, context(before))
    same = pl.select(pl.int_range(rows.height)).to_series().is_in(found.places.implode())
    ids = content_ids(format, records.filter(~same))
    everywhere = pl.Series("content_id", [None], dtype=pl.String).new_from_index(0, rows.height)
    everywhere = everywhere.scatter((~same).arg_true(), ids)
    if keyed.height:
        everywhere = everywhere.scatter(found.places, content_ids(format, keyed))
    conversations = messages(found.rows, format, before, question, is_distilled)
    return _OneFormat(format, records.with_columns(everywhere, conversations), found.counts)


def _put_together(
    told: "list[_OneFormat]", halves: pl.DataFrame | None = None, answers: pl.DataFrame | None = None
) -> Told:
    """Per format one frame, in order of id."""
    by_format: dict[str, list[pl.DataFrame]] = {}
    for one in told:
        by_format.setdefault(one.format, []).append(one.records)
    records = [(format, pl.concat(frames).sort("id")) for format, frames in by_format.items()]
    return Told(records, halves, answers, sum((one.masked for one in told), Counter()))
