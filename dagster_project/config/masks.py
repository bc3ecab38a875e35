"""What is masked (T8), as `mask` and `mask_allow` say it: lists in the file, words between commas in the environment."""

from difflib import get_close_matches
from typing import Any

from dagster_project.columns.masking_kinds import KINDS
from dagster_project.errors import GristmillError


def masked_kinds(said: Any) -> tuple[str, ...]:
    """In the order in which they are looked for; none is a list without a kind."""
    words = _words("mask", said)
    for word in words:
        if word not in KINDS:
            near = get_close_matches(word, KINDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"kinds are {', '.join(KINDS)}"
            raise GristmillError(f"mask: there is no kind {word!r}; {hint}")
    return tuple(kind for kind in KINDS if kind in words)


def allowed_items(said: Any) -> tuple[str, ...]:
    """In small letters and in order, so that the same list written otherwise is the same list."""
    return tuple(sorted({word.lower() for word in _words("mask_allow", said)}))


def _words(key: str, said: Any) -> list[str]:
    if isinstance(said, str):
        return [word.strip() for word in said.split(",") if word.strip()]
    if not isinstance(said, list | tuple) or not all(isinstance(word, str) and word.strip() for word in said):
        raise GristmillError(f"{key} must be a list of texts, not {said!r}")
    return [word.strip() for word in said]
