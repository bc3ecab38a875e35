"""Cuts the conversations into batches of finished table rows, for one file or for two.

Making the rows and writing them cost about the same. Since a batch is plain tuples, a second process can make the next
one while this one writes, which nearly doubles the speed of large databases.
"""

import marshal
import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from multiprocessing.connection import Connection
from typing import Any

from dagster_project.demo.dirt import RawText
from dagster_project.demo.feedback.exchanges import Conversations, Demand, Exchange
from dagster_project.demo.feedback.votes import FeedbackRow, values_of

BATCH_ROWS = 10_000
FEWEST_ROWS_FOR_A_PROCESS = 50_000
MAIN, FALLBACK, COUNTS = "feedback.db", "feedback_fallback.db", "counts"
# Outages of the external disk, each as the share of all interactions at which it begins.
OUTAGES = (0.22, 0.51, 0.83)
OUTAGE_LENGTH = 0.02 / len(OUTAGES)
COPY_EVERY, CONFLICT_EVERY = 6, 4

Row = tuple[Any, ...]
Tables = dict[str, list[Row]]


class Collector:
    """Gathers the exchanges that go to one file until there are enough for a batch."""

    def __init__(self) -> None:
        self.row_count = 0
        self.waiting = 0
        self._exchanges: list[Exchange] = []
        self._sessions: list[Row] = []

    def add(self, session: list[Exchange]) -> None:
        self._exchanges.extend(session)
        self._sessions.append(_session_summary(session))
        for exchange in session:
            self.waiting += len(exchange.rows)

    def take(self) -> Tables:
        """The rows of every table, feedback in the order of arrival."""
        arrived: list[tuple[float, FeedbackRow]] = []
        for exchange in self._exchanges:
            arrived.extend(zip(exchange.arrivals, exchange.rows, strict=True))
        arrived.sort(key=lambda pair: pair[0])
        raw_texts: list[Row] = []
        for _, row in arrived:
            if type(row.original_query) is RawText:
                row.original_query = bytes(row.original_query)
                raw_texts.append((row.feedback_id,))
        tables: Tables = {
            "feedback": [values_of(row) for _, row in arrived],
            "feedback_aggregates": [_aggregate(exchange) for exchange in self._exchanges if exchange.rows],
            "feedback_sessions": self._sessions,
            "responses": [_response(exchange) for exchange in self._exchanges if exchange.known],
            "raw_texts": raw_texts,
        }
        self.row_count += self.waiting
        self.waiting, self._exchanges, self._sessions = 0, [], []
        return tables


def make_batches(demand: Demand, two_files: bool) -> Iterator[tuple[str, Any]]:
    """Batches as (file name, tables); the last item is the counts of what was planted."""
    conversations = Conversations(demand)
    counts = conversations.planted
    rated_count = conversations.rated_count
    files = {MAIN: Collector(), FALLBACK: Collector()}
    for session in conversations.sessions():
        name = FALLBACK if two_files and _is_outage(session[0].asked.number / rated_count) else MAIN
        files[name].add(session)
        if name == FALLBACK and demand.hazards and (copies := list(_carried_over(session, counts))):
            files[MAIN].add(copies)
        for file_name, collector in files.items():
            if collector.waiting >= BATCH_ROWS:
                yield file_name, collector.take()
    for file_name, collector in files.items():
        yield file_name, collector.take()
    counts["rows"] = demand.rows
    if two_files:
        counts["rows_main"], counts["rows_fallback"] = files[MAIN].row_count, files[FALLBACK].row_count
    yield COUNTS, dict(counts)


def make_batches_beside(demand: Demand, two_files: bool) -> Iterator[tuple[str, Any]]:
    """The same batches, made in a second process where that pays and the system can fork."""
    if demand.rows < FEWEST_ROWS_FOR_A_PROCESS or "fork" not in multiprocessing.get_all_start_methods():
        yield from make_batches(demand, two_files)
        return
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_batches, args=(demand, two_files, sender), daemon=True)
    process.start()
    sender.close()
    try:
        name = ""
        while name != COUNTS:
            name, content = marshal.loads(receiver.recv_bytes())
            yield name, content
    except EOFError as error:
        raise RuntimeError("the process that makes the rows ended early") from error
    finally:
        receiver.close()
        process.join()


def _send_batches(demand: Demand, two_files: bool, sender: Connection) -> None:
    for message in make_batches(demand, two_files):
        sender.send_bytes(marshal.dumps(message))
    sender.close()


def _is_outage(share: float) -> bool:
    return any(start <= share < start + OUTAGE_LENGTH for start in OUTAGES)


def _carried_over(session: Iterable[Exchange], counts: Counter[str]) -> Iterator[Exchange]:
    """What somebody copied from the fallback file to the main one by hand, after the old export had seen it.

    Copies differ in what that export changed; a few contradict the original.
    """
    for exchange in session:
        if not exchange.rows or exchange.asked.number % COPY_EVERY:
            continue
        row = copy(exchange.rows[0])
        row.processed, row.training_format, row.quality_weight = 1 - row.processed, "excluded", 0.5
        if exchange.asked.number % (COPY_EVERY * CONFLICT_EVERY) == 0:
            row.original_response = f"{exchange.asked.reply.text} (edited)"
            if isinstance(row.timestamp, float) and row.rating in (1, -1):
                row.rating = -row.rating
                row.timestamp = row.created_at = row.timestamp + 30
            counts["conflicting_copy"] += 1
        else:
            counts["copy"] += 1
        yield Exchange(exchange.asked, [row], exchange.arrivals[:1], exchange.known)


def _response(exchange: Exchange) -> Row:
    asked = exchange.asked
    return (
        asked.response_id,
        asked.session_id,
        asked.query,
        asked.reply.text,
        asked.asked_at,
        asked.confidence,
        asked.escalated,
    )


def _aggregate(exchange: Exchange) -> Row:
    """The row the faulty trigger leaves: the first feedback opens it but is not counted."""
    first, *counted = exchange.rows
    updated_at = float(int(exchange.arrivals[-1]))
    if not counted:
        return first.response_id, 0, 0, None, 0, 0, 0, None, None, first.timestamp, first.timestamp, None, updated_at
    types = [row.feedback_type for row in counted]
    return (
        first.response_id,
        sum(row.rating == 1 for row in counted),
        sum(row.rating == -1 for row in counted),
        None,
        types.count("correction"),
        types.count("preference"),
        types.count("flag"),
        None,
        None,
        first.timestamp,
        counted[-1].timestamp,
        None,
        updated_at,
    )


def _session_summary(session: list[Exchange]) -> Row:
    """The session as the source sees it: it counts rows instead of voices, and ratings nobody gave."""
    rows = [row for exchange in session for row in exchange.rows]
    ratings = [row.rating for row in rows]
    positive, negative = ratings.count(1), ratings.count(-1)
    asked = session[0].asked
    return (
        asked.session_id,
        len(session),
        len(rows),
        len(rows) / len(session),
        positive,
        negative,
        [row.feedback_type for row in rows].count("correction"),
        positive / (positive + negative) if positive or negative else None,
        asked.asked_at,
        session[-1].asked.asked_at,
        asked.domain.name,
        None,
    )
