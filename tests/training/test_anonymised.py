"""The anonymised export attacked (S6): by what is known of a person, by comparing releases, by small groups and rare sets.

Every attack is also made on an export with k = 1, where it must succeed: else it would prove nothing about k = 5.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagster_project.contracts.anonymised_columns import FIELDS
from dagster_project.errors import GristmillError
from dagster_project.lake.lake import Lake
from dagster_project.training.anonymised import Anonymised, anonymise
from dagster_project.training.anonymised_export import AnonymisedExport, keep_new_weeks, write_files
from dagster_project.training.anonymised_weeks import KeptWeeks, closes_at

K = 5
INPUT = pl.Schema(
    {
        "user_id": pl.String(),
        "context_types": pl.List(pl.String),
        "context_token_count": pl.Int64(),
        "rating": pl.String(),
        "error_categories": pl.List(pl.String),
        "accuracy_score": pl.Int64(),
        "completeness_score": pl.Int64(),
        "style_match_score": pl.Int64(),
        "edit_distance_pct": pl.Int64(),
    }
)
PLAIN: dict[str, Any] = {
    "context_types": ["adr"],
    "context_token_count": 3000,
    "rating": "positive",
    "error_categories": [],
    "accuracy_score": None,
    "completeness_score": None,
    "style_match_score": None,
    "edit_distance_pct": None,
}
Combination = tuple[Any, ...]


def frame(sessions: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([{name: s[name] for name in INPUT} for s in sessions], schema=INPUT)


def session(user: str | None, **other: Any) -> dict[str, Any]:
    return {**PLAIN, "user_id": user, **other}


def combination(row: dict[str, Any]) -> Combination:
    """A row of an export as something that can be counted."""
    scores = row["qualityScores"]
    return (
        tuple(row["contextCategories"]),
        row["rating"],
        tuple(row["errorCategories"]),
        row["tokenBudgetUtilization"],
        row["editDistance"],
        None if scores is None else tuple(scores.values()),
    )


def combinations(rows: pl.DataFrame) -> Counter[Combination]:
    return Counter(combination(row) for row in rows.iter_rows(named=True))


# --- the rule, once more and slowly ----------------------------------------------------------------------------------


def third(value: float | None) -> float | None:
    return None if value is None else 0.0 if value < 100 / 3 else 33.333333 if value < 200 / 3 else 66.666667


def whole(s: dict[str, Any], token_budget: int = 8000) -> list[Any]:
    """All that would leave of a session: categories, rating, errors, utilisation, edit distance, scores."""
    used = s["context_token_count"]
    quarter = None if used is None else min(3, int(4 * used / token_budget)) / 4
    scores = tuple(third(s[name]) for name in ("accuracy_score", "completeness_score", "style_match_score"))
    return [
        tuple(sorted(set(s["context_types"] or []))),
        s["rating"],
        tuple(sorted(set(s["error_categories"] or []))),
        quarter,
        third(s["edit_distance_pct"]),
        None if scores == (None, None, None) else scores,
    ]


def slowly(sessions: Sequence[dict[str, Any]], k: int) -> list[tuple[Combination, str | None]]:
    """What leaves, with the user who must not leave."""
    rows = [(whole(s), s["user_id"]) for s in sessions]

    def rare() -> list[list[Any]]:
        users: dict[Combination, set[str]] = defaultdict(set)
        for values, user in rows:
            users[tuple(values)] |= {user} - {None}
        return [values for values, _ in rows if len(users[tuple(values)]) < k]

    for place in (5, 4, 3):  # scores, edit distance, utilisation
        for values in rare():
            values[place] = None
    suppressed = {tuple(values) for values in rare()}
    return [(tuple(values), user) for values, user in rows if tuple(values) not in suppressed]


SESSIONS = st.fixed_dictionaries(
    {
        "user_id": st.sampled_from(["a", "b", "c", "d", None]),
        "context_types": st.sampled_from([[], ["adr"], ["adr", "spec"], ["spec", "adr"], ["adr,spec"], None]),
        "context_token_count": st.sampled_from([0, 1999, 2000, 7999, 8000, 50_000, None]),
        "rating": st.sampled_from(["positive", "negative"]),
        "error_categories": st.sampled_from([[], ["other"], None]),
        "accuracy_score": st.sampled_from([0, 33, 34, 66, 67, 100, None]),
        "completeness_score": st.sampled_from([50, None]),
        "style_match_score": st.none(),
        "edit_distance_pct": st.sampled_from([0, 99, None]),
    }
)
MANY = st.lists(SESSIONS, max_size=60)


@given(MANY, st.integers(1, 4))
def test_every_combination_has_k_users(sessions: list[dict[str, Any]], k: int) -> None:
    """And it is what the rule says, session by session; every session is exported or suppressed."""
    made, expected = anonymise(frame(sessions), k), slowly(sessions, k)
    assert combinations(made.rows) == Counter(values for values, _ in expected)
    users: dict[Combination, set[str | None]] = defaultdict(set)
    for values, user in expected:
        users[values].add(user)
    assert all(len(people - {None}) >= k for people in users.values())
    assert made.counts.adds_up
    assert (
        (made.counts.sessions, made.counts.exported)
        == (len(sessions), len(expected))
        == (len(sessions), made.rows.height)
    )
    for name in ("qualityScores", "editDistance", "tokenBudgetUtilization"):
        absent = {"qualityScores": 5, "editDistance": 4, "tokenBudgetUtilization": 3}[name]
        had = sum(whole(s)[absent] is not None for s in sessions)
        assert made.counts.removed[name] <= min(had, made.rows[name].null_count())


@given(MANY, st.randoms(use_true_random=False))
def test_the_order_of_input_does_not_matter(sessions: list[dict[str, Any]], shuffle: random.Random) -> None:
    first = anonymise(frame(sessions), 2)
    shuffle.shuffle(sessions)
    second = anonymise(frame(sessions), 2)
    assert first.rows.equals(second.rows)
    assert first.counts == second.counts
    assert first.rows.schema == FIELDS
    assert first.rows.equals(first.rows.sort(*FIELDS))


@given(MANY)
def test_fewer_people_than_k_are_not_heard(sessions: list[dict[str, Any]]) -> None:
    made = anonymise(frame(sessions), 5)  # there are four
    assert made.rows.is_empty() and made.counts.suppressed == len(sessions)


# --- by hand ---------------------------------------------------------------------------------------------------------


def leaves(*sessions: dict[str, Any], k: int = K) -> Anonymised:
    return anonymise(frame(sessions), k)


def test_the_fields_and_nothing_else() -> None:
    """Seed 4's interface; numbers are the lower end of their quarter or third, sets are sorted."""
    used = {
        "context_types": ["spec", "adr", "spec"],
        "context_token_count": 5999,
        "error_categories": ["other", "hallucination"],
        "accuracy_score": 67,
        "completeness_score": 66,
        "edit_distance_pct": 33,
    }
    made = leaves(*(session(user, **used) for user in "abcde"))
    assert json.loads(made.rows.write_ndjson().splitlines()[0]) == {
        "contextCategories": ["adr", "spec"],
        "tokenBudgetUtilization": 0.5,
        "rating": "positive",
        "errorCategories": ["hallucination", "other"],
        "qualityScores": {"accuracy": 66.666667, "completeness": 33.333333, "styleMatch": None},
        "editDistance": 0.0,
    }
    assert made.rows.height == made.rows.n_unique() * 5


