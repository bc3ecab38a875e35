"""Which earlier turn a message is about (rule C6): 0.85 of its similarity with the message and 0.15 of its recency."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from dagster_project.columns.rounding import rounded_array
from dagster_project.columns.similarity import DECIMALS, LONGEST_TEXT, TextModel, unit_vectors

if TYPE_CHECKING:
    import numpy as np

SIMILARITY_SHARE = 0.85
RECENCY_SHARE = 0.15
HALF_LIFE_DAYS = 30.0
OLDEST_DAYS = 365
BEST = 5
SCORE_DECIMALS = 6

GROUP_TEXTS = 16_384  # messages and turns worked on together, unless one thread has more
KEPT_TEXTS = 65_536  # vectors remembered for the groups to come
BLOCK_PAIRS = 1 << 19  # pairs of message and turn scored at once

_DAY = 86_400_000_000  # microseconds
_GRID = 2.0**25


class _Vectors:
    """Vectors of texts, each text embedded once, until so many are remembered that all are forgotten.

    Components lie on a grid of 2^-25: then products and sums of unit vectors are exact in double precision, in any order,
    and a cosine does not depend on which others are computed with it.
    """

    def __init__(self, model: TextModel) -> None:
        self._model = model
        self._known = pl.DataFrame(schema={"text": pl.String, "place": pl.Int64})
        self.rows: np.ndarray | None = None

    def places(self, texts: pl.Series) -> pl.Series:
        """For each text its row in `rows`. Earlier places are good no longer."""
        import numpy as np  # noqa: PLC0415

        wanted = texts.alias("text").to_frame()
        distinct = wanted.unique(maintain_order=True)
        fresh = distinct.join(self._known, on="text", how="anti", maintain_order="left")
        if self.rows is not None and self._known.height + fresh.height > KEPT_TEXTS:
            self._known, self.rows, fresh = self._known.clear(), None, distinct
        if fresh.height:
            vectors = unit_vectors(fresh["text"], self._model)
            vectors *= _GRID
            np.rint(vectors, out=vectors)
            vectors /= _GRID
            place = pl.int_range(self._known.height, self._known.height + fresh.height, eager=True).alias("place")
            self.rows = vectors if self.rows is None else np.concatenate([self.rows, vectors])
            self._known = pl.concat([self._known, fresh.with_columns(place)])
        return wanted.join(self._known, on="text", how="left", maintain_order="left")["place"]


def _groups(references: pl.DataFrame, turns: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Both frames cut at the same threads, about `GROUP_TEXTS` rows together. Both must be sorted by thread."""
    sizes = (
        references.group_by("thread")
        .agg(references=pl.len())
        .join(turns.group_by("thread").agg(turns=pl.len()), on="thread")
        .sort("thread")
        .with_columns(texts=pl.col("references") + pl.col("turns"))
        .group_by((pl.col("texts").cum_sum() - pl.col("texts")) // GROUP_TEXTS, maintain_order=True)
        .agg(pl.col("references", "turns").sum())
    )
    first_reference = first_turn = 0
    for _, reference_count, turn_count in sizes.iter_rows():
        yield references.slice(first_reference, reference_count), turns.slice(first_turn, turn_count)
        first_reference += reference_count
        first_turn += turn_count


def _best_of_thread(
    messages: "np.ndarray", said: "np.ndarray", turns: "np.ndarray", happened: "np.ndarray", skip_last: bool
) -> "tuple[np.ndarray, ...]":
    """(message, rank, turn, score, similarity) of the best turns; vectors and microseconds of the messages and the turns.

    The turns come in the order in which ties are broken, newest first.
    """
    import numpy as np  # noqa: PLC0415

    age = said[:, None] - happened[None, :]
    near = np.clip(rounded_array(messages @ turns.T, DECIMALS), -1.0, 1.0)
    recency = np.exp2(np.maximum(age, 0) / (-HALF_LIFE_DAYS * _DAY))
    score = rounded_array(SIMILARITY_SHARE * near + RECENCY_SHARE * recency, SCORE_DECIMALS)
    # One number to order by, for equal scores the earlier column; both are whole numbers far below 2^53.
    width = len(happened)
    order = np.rint(score * 10.0**SCORE_DECIMALS) * width - np.arange(width)
    order[(age <= 0) | (age > OLDEST_DAYS * _DAY)] = -np.inf
    if skip_last:
        last = np.count_nonzero(age <= 0, axis=1)
        has_last = np.nonzero(last < width)[0]
        order[has_last, last[has_last]] = -np.inf
    kept = min(BEST, width)
    best = (
        np.argpartition(order, width - kept, axis=1)[:, width - kept :] if width > kept else np.arange(width)[None, :]
    )
    best = np.broadcast_to(best, (len(said), kept))
    best = np.take_along_axis(best, np.argsort(-np.take_along_axis(order, best, axis=1), axis=1), axis=1)
    message, rank = np.nonzero(np.take_along_axis(order, best, axis=1) > -np.inf)
    turn = best[message, rank]
    return message, rank + 1, turn, score[message, turn], near[message, turn]


def best_targets(
    references: pl.DataFrame, turns: pl.DataFrame, model: TextModel, *, skip_last: bool = False
) -> pl.DataFrame:
    """The turns each reference may mean, at most five, best first (C6).

    `references`: reference_key, thread, message, occurred_at. `turns`: turn_key, thread, query, response, occurred_at.
    A thread stands for one (user_id, session_id). Candidates are the turns of the thread before the message, none older
    than 365 days; equal scores go to the newer turn, then to the smaller key. A blank message, or one the model knows no
    word of, is like nothing, so the newest turns are its best. `skip_last` leaves out the turn just before the message:
    for messages that `refers_back` has told to mean an earlier one.
    Memory holds the vectors of one group of threads, and of the largest thread at least.
    """
    import numpy as np  # noqa: PLC0415

    references = references.select("reference_key", "thread", "message", "occurred_at").drop_nulls(
        ["thread", "occurred_at"]
    )
    spans = references.group_by("thread").agg(
        oldest=pl.col("occurred_at").min() - pl.duration(days=OLDEST_DAYS), newest=pl.col("occurred_at").max()
    )
    # Only what some message of the thread can mean is embedded.
    turns = (
        turns.select("turn_key", "thread", "query", "response", "occurred_at")
        .join(spans, on="thread")
        .filter(pl.col("occurred_at") >= pl.col("oldest"), pl.col("occurred_at") < pl.col("newest"))
        .drop("oldest", "newest")
        .sort("thread", "occurred_at", "turn_key", descending=[False, True, False])
    )
    references = references.join(turns, on="thread", how="semi").sort("thread", "occurred_at", "reference_key")

    vectors = _Vectors(model)
    schema = {
        "reference_key": references.schema["reference_key"],
        "rank": pl.Int64,
        "turn_key": turns.schema["turn_key"],
        "score": pl.Float64,
        "similarity": pl.Float64,
    }
    found = [pl.DataFrame(schema=schema)]
    said_in = pl.concat_str(
        pl.col("query").str.head(LONGEST_TEXT),
        pl.col("response").str.head(LONGEST_TEXT),
        separator=" ",
        ignore_nulls=True,
    ).str.head(LONGEST_TEXT)
    for some_references, some_turns in _groups(references, turns):
        texts = pl.concat(
            [
                some_references["message"].fill_null("").str.head(LONGEST_TEXT).alias("text"),
                some_turns.select(text=said_in)["text"],
            ]
        )
        places = vectors.places(texts).to_numpy()
        rows = vectors.rows
        assert rows is not None
        message_places, turn_places = places[: some_references.height], places[some_references.height :]
        said = some_references["occurred_at"].dt.timestamp("us").to_numpy()
        happened = some_turns["occurred_at"].dt.timestamp("us").to_numpy()
        parts: list[tuple[np.ndarray, ...]] = []
        reference_ends = np.cumsum(some_references["thread"].rle().struct.field("len").to_numpy())
        turn_ends = np.cumsum(some_turns["thread"].rle().struct.field("len").to_numpy())
        start = turn_start = 0
        for end, turn_end in zip(reference_ends.tolist(), turn_ends.tolist(), strict=True):
            turn_rows, turn_times = rows[turn_places[turn_start:turn_end]], happened[turn_start:turn_end]
            step = max(1, BLOCK_PAIRS // (turn_end - turn_start))
            for block in range(start, end, step):
                stop = min(block + step, end)
                message, rank, turn, score, near = _best_of_thread(
                    rows[message_places[block:stop]], said[block:stop], turn_rows, turn_times, skip_last
                )
                parts.append((message + block, rank, turn + turn_start, score, near))
            start, turn_start = end, turn_end
        message, rank, turn, score, near = (np.concatenate(column) for column in zip(*parts, strict=True))
        found.append(
            pl.DataFrame(
                [
                    some_references["reference_key"].gather(message),
                    pl.Series("rank", rank),
                    some_turns["turn_key"].gather(turn),
                    pl.Series("score", score),
                    pl.Series("similarity", near),
                ],
                schema=schema,
            )
        )
    return pl.concat(found).sort("reference_key", "rank")
