"""Which prompts belong together, and the split each component of them is put into (T3): nothing alike stands on both sides.

Four kinds of edges: the same alike form (T6), forms at Jaccard 0.7, the same longest sentence, and an earlier exchange in a
record's context that is another record's prompt and answer. What more than 20 different prompts have is a template and ties
nothing. All of it works on whole numbers; texts are only looked at to find Jaccard pairs.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from dagster_project.training.alike_prompts import PLAIN, Means, Need, alike_pairs

SPLITS = ("train", "validation", "test")  # a component takes the first that any of its prompts has
TEMPLATE_PROMPTS = 20  # a sentence or an exchange of more different prompts than these ties nothing
LARGE_PROMPTS, LARGE_SHARE = 50, 100  # a component of more prompts, and of more than a hundredth of all, is cut back


@dataclass(frozen=True)
class Components:
    """What `components` finds.

    prompts: prompt_key, component (the smallest prompt_key in it), split, own_split, alike_group (the smallest prompt_key among
    those it is tied to by alike forms alone; what the next call need not find again). Moved is what own_split says evaluation
    and split says train.
    crossing: prompt_key of evaluation prompts that are alike, by an edge that was cut, to a prompt of an earlier split; kind is
    jaccard or sentence.
    templates: how many sentences and exchanges tie nothing; template_sentences: those sentences.
    """

    prompts: pl.DataFrame
    crossing: pl.DataFrame
    templates: dict[str, int]
    template_sentences: pl.Series


class _Union:
    """Whole numbers put together; each set goes by the smallest in it."""

    def __init__(self, count: int) -> None:
        self.of = np.arange(count)

    def add(self, left: np.ndarray, right: np.ndarray) -> None:
        while len(left):
            one, other = self.of[left], self.of[right]
            is_apart = one != other
            left, right, one, other = (some[is_apart] for some in (left, right, one, other))
            np.minimum.at(self.of, np.maximum(one, other), np.minimum(one, other))
            while not np.array_equal(self.of, (further := self.of[self.of])):
                self.of = further


def components(
    prompts: pl.DataFrame,
    exchanges: pl.DataFrame,
    known: pl.DataFrame | None = None,
    pinned: pl.DataFrame | None = None,
    is_cut_back: bool = True,
    means: Means = PLAIN,
) -> Components:
    """The components of all prompts, and the splits they are put into (T3).

    prompts: one row a prompt_key, with form (`alike_form`), sentence (`longest_sentences`, or any name of it) and own_split.
    exchanges: prompt_key, exchange (a hash of prompt and answer of 40 characters or more), is_earlier: whether it stands in a
    context before the prompt, or is a record's own.
    known: prompt_key and alike_group of an earlier call. Only pairs with a prompt that is not in it are looked for then. If
    one of its prompts is gone, which may have held others together, everything is looked for again. The result is the same.
    pinned: prompt_key and split of prompts that stay for evaluation; a component that has one takes its split.
    is_cut_back: whether large components are.
    means: what the search for alike prompts may use.
    """
    prompts = prompts.select("prompt_key", "form", "sentence", "own_split").sort("prompt_key")
    prompts = prompts.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    prompts = prompts.with_columns(pl.col("number").min().over("form").alias("form_number"))
    numbers, forms = prompts["number"].to_numpy(), prompts["form_number"].to_numpy()
    own = prompts["own_split"].replace_strict({name: rank for rank, name in enumerate(SPLITS)}, return_dtype=pl.Int64)

    alike = _alike(prompts, known, means)
    sentences, sentence_templates = _sentence_ties(prompts)
    ties, exchange_templates = _exchange_ties(prompts, exchanges)

    firm = _Union(prompts.height)
    firm.add(numbers, forms)
    firm.add(*ties)
    whole = _Union(prompts.height)
    whole.of = firm.of.copy()
    whole.add(numbers, alike)
    whole.add(*_star(sentences))
    sizes = np.bincount(whole.of, minlength=prompts.height)
    is_cut = (is_cut_back & (sizes > LARGE_PROMPTS) & (sizes * LARGE_SHARE > prompts.height))[whole.of]
    found = np.where(is_cut, firm.of, whole.of)

    first = np.full(prompts.height, len(SPLITS))
    np.minimum.at(first, found, own.to_numpy())
    if pinned is not None and pinned.height:
        first = _pinned(prompts, pinned, found, first)
    split = first[found]
    keys = prompts["prompt_key"]
    told = pl.DataFrame(
        {
            "prompt_key": keys,
            "component": keys.gather(found),
            "split": pl.Series(SPLITS).gather(split),
            "own_split": prompts["own_split"],
            "alike_group": keys.gather(alike),
        }
    )
    crossing = pl.concat(
        [_crossing_alike(prompts, split, alike, is_cut, means), _crossing_sentences(sentences, split, is_cut)]
    )
    return Components(
        told,
        crossing.select(keys.gather(crossing["number"]).alias("prompt_key"), "kind").sort("prompt_key", "kind"),
        {"sentences": len(sentence_templates), "exchanges": exchange_templates},
        sentence_templates,
    )


def _pinned(prompts: pl.DataFrame, pinned: pl.DataFrame, found: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The ranks of splits by component, with those of pinned prompts in place of what hashes say."""
    ranks = pinned.select(
        "prompt_key",
        pl.col("split").replace_strict({name: rank for rank, name in enumerate(SPLITS)}, return_dtype=pl.Int64),
    )
    met = prompts.select("prompt_key", "number").join(ranks, on="prompt_key")
    held = np.full(len(first), len(SPLITS))
    np.minimum.at(held, found[met["number"].to_numpy()], met["split"].to_numpy())
    return np.where(held < len(SPLITS), held, first)