@pytest.mark.parametrize(
    ("tokens", "quarter"), [(0, 0.0), (1999, 0.0), (2000, 0.25), (6000, 0.75), (8000, 0.75), (10**15, 0.75), (-1, None)]
)
def test_quarters(tokens: int, quarter: float | None) -> None:
    made = leaves(session("a", context_token_count=tokens), k=1)
    assert made.rows["tokenBudgetUtilization"].to_list() == [quarter]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0.0), (33, 0.0), (34, 33.333333), (66, 33.333333), (67, 66.666667), (100, 66.666667), (101, None)],
)
def test_thirds(value: int, expected: float | None) -> None:
    made = leaves(session("a", edit_distance_pct=value, accuracy_score=value), k=1)
    assert made.rows["editDistance"].to_list() == [expected]
    scores = made.rows["qualityScores"].to_list()
    assert scores == [None if expected is None else {"accuracy": expected, "completeness": None, "styleMatch": None}]


def test_what_is_lost_and_in_which_order() -> None:
    """Scores first; what is left is compared with those that never had any, which need company themselves."""
    scored = [session(user, accuracy_score=90, edit_distance_pct=10) for user in "abc"]
    unscored = [session(user, edit_distance_pct=10) for user in "de"]
    made = leaves(*scored, *unscored)
    assert combinations(made.rows) == {(("adr",), "positive", (), 0.25, 0.0, None): 5}
    assert made.counts.removed == {"qualityScores": 3, "editDistance": 0, "tokenBudgetUtilization": 0}

    made = leaves(*scored, *[session(user, edit_distance_pct=90, accuracy_score=1) for user in "de"])
    assert combinations(made.rows) == {(("adr",), "positive", (), 0.25, None, None): 5}
    assert made.counts.removed == {"qualityScores": 5, "editDistance": 5, "tokenBudgetUtilization": 0}

    made = leaves(*scored, *[session(user, context_token_count=7000) for user in "de"])
    assert combinations(made.rows) == {(("adr",), "positive", (), None, None, None): 5}
    assert made.counts.removed == {"qualityScores": 3, "editDistance": 3, "tokenBudgetUtilization": 5}

    made = leaves(*scored, *[session(user, rating="negative") for user in "de"])
    assert made.rows.is_empty()
    assert (made.counts.exported, made.counts.suppressed) == (0, 5)
    assert set(made.counts.removed.values()) == {0}


