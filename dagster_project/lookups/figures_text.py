"""`gristmill stats` for a person. The figures themselves are each system's own."""

from collections.abc import Iterator
from typing import Any


def figure_lines(figures: dict[str, Any]) -> Iterator[str]:
    """One line a figure, for a person; what has parts of its own gets a line for each."""
    flat: dict[str, Any] = {}
    for name, value in figures.items():
        has_parts = isinstance(value, dict) and any(isinstance(part, dict) for part in value.values())
        flat |= {f"{name} {key}": part for key, part in value.items()} if has_parts else {name: value}
    width = max(16, *map(len, flat))
    for name, value in flat.items():
        shown = ", ".join(f"{key} {_shown(part)}" for key, part in value.items()) if isinstance(value, dict) else None
        yield f"{name:<{width}} {_shown(value) if shown is None else shown or 'none'}"


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
