"""Decides beforehand what is planted where, and which generations of the schema hold which interaction."""

from bisect import bisect
from collections.abc import Iterable, Mapping
from random import Random

from dagster_project.demo.distillation.feedback import BY_ANSWER, Voice
from dagster_project.demo.distillation.flaws import FLAWS, NEED_ATTEMPT
from dagster_project.demo.distillation.hazards import Hazard
from dagster_project.demo.distillation.tables import CORRECTIONS, EXAMPLES, PATTERNS, QUEUE, RAW, THOUGHTS, UNIFIED

# Which tables hold an interaction, and up to which draw of [0, 1). Legacy holds most of the volume.
GENERATIONS = (
    (RAW,),
    (RAW, THOUGHTS),
    (THOUGHTS,),
    (EXAMPLES,),
    (UNIFIED,),
    (UNIFIED, EXAMPLES),
    (UNIFIED, RAW),
    (UNIFIED, RAW, THOUGHTS),
    (EXAMPLES, RAW, THOUGHTS),
    (EXAMPLES, RAW),
    (UNIFIED, EXAMPLES, RAW, THOUGHTS),
)
LIMITS = (0.20, 0.44, 0.52, 0.64, 0.80, 0.85, 0.88, 0.91, 0.94, 0.96)
HOME = {PATTERNS: EXAMPLES, CORRECTIONS: EXAMPLES, QUEUE: EXAMPLES}
# Interactions that are about how rows relate to each other: two raw interactions that lead to one chain of thought, the
# same one stored twice, a copy with decomposed accents, a copy that alone knows what SAM tried.
SHARED_THOUGHT, REPEATED_ROW, NFD_COPY, OLDER_ATTEMPT = (
    "shared_thought_id",
    "repeated_in_table",
    "decomposed_copy",
    "attempt_in_older_copy",
)
STRUCTURAL = {SHARED_THOUGHT: 0.001, REPEATED_ROW: 0.004, NFD_COPY: 0.001, OLDER_ATTEMPT: 0.004}
# These mean something only if no other generation has what the row lacks.
ALONE = ("unfillable_format",)
# Where a name decides on the tables, they take turns.
FIXED = {
    SHARED_THOUGHT: ((RAW,),),
    NFD_COPY: ((UNIFIED, EXAMPLES),),
    OLDER_ATTEMPT: ((UNIFIED, EXAMPLES),),
    REPEATED_ROW: ((UNIFIED,), (EXAMPLES,)),
    **dict.fromkeys(NEED_ATTEMPT, ((UNIFIED,), (EXAMPLES,))),
}
FEWEST_ROWS = 300
LINKED_SHARE = 8


def scatter(shares: Mapping[str, float], rows: int, free: list[int], rng: Random) -> dict[int, str]:
    """Put each name on some of the free numbers: on its share of all rows, at least once, rarely without a share."""
    names: list[str] = []
    for name, share in shares.items():
        names.extend([name] * max(1, int(rows * share) if share else rows // 4_000))
    return dict(zip(rng.sample(free, min(len(names), len(free))), names, strict=False))


def place_hazards(rows: int, hazards: Mapping[str, Hazard], taken: Iterable[int], rng: Random) -> dict[int, str]:
    """Which interaction (by number) gets which hazard or flaw. Below some hundred rows it would be all there is."""
    if rows < FEWEST_ROWS:
        return {}
    shares = {name: hazard.share for name, hazard in hazards.items()}
    shares |= {name: share for name, (share, _) in FLAWS.items()} | STRUCTURAL
    used = set(taken)
    return scatter(shares, rows, [number for number in range(rows) if number not in used], rng)


def place_voices(voices: list[Voice], starts: list[float]) -> dict[int, Voice]:
    """Give each judged answer the place that its time has among the interactions, or the next free one."""
    places: dict[int, Voice] = {}
    for voice in voices:
        position = min(bisect(starts, voice.judged_at), len(starts) - 1)
        while position in places:
            position = (position + 1) % len(starts)
        places[position] = voice
    return places


def tables_for(name: str, hazard: Hazard | None, voice: Voice | None, nth: int, rng: Random) -> tuple[str, ...]:
    """The tables that hold an interaction. `nth` counts the earlier ones of the same name."""
    if voice is not None and voice.way != BY_ANSWER:
        return (UNIFIED,)
    if name in FIXED:
        return FIXED[name][nth % len(FIXED[name])]
    if hazard is None:
        drawn = GENERATIONS[bisect(LIMITS, rng.random())]
        needs_text = voice is not None or name in FLAWS
        return (RAW,) if needs_text and drawn == (THOUGHTS,) else drawn
    return _tables_for_damage(name, hazard, nth, rng)


def _tables_for_damage(name: str, hazard: Hazard, nth: int, rng: Random) -> tuple[str, ...]:
    """A damaged row mostly stands alone; at times a sound copy in another generation has to step in."""
    table = HOME.get(hazard.table, hazard.table)
    if table == THOUGHTS:
        return (THOUGHTS,) if nth % 2 == 0 else (RAW, THOUGHTS)
    if nth == 0 or name in ALONE or rng.random() < 0.7:
        return (table,)
    return {UNIFIED: (UNIFIED, EXAMPLES), EXAMPLES: (UNIFIED, EXAMPLES), RAW: (EXAMPLES, RAW)}[table]