def test_those_that_have_company_lose_nothing() -> None:
    """A person who needs generalising does not drag others along."""
    scored = [session(user, accuracy_score=90) for user in "abcde"]
    made = leaves(*scored, session("f", accuracy_score=10), *[session(user) for user in "abcde"])
    assert combinations(made.rows) == {
        (("adr",), "positive", (), 0.25, None, (66.666667, None, None)): 5,
        (("adr",), "positive", (), 0.25, None, None): 6,
    }


def test_people_are_counted_and_not_sessions() -> None:
    """(d) One person's many sessions fill nothing; unknown people are nobody."""
    many = [session("heavy") for _ in range(500)]
    assert leaves(*many).rows.is_empty()
    assert leaves(*many, *[session(user) for user in "abc"], *[session(None) for _ in range(9)]).rows.is_empty()
    made = leaves(*many, *[session(user) for user in "abcd"], session(None))
    assert made.rows.height == 505


def test_words_are_compared_whole() -> None:
    """Two sets of words are never taken for one, whatever characters are in them."""
    odd = [["adr", "spec"], ["adr,spec"], ["adr\x1fspec"], ["adr", "", "spec"], ['adr","spec']]
    assert leaves(
        *(session(user, context_types=types) for user, types in zip("abcde", odd, strict=True))
    ).rows.is_empty()


# --- a population ----------------------------------------------------------------------------------------------------

FIRST_MONDAY = date(2026, 1, 5)
WEEKS = [FIRST_MONDAY + timedelta(weeks=n) for n in range(4)]
TYPES = ("adr", "spec", "guide", "runbook", "policy", "api", "diagram", "memo")
PEOPLE = 400


@dataclass
class World:
    """What the source holds: sessions with the feedback that counts. Skewed, as people are."""

    sessions: list[dict[str, Any]] = field(default_factory=list)

    def rows(self, monday: date) -> pl.DataFrame:
        """What is known of a week: started in it, rated before it closes."""
        start = datetime.combine(monday, time(), UTC)
        return frame(
            s
            for s in self.sessions
            if start <= s["started_at"] < start + timedelta(days=7) and s["submitted_at"] < closes_at(monday)
        )

    def without(self, user: str) -> "World":
        return World([s for s in self.sessions if s["user_id"] != user])


