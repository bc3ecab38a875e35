"""What a release settles about candidates that nothing earlier speaks against, by brute force (semantics T1 from control_tokens on,
T2, T3, T6): everything compared with everything, in plain Python."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any

from tests.oracle.feedback_rows import tier_of
from tests.oracle.feedback_source import blank, prompt_key, split_of

TOKENS = ("<|im_start|>", "<|im_end|>", "[INST]", "[/INST]", "</s>", "<|eot_id|>", "<<SYS>>")
ROLES = ("human:", "assistant:")
SPLITS = ("train", "validation", "test")
LOW = ("low", "very_low")
LEAST_ANSWER, LEAST_FORM, LEAST_SENTENCE, TEMPLATE, LARGE = 40, 8, 8, 20, 50


@dataclass
class Record:
    """A candidate as far as a release looks at it. `said` are its answers in order, the one it teaches first."""

    key: Any
    id: str
    format: str
    query: str
    context: str | None
    said: tuple[str, ...]
    others: tuple[str, ...]  # further texts: what was wrong
    label: Any
    group: Hashable  # T2
    weight: float
    newest: datetime
    is_synthetic: bool = False
    reason: str | None = None
    survivor: Any = None
    split: str = ""


@dataclass
class Rules:
    """What is configured."""

    split_key: str
    min_weight: float
    low_tier: str
    synthetic_pairs: bool = False


def form(text: str | None) -> str:
    """T6: NFKC, casefolded, without punctuation and what takes no room, single spaces."""
    bare = "".join(c for c in text or "" if not takes_no_room(c) and c not in "`\u00b4\u02bc")
    folded = unicodedata.normalize("NFKC", bare).casefold()
    return " ".join("".join(" " if c.isspace() else c for c in folded if keeps(c)).split())


def keeps(c: str) -> bool:
    return not takes_no_room(c) and unicodedata.category(c)[0] != "P" and c not in "`\u02bc"


def takes_no_room(c: str) -> bool:
    return unicodedata.category(c) == "Cf" or c in "\u034f\u115f\u1160\u3164\uffa0" or "\ufe00" <= c <= "\ufe0f"


def shingles(text: str) -> frozenset[str]:
    return frozenset(text[place : place + 5] for place in range(max(1, len(text) - 4)))


def is_alike(one: frozenset[str], other: frozenset[str], tenths: int) -> bool:
    return 10 * len(one & other) >= tenths * len(one | other)


def longest_sentence(text: str) -> str | None:
    sentences = [form(part) for part in re.split("[.!?。！？\n\r\x85\u2028\u2029]", text)]
    longest = max(sentences, key=len)
    return longest if len(longest.split()) >= LEAST_SENTENCE else None


def prompt_splits(queries: Iterable[str], split_key: str) -> dict[str, str]:
    """T3: the split of each prompt, by its key: of the whole component. Contexts hold no exchanges here."""
    texts = {prompt_key(query): query for query in queries}
    sets = {key: shingles(form(query)) for key, query in texts.items()}
    group = {key: key for key in texts}

    def root(key: str) -> str:
        while group[key] != key:
            key = group[key]
        return key

    for one, other in combinations(texts, 2):
        if is_alike(sets[one], sets[other], 7):
            group[root(one)] = root(other)
    by_sentence = defaultdict(list)
    for key, query in texts.items():
        if sentence := longest_sentence(query):
            by_sentence[sentence].append(key)
    for keys in by_sentence.values():
        if len({form(texts[key]) for key in keys}) <= TEMPLATE:
            for key in keys:
                group[root(key)] = root(keys[0])
    members = defaultdict(list)
    for key in texts:
        members[root(key)].append(key)
    assert all(len(keys) <= LARGE or 100 * len(keys) <= len(texts) for keys in members.values())
    found = {
        name: min((split_of(texts[k], split_key) for k in keys), key=SPLITS.index) for name, keys in members.items()
    }
    return {key: found[root(key)] for key in texts}


def holds_control_tokens(record: Record) -> bool:
    texts = [record.query, record.context or "", *record.said, *record.others]
    return any(token in text for token in TOKENS for text in texts) or any(
        said.lstrip().lower().startswith(ROLES) for said in record.said
    )


def settle(records: list[Record], queries: Iterable[str], rules: Rules) -> None:
    """Every record gets its split, and its reason and survivor if it does not leave. `queries` are of all candidates with texts."""
    splits = prompt_splits(queries, rules.split_key)
    for record in records:
        whole = splits[prompt_key(record.query)]
        is_low = whole == "train" and tier_of(record.weight) in LOW
        record.split = "augmentation" if is_low and rules.low_tier == "augmentation" else whole
        if holds_control_tokens(record):
            record.reason = "control_tokens"
        elif record.weight < rules.min_weight or (is_low and rules.low_tier == "exclude"):
            record.reason = "low_weight"
        elif record.is_synthetic and not rules.synthetic_pairs:
            record.reason = "recipe"
    left = sorted((r for r in records if r.reason is None), key=lambda r: r.id)
    left.sort(key=lambda r: (r.weight, r.newest), reverse=True)
    first: dict[Hashable, Record] = {}
    for record in left:
        survivor = first.setdefault(record.group, record)
        if survivor is not record:
            record.reason, record.survivor = "duplicate", survivor.key
    staying: dict[Any, list[tuple[Record, list[frozenset[str]]]]] = defaultdict(list)
    for record in (r for r in left if r.reason is None):
        fields = [shingles(form(text)) for text in (asked(record), *record.said)]
        kin = staying[record.format, record.label]
        twin = next((r for r, known in kin if all(is_alike(a, b, 8) for a, b in zip(fields, known, strict=True))), None)
        if twin:
            record.reason, record.survivor = "near_duplicate", twin.key
        else:
            kin.append((record, fields))
    contexts = {
        form(r.context) for r in left if r.reason is None and r.split in ("train", "augmentation") and r.context
    }
    for record in left:
        if record.reason is None and record.split in ("validation", "test"):
            answers = record.said if record.format == "preference" else record.said[:1]
            forms = [form(text) for text in answers if len(text) >= LEAST_ANSWER]
            if any(len(answer) >= LEAST_FORM and answer in context for answer in forms for context in contexts):
                record.reason = "leak"


def asked(record: Record) -> str:
    return record.query if record.context is None or blank(record.context) else f"{record.context}\n\n{record.query}"
