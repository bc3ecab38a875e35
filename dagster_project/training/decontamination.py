"""Which records hold something of an evaluation set (T1, contaminated), and of which item.

A record is contaminated if one of its texts shares a run of 13 words (`columns/ngrams.py`) with an item, or if what it asks
is the whole of one of an item's texts, which may be too short for such a run. Of several items the first is named.
"""

import numpy as np
import polars as pl

from dagster_project.columns.ngrams import word_forms, word_runs

# A shorter text is everybody's, whoever evaluates with it ("Go on.", "Tell me more"): shorter than this it is no item.
LEAST_WORDS, LEAST_CHARACTERS = 3, 12
AT_ONCE = 20_000  # texts; what is in memory beside them is some hundred bytes a word
MOST_BITS = 30
BITS_PER_RUN = 16


class EvaluationIndex:
    """The items, ready to be looked up: runs in order of their hashes behind a table of bits, and whole texts.

    Nearly no run of a record is one of an item's, and looking one up among ten millions costs a microsecond: the bit of a
    hash's first digits says no to all but a few of them in a hundredth of that.
    """

    def __init__(self, items: pl.DataFrame) -> None:
        """`items` as `evaluation_items` has them: `item` and `text`, the first named first."""
        numbered = items.with_row_index("number")
        self._names = numbered["item"]
        wholes, hashes, numbers = [], [], []
        for part in numbered.select("number", "text").iter_slices(AT_ONCE):
            forms = word_forms(part["text"])
            wholes.append(part.select("number", forms.alias("form")).filter(_is_long_enough(pl.col("form"))))
            runs, rows = word_runs(forms)
            hashes.append(runs)
            numbers.append(part["number"].to_numpy()[rows])
        self._wholes = (
            pl.concat(wholes) if wholes else pl.DataFrame(schema={"number": pl.UInt32, "form": pl.String})
        ).unique("form", keep="first", maintain_order=True)
        runs = np.concatenate([*hashes, np.empty(0, np.uint64)])
        # the first of equal hashes belongs to the first item, since sorting keeps their order
        order = np.argsort(runs, kind="stable")
        runs = runs[order]
        is_first = np.append(np.True_, runs[1:] != runs[:-1])[: len(runs)]
        self._runs, self._numbers = runs[is_first], np.concatenate([*numbers, np.empty(0, np.uint32)])[order][is_first]
        bits = min(MOST_BITS, max(10, (len(self._runs) * BITS_PER_RUN).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._bits = np.zeros(2**bits // 8, np.uint8)
        places = self._runs >> self._shift
        np.bitwise_or.at(self._bits, places >> np.uint64(3), _bit(places))

    def contaminated(self, texts: pl.DataFrame) -> pl.DataFrame:
        """`id` and `item` of the records that hold something of an item, in order of id.

        `texts` has a row for each text of a record: `id`, `text`, and `is_asked` of what a user asks, the prompt and earlier
        turns. All texts of a record must be in one call.
        """
        found = [self._found(part) for part in texts.iter_slices(AT_ONCE)]
        nothing = pl.DataFrame(schema={"id": texts.schema["id"], "number": pl.UInt32})
        first = pl.concat([nothing, *found]).group_by("id").agg(pl.col("number").min()).sort("id")
        return first.select("id", self._names.gather(first["number"]).alias("item"))

    def _found(self, texts: pl.DataFrame) -> pl.DataFrame:
        forms = word_forms(texts["text"])
        runs, rows = word_runs(forms)
        places = runs >> self._shift
        may_be = np.flatnonzero(self._bits[places >> np.uint64(3)] & _bit(places))
        runs, rows = runs[may_be], rows[may_be]
        at = np.searchsorted(self._runs, runs)
        is_known = np.zeros(len(runs), bool)
        inside = at < len(self._runs)
        is_known[inside] = self._runs[at[inside]] == runs[inside]
        shared = pl.DataFrame({"id": texts["id"].gather(rows[is_known]), "number": self._numbers[at[is_known]]})
        asked = texts.select("id", "is_asked", forms.alias("form")).filter("is_asked")
        whole = asked.join(self._wholes, on="form").select("id", "number")
        return pl.concat([shared, whole])


def _bit(places: np.ndarray) -> np.ndarray:
    return np.left_shift(np.uint8(1), (places & np.uint64(7)).astype(np.uint8))


def _is_long_enough(form: pl.Expr) -> pl.Expr:
    is_told = form.str.count_matches(" ", literal=True) >= LEAST_WORDS - 1
    return is_told & (form.str.len_chars() >= LEAST_CHARACTERS)