@cache
def population(seed: int = 7) -> World:
    """400 people over four weeks: common tastes and rare ones, a few who do most of the work, some teams of one or two."""
    dice = random.Random(seed)
    favourites = [("adr",), ("adr", "spec"), ("guide",), ("adr", "api", "spec"), ("runbook",), ("guide", "policy")]
    people = [f"user-{number}" for number in range(PEOPLE)]
    sessions = []
    for number, user in enumerate(people):
        for monday in WEEKS:
            for _ in range(60 if number < 5 else dice.choice([0, 1, 1, 2, 3])):
                started = datetime.combine(monday, time(), UTC) + timedelta(minutes=dice.randrange(7 * 24 * 60))
                late = dice.random() < 0.05
                rare = dice.random() < 0.08 or number >= PEOPLE - 12  # the last are a team with documents of their own
                types = (
                    dice.sample(TYPES, dice.randint(2, 5)) if rare else dice.choices(favourites, [9, 7, 5, 3, 2, 1])[0]
                )
                rating = dice.choices(["positive", "negative", "skipped"], [6, 3, 1])[0]
                is_reviewed = dice.random() < 0.5
                scores = [dice.randint(20, 100) if is_reviewed else None for _ in range(3)]
                sessions.append(
                    {
                        "user_id": None if dice.random() < 0.01 else user,
                        "context_types": sorted(types),
                        "context_token_count": min(9000, int(dice.expovariate(1 / 2500))),
                        "rating": rating,
                        "error_categories": dice.choice([["hallucination"], ["missing_context", "other"], []])
                        if rating == "negative"
                        else [],
                        "accuracy_score": scores[0],
                        "completeness_score": scores[1],
                        "style_match_score": scores[2],
                        "edit_distance_pct": dice.randint(0, 100) if dice.random() < 0.6 else None,
                        "started_at": started,
                        "submitted_at": started + (timedelta(days=40) if late else timedelta(minutes=5)),
                    }
                )
    return World(sessions)


@dataclass
class Mill:
    """A home in which releases are made one after the other."""

    home: Path
    k: int = K

    def release(self, world: World, as_of: datetime) -> AnonymisedExport:
        self.home.mkdir(exist_ok=True)
        lake = Lake(self.home)
        kept = KeptWeeks(lake)
        keep_new_weeks(kept, WEEKS, world.rows, as_of, self.k, 8000)
        lake.commit(kept.moves())
        lake.sweep()
        return AnonymisedExport.of(KeptWeeks(lake), as_of)


def after(weeks: int) -> datetime:
    """When a release covers so many weeks."""
    return closes_at(WEEKS[weeks - 1])


def exported(export: AnonymisedExport) -> Counter[Combination]:
    return Counter({combination(row): row["session_count"] for row in export.combinations.iter_rows(named=True)})


def consistent(known: Combination, left: Combination) -> bool:
    """Whether a row may be the session somebody knows: `...` is what they do not know, a null may have been removed."""
    return all(a is ... or a == b or b is None for a, b in zip(known, left, strict=True))


# --- (a), (c): what is known of a person -----------------------------------------------------------------------------


