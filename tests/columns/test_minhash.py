"""T6: signatures are about as alike as the texts they are of, and alike texts share a band."""

import random

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from rensa import RMinHash  # pyright: ignore[reportAttributeAccessIssue]  (its stub lacks it)

from dagster_project.columns.alike import alike_form, jaccard
from dagster_project.columns.minhash import BANDS, SIGNATURE, bands, likeness, signatures, stored, unstored, woven

LETTERS = random.Random(1)
WORDS = ["".join(LETTERS.choices("aeioulmnrst", k=LETTERS.randint(2, 9))) for _ in range(3_000)]


def near_pairs(count: int, words: int, seed: int) -> tuple[pl.Series, pl.Series]:
    """Texts of so many words and copies with up to an eighth of them changed."""
    draw = random.Random(seed)
    ones, others = [], []
    for _ in range(count):
        one = draw.choices(WORDS, k=words)
        other = [draw.choice(WORDS) if draw.random() < draw.uniform(0, 0.12) else word for word in one]
        ones.append(" ".join(one))
        others.append(" ".join(other))
    return pl.Series(ones), pl.Series(others)


def arrays(*series: pl.Series) -> list[np.ndarray]:
    return [found.to_numpy() for found in series]


def share_a_band(left: pl.Series, right: pl.Series) -> np.ndarray:
    one, other = arrays(left, right)
    assert one.shape == other.shape == (len(left), BANDS)
    return (one == other).any(axis=1)


@given(texts=st.lists(st.text(alphabet="ab日 ", max_size=20) | st.none(), min_size=1, max_size=6))
def test_a_signature_hangs_on_the_set_of_shingles_alone(texts: list[str | None]) -> None:
    """Whatever stands beside a text, and however often a shingle is in it."""
    together = signatures(pl.Series(texts, dtype=pl.String))
    assert together.dtype == SIGNATURE
    for text, found in zip(texts, together, strict=True):
        assert signatures(pl.Series([text or ""]))[0].to_list() == found.to_list()
    assert signatures(pl.Series(["a" * 9]))[0].to_list() == signatures(pl.Series(["a" * 5]))[0].to_list()


def test_no_rows_no_signatures() -> None:
    none = signatures(pl.Series([], dtype=pl.String))
    assert (len(none), none.dtype) == (0, SIGNATURE)
    assert len(bands(none, none)) == 0


def test_fields_are_told_apart() -> None:
    """What one row says in its first field and another in its second has nothing in common."""
    one, other = pl.Series(["better answer here"]), pl.Series(["the worse one there"])
    same, turned = arrays(signatures(one, other), signatures(other, one))
    assert likeness(same, same).tolist() == [1.0]
    assert likeness(same, turned)[0] < 0.05


def test_likeness_is_as_near_to_the_jaccard_as_a_reference() -> None:
    for words in (4, 15, 40, 160):
        one, other = near_pairs(300, words, seed=words)
        exact = jaccard(one, other).to_numpy()
        ours = likeness(*arrays(signatures(one), signatures(other)))
        theirs = []
        for left, right in zip(one, other, strict=True):
            hashes = [RMinHash(num_perm=160, seed=7), RMinHash(num_perm=160, seed=7)]
            for found, text in zip(hashes, (left, right), strict=True):
                found.update([text[place : place + 5] for place in range(len(text) - 4)])
            theirs.append(hashes[0].jaccard(hashes[1]))
        assert np.abs(ours - exact).mean() < np.abs(np.array(theirs) - exact).mean() + 0.005
        assert abs((ours - exact).mean()) < 0.02


def test_texts_at_four_fifths_share_a_band() -> None:
    for words in (4, 15, 40, 160):
        one, other = near_pairs(1_500, words, seed=words + 1)
        is_near = jaccard(one, other).to_numpy() >= 0.8
        left, right = signatures(one), signatures(other)
        alone, both = share_a_band(bands(left), bands(right)), share_a_band(bands(left, left), bands(right, right))
        assert is_near.sum() > 100
        assert alone[is_near].all()
        assert both[is_near].mean() > 0.995


def test_other_texts_share_hardly_any() -> None:
    one, _ = near_pairs(2_000, 40, seed=3)
    other = one.shift(1).fill_null("")
    found = share_a_band(bands(signatures(one), signatures(one)), bands(signatures(other), signatures(other)))
    assert found.sum() == 0


def test_signatures_stay_the_same_for_ever() -> None:
    """They are kept by day, so these may only change together with the name they are kept under."""
    found = signatures(pl.Series(["the same text as ever"]), pl.Series(["日本語です"]))
    assert found[0].to_list()[:12] == [233, 147, 29, 178, 132, 3, 78, 93, 19, 1, 181, 69]


def test_kept_signatures_come_back() -> None:
    """As bytes, null where there is no text; and two woven into one agree where both do."""
    found = signatures(alike_form(pl.Series(["one text of some length", "another text of some length"])))
    given = pl.Series("s", [found[0], None, found[1]], dtype=found.dtype)
    kept = stored(given)
    assert kept.dtype == pl.Binary and kept.is_null().to_list() == [False, True, False]
    back = unstored(kept)
    assert (back[[0, 2]] == found.to_numpy()).all() and not back[1].any()
    both = woven(back[[0, 2]], back[[2, 0]])
    assert (both[0, ::2] == back[0, ::2]).all() and (both[0, 1::2] == back[2, 1::2]).all()
    assert stored(given.head(0)).is_empty() and unstored(kept.head(0)).shape == (0, 160)
