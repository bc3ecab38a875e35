"""All patterns of items in the order in which they are looked for (T8); a record is explained in `masking_kinds`."""

from dagster_project.columns.masking_kinds import Pattern
from dagster_project.columns.personal_patterns import PERSONAL
from dagster_project.columns.secret_patterns import SECRETS

PATTERNS: tuple[Pattern, ...] = (*SECRETS, *PERSONAL)


def _rounds() -> tuple[Pattern, ...]:
    """Neighbours that differ only in their shape are looked for at once."""
    rounds: list[Pattern] = []
    for pattern in PATTERNS:
        if rounds and "(?P<" not in pattern.shape and _alike(rounds[-1], pattern):
            rounds[-1] = rounds[-1]._replace(shape=f"{rounds[-1].shape}|{pattern.shape}")
        else:
            rounds.append(pattern)
    return tuple(r if "(?P<" in r.shape else r._replace(shape=f"(?P<item>{r.shape})") for r in rounds)


def _alike(one: Pattern, other: Pattern) -> bool:
    def said(pattern: Pattern) -> tuple[object, ...]:
        return (pattern.kind, pattern.gate, pattern.not_after, pattern.not_before, pattern.check)

    return "(?P<" not in one.shape and said(one) == said(other)


def _whole_gate(gate: tuple[str, ...]) -> tuple[str, ...]:
    """A gate, and behind it at once all shapes of its patterns: what comes through has a match."""
    shapes = (
        f"(?:{pattern.shape.replace('?P<lead>', '?:').replace('?P<item>', '?:')})"
        for pattern in PATTERNS
        if pattern.gate == gate
    )
    return (*gate, "|".join(shapes))


ROUNDS = _rounds()
# The whole gate of each gate the patterns have.
GATES = {gate: _whole_gate(gate) for gate in dict.fromkeys(pattern.gate for pattern in PATTERNS)}
# What every text with an item has: the last pattern of some gate, which fewest other texts have.
ANY_GATE = "|".join(f"(?:{gate[-1]})" for gate in GATES)