def found_by_what_is_known(world: World, export: AnonymisedExport, known: Sequence[int]) -> set[str]:
    """The adversary knows some values of a victim's session exactly and looks for it.

    A person is found if something is there that may be theirs, and all of it together is of fewer than K people: of the
    whole population only so few have sessions in a covered week that may be behind those rows.
    """
    left: dict[Any, list[Combination]] = defaultdict(list)
    for values in exported(export):
        left[values[0] if 0 in known else ...].append(values)
    covered = [s for week in export.weeks for s in frame_rows(world, week.monday)]
    behind: dict[Combination, set[str | None]] = defaultdict(set)
    for s in covered:
        values = tuple(whole(s))
        for removed in ((), (5,), (5, 4), (5, 4, 3)):
            behind[tuple(None if place in removed else v for place, v in enumerate(values))].add(s["user_id"])
    found = set()
    by_knowledge: dict[Combination, set[str | None]] = {}
    for s in covered:
        knows = tuple(value if place in known else ... for place, value in enumerate(whole(s)))
        if knows not in by_knowledge:
            candidates = [values for values in left[knows[0]] if consistent(knows, values)]
            by_knowledge[knows] = set().union(*(behind[values] for values in candidates)) if candidates else set()
        people = by_knowledge[knows] - {None}
        if people and len(people) < K and s["user_id"] in people:
            found.add(s["user_id"])
    return found


def frame_rows(world: World, monday: date) -> list[dict[str, Any]]:
    return world.rows(monday).to_dicts()