def _alike(prompts: pl.DataFrame, known: pl.DataFrame | None, means: Means) -> np.ndarray:
    """Of every prompt the smallest number it is tied to by forms that are equal or at Jaccard 0.7."""
    union = _Union(prompts.height)
    union.add(prompts["number"].to_numpy(), prompts["form_number"].to_numpy())
    distinct = prompts.filter(pl.col("number") == pl.col("form_number"))
    numbers, is_new = distinct["number"].to_numpy(), None
    if known is not None and known.join(prompts, on="prompt_key", how="anti").is_empty():
        place = prompts.select("prompt_key", "number")
        ties = known.join(place, on="prompt_key").join(
            place, left_on="alike_group", right_on="prompt_key", suffix="_of_group"
        )
        union.add(ties["number"].to_numpy(), ties["number_of_group"].to_numpy())
        old = prompts.join(known, on="prompt_key", how="semi")["form_number"]
        is_new = (~distinct["number"].is_in(old.implode())).to_numpy()
    apart = Need(lambda: union.of[numbers], np.not_equal)
    for left, right in alike_pairs(distinct["form"], is_new, apart, means):
        union.add(numbers[left], numbers[right])
    return union.of


def _sentence_ties(prompts: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Prompts (`number`) by the sentence they share (`first`, the smallest number that has it), and those that are templates."""
    told = prompts.drop_nulls("sentence").select(
        "number", "form_number", "sentence", pl.col("number").min().over("sentence").alias("first")
    )
    told = told.with_columns(pl.col("form_number").n_unique().over("first").alias("different"))
    templates = told.filter(pl.col("different") > TEMPLATE_PROMPTS)["sentence"].unique().sort()
    return told.filter(pl.col("different") <= TEMPLATE_PROMPTS).select("number", "first"), templates


def _star(sentences: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return sentences["number"].to_numpy(), sentences["first"].to_numpy()


def _exchange_ties(prompts: pl.DataFrame, exchanges: pl.DataFrame) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Pairs of prompts tied by an exchange that one has before it and the other is, and how many exchanges are templates."""
    told = exchanges.join(prompts.select("prompt_key", "number", "form_number"), on="prompt_key")
    met = told.group_by("exchange").agg(
        pl.col("form_number").n_unique().alias("different"),
        pl.col("number").min().alias("first"),
        (pl.col("is_earlier").any() & ~pl.col("is_earlier").all()).alias("is_met"),
    )
    templates = met.filter("is_met", pl.col("different") > TEMPLATE_PROMPTS).height
    tying = met.filter("is_met", pl.col("different") <= TEMPLATE_PROMPTS)
    ties = told.join(tying, on="exchange")
    return (ties["number"].to_numpy(), ties["first"].to_numpy()), templates


def _crossing_alike(
    prompts: pl.DataFrame, split: np.ndarray, alike: np.ndarray, is_cut: np.ndarray, means: Means
) -> pl.DataFrame:
    """Evaluation prompts of cut components at Jaccard 0.7 of a prompt of an earlier split."""
    rows = prompts.filter(pl.Series(is_cut) & (pl.col("number") == pl.col("form_number")))
    numbers = rows["number"].to_numpy()
    splits, groups = split[numbers], alike[numbers]
    is_crossing = np.zeros(len(numbers), bool)

    def labels() -> np.ndarray:
        return groups * 8 + splits * 2 + is_crossing

    def across_splits(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Of one group and two splits, the later of which is not known to cross yet."""
        is_across = (left // 8 == right // 8) & (left // 2 != right // 2)
        return is_across & (np.maximum(left, right) % 2 == 0)

    for left, right in alike_pairs(rows["form"], splits > 0, Need(labels, across_splits), means):
        is_crossing[np.where(splits[left] > splits[right], left, right)] = True
    forms = pl.Series(numbers[is_crossing])
    found = prompts.filter(pl.col("form_number").is_in(forms.implode()))
    return found.select("number", pl.lit("jaccard").alias("kind"))


def _crossing_sentences(sentences: pl.DataFrame, split: np.ndarray, is_cut: np.ndarray) -> pl.DataFrame:
    """Evaluation prompts of cut components that share their sentence with a prompt of an earlier split."""
    numbers = sentences["number"].to_numpy()
    told = sentences.with_columns(pl.Series("split", split[numbers])).filter(pl.Series(is_cut[numbers]))
    found = told.filter(pl.col("split") > pl.col("split").min().over("first"))
    return found.select("number", pl.lit("sentence").alias("kind"))