EVERYTHING = (0, 1, 2, 3, 4, 5)
KNOWLEDGE = {
    "everything": EVERYTHING,
    "document types and tokens": (0, 3),
    "document types and rating": (0, 1),
    "document types alone": (0,),
    "rating, errors, edit distance and scores": (1, 2, 4, 5),
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> AnonymisedExport:
    return Mill(tmp_path_factory.mktemp("guarded")).release(population(), after(4))


@pytest.fixture(scope="module")
def unguarded(tmp_path_factory: pytest.TempPathFactory) -> AnonymisedExport:
    return Mill(tmp_path_factory.mktemp("unguarded"), k=1).release(population(), after(4))


def found_week_by_week(export: AnonymisedExport, known: str) -> set[str]:
    """Whoever keeps the release before sees the newest week alone."""
    weeks = [AnonymisedExport(week.combinations, (week,)) for week in export.weeks]
    return set().union(*(found_by_what_is_known(population(), week, KNOWLEDGE[known]) for week in weeks))


@pytest.mark.parametrize("known", KNOWLEDGE)
def test_nobody_is_found_by_what_is_known_of_them(guarded: AnonymisedExport, known: str) -> None:
    assert found_by_what_is_known(population(), guarded, KNOWLEDGE[known]) == set()
    assert found_week_by_week(guarded, known) == set()


@pytest.mark.parametrize(
    ("known", "people"),
    [
        ("everything", 300),
        ("document types and tokens", 150),
        ("document types and rating", 140),
        ("document types alone", 140),
    ],
)
def test_without_k_many_are_found(unguarded: AnonymisedExport, known: str, people: int) -> None:
    """Of 400 at least so many: the attack works where nothing stands in its way."""
    assert len(found_week_by_week(unguarded, known)) >= people


def test_no_small_groups(guarded: AnonymisedExport, unguarded: AnonymisedExport) -> None:
    """(c) Per week, because a release shows the weeks one by one to whoever keeps the one before."""
    for week in guarded.weeks:
        assert min(week.combinations["session_count"]) >= K
    assert sum((week.combinations["session_count"] == 1).sum() for week in unguarded.weeks) > 1000


def test_no_rare_sets(guarded: AnonymisedExport, unguarded: AnonymisedExport) -> None:
    """(c) A set of document types or errors that fewer than K people used in a week is not there at all."""
    for week, loose in zip(guarded.weeks, unguarded.weeks, strict=True):
        users: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for s in frame_rows(population(), week.monday):
            users[tuple(s["context_types"])] |= {s["user_id"]} - {None}
        rare = {types for types, people in users.items() if len(people) < K}
        assert rare.isdisjoint(tuple(types) for types in week.combinations["contextCategories"])
        assert len(rare & {tuple(types) for types in loose.combinations["contextCategories"]}) > 20


def test_what_was_suppressed_is_counted(guarded: AnonymisedExport, unguarded: AnonymisedExport) -> None:
    in_time = sum(population().rows(monday).height for monday in WEEKS)
    for export in (guarded, unguarded):
        counts = export.counts
        assert counts.sessions == in_time == counts.exported + counts.suppressed
        assert counts.exported == sum(exported(export).values())
    assert guarded.counts.suppressed > 100 and min(guarded.counts.removed.values()) > 100
    unknown = sum(s["user_id"] is None for monday in WEEKS for s in frame_rows(population(), monday))
    assert 0 < unguarded.counts.suppressed <= unknown  # nobody's sessions need somebody beside them even at k = 1
    summary = guarded.summary()
    assert (summary["k"], summary["weeks"], summary["first_week"], summary["last_week"]) == (
        K,
        4,
        "2026-W02",
        "2026-W05",
    )


# --- (b): comparing releases -----------------------------------------------------------------------------------------


def test_two_releases_differ_by_a_whole_week(tmp_path: Path) -> None:
    """What is new is one week, which is anonymous on its own."""
    mill = Mill(tmp_path)
    before, now = (mill.release(population(), after(weeks)) for weeks in (3, 4))
    new = exported(now) - exported(before)
    assert not exported(before) - exported(now)
    assert new == combinations(anonymise(population().rows(WEEKS[3])).rows)
    assert min(new.values()) >= K
    loose = Mill(tmp_path / "loose", k=1)
    difference = exported(loose.release(population(), after(4)))
    difference.subtract(exported(loose.release(population(), after(3))))
    assert sum(rows == 1 for rows in difference.values()) > 300


def changes(world: World) -> dict[str, World]:
    """What may happen at the source between two releases."""
    early = [s for s in world.sessions if s["started_at"].date() < WEEKS[2] and s["submitted_at"] < after(1)]
    (victim, number), *_ = Counter(s["user_id"] for s in early if s["context_types"] == ["guide"]).most_common()[5:]
    own = [s for s in early if s["user_id"] == victim]
    assert number > 1
    others = [s for s in world.sessions if s not in own]
    on_time = datetime.combine(WEEKS[1], time(), UTC)
    newcomer = {**session("newcomer"), "started_at": on_time, "submitted_at": on_time}
    late = closes_at(WEEKS[1]) + timedelta(days=1)
    return {
        "a person is deleted": world.without(victim),
        "a person edits": World([*others, *({**s, "rating": "negative", "error_categories": ["other"]} for s in own)]),
        "a person changes documents": World([*others, *({**s, "context_types": ["adr"]} for s in own)]),
        "a person rates late": World([*others, *({**s, "submitted_at": late} for s in own)]),
        "a row turns up": World([*world.sessions, newcomer]),
    }


@pytest.mark.parametrize("change", changes(population()))
def test_nothing_shows_what_happened_since(tmp_path: Path, change: str) -> None:
    """The same weeks are the same bytes, whatever happened; the next release adds a week and takes nothing away."""
    mill, changed = Mill(tmp_path / "home"), changes(population())[change]
    before = mill.release(population(), after(2))
    state = {path.name: path.read_bytes() for path in (tmp_path / "home" / "state" / "anonymised").iterdir()}
    assert set(state) == {"2026-W02.parquet", "2026-W03.parquet"}
    again, later = (mill.release(changed, as_of) for as_of in (after(2) + timedelta(days=6), after(3)))
    assert exported(again) == exported(before) and again.counts == before.counts
    assert exported(later) - exported(before) == combinations(anonymise(changed.rows(WEEKS[2])).rows)
    assert all((tmp_path / "home" / "state" / "anonymised" / name).read_bytes() == data for name, data in state.items())

    # The same attack works on whoever starts from nothing each time: so the state is what protects.
    careless = [
        Mill(tmp_path / name, k=1).release(world, after(2)) for name, world in [("1", population()), ("2", changed)]
    ]
    assert exported(careless[0]) != exported(careless[1])


def test_a_release_in_the_past_takes_weeks_as_they_left(tmp_path: Path) -> None:
    """G2: it covers fewer weeks and adds none; a week that is not kept does not appear."""
    mill = Mill(tmp_path)
    mill.release(population(), after(3))
    kept = KeptWeeks(Lake(tmp_path))
    assert kept.mondays(after(2)) == WEEKS[:2]
    past = AnonymisedExport.of(kept, after(2))
    assert exported(past) == sum((combinations(anonymise(population().rows(m)).rows) for m in WEEKS[:2]), Counter())
    assert kept.mondays(after(1) - timedelta(microseconds=1)) == []
    assert kept.mondays(after(4)) == WEEKS[:3]


def test_a_week_is_never_made_again(tmp_path: Path) -> None:
    """Not with another k either, and the release says which k its weeks have. A broken file is not made anew silently."""
    Mill(tmp_path, k=2).release(population(), after(1))
    export = Mill(tmp_path, k=9).release(population(), after(2))
    assert [week.k for week in export.weeks] == [2, 9]
    assert export.summary()["k"] == 2
    kept = KeptWeeks(Lake(tmp_path))
    stricter = AnonymisedExport.of(kept, after(2), k=9)  # a week of a smaller k does not leave again
    assert ([week.k for week in stricter.weeks], stricter.summary()["weeks_below_k"]) == ([9], 1)
    with pytest.raises(GristmillError, match="never made again"):
        kept.add(WEEKS[0], anonymise(population().rows(WEEKS[0])), 5, 8000)
    (tmp_path / "state" / "anonymised" / "2026-W02.parquet").write_bytes(b"PAR1")
    with pytest.raises(GristmillError, match=r"2026-W02\.parquet is broken"):
        AnonymisedExport.of(kept, after(1))


def test_a_week_nobody_rated_may_still_come(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    assert mill.release(World(), after(4)).summary()["weeks"] == 0
    assert mill.release(population(), after(4)).summary()["weeks"] == 4


# --- (e): the files --------------------------------------------------------------------------------------------------


def test_files_say_nothing_more(guarded: AnonymisedExport, tmp_path: Path) -> None:
    """The same rows in both, sorted; the Parquet footer has no metadata but Arrow's, statistics of exported values only."""
    files = write_files(guarded, tmp_path)
    assert sorted(files) == ["anonymized_feedback.jsonl", "anonymized_feedback.parquet"]
    path = tmp_path / "anonymized_feedback.parquet"
    rows = pl.read_parquet(path)
    assert rows.schema == FIELDS and rows.equals(rows.sort(*FIELDS))
    lines = (tmp_path / "anonymized_feedback.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == rows.to_dicts()
    assert {tuple(json.loads(line)) for line in lines} == {tuple(FIELDS)}
    assert {entry["rows"] for entry in files.values()} == {rows.height} == {guarded.counts.exported}

    footer = pq.read_metadata(path)
    assert set(footer.metadata or {}) <= {b"ARROW:schema"}
    told = {
        value
        for group in range(footer.num_row_groups)
        for column in range(footer.num_columns)
        if (found := footer.row_group(group).column(column).statistics) and found.has_min_max
        for value in (found.min, found.max)
    }
    scores = rows["qualityScores"].struct.unnest()
    values = {
        v for column in (*rows.select("tokenBudgetUtilization", "rating", "editDistance"), *scores) for v in column
    }
    values |= {v for column in ("contextCategories", "errorCategories") for v in rows[column].explode()}
    assert told <= values
    data = path.read_bytes() + (tmp_path / "anonymized_feedback.jsonl").read_bytes()
    assert b"user" not in data and b"2026" not in data


def test_nothing_to_say_is_no_file_and_nothing_common_is_an_empty_one(tmp_path: Path) -> None:
    mill = Mill(tmp_path / "home")
    (tmp_path / "release").mkdir()
    assert write_files(mill.release(World(), after(1)), tmp_path / "release") == {}
    alone = World([s for s in population().sessions if s["user_id"] == "user-0"])
    files = write_files(mill.release(alone, after(1)), tmp_path / "release")
    assert [entry["rows"] for entry in files.values()] == [0, 0]
    assert pl.read_parquet(tmp_path / "release" / "anonymized_feedback.parquet").schema == FIELDS
