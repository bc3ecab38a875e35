"""What an export was asked for, and what of that cannot be meant."""

from dataclasses import asdict, dataclass
from typing import Any

from dagster_project.contracts.columns import TIERS
from dagster_project.contracts.formats import FORMATS
from dagster_project.errors import Misused


@dataclass(frozen=True)
class Asked:
    """One export."""

    format: str
    target: str
    release: str | None = None  # its folder's name, or its day; None: the newest
    resample: bool = False
    min_tier: str | None = None
    augmentation: bool = False
    max_tokens: int | None = None
    tokenizer: str | None = None

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise Misused(f"FORMAT must be one of {', '.join(FORMATS)}, not {self.format!r}")
        if self.min_tier is not None and self.min_tier not in TIERS:
            raise Misused(f"--min-tier must be one of {', '.join(TIERS)}, not {self.min_tier!r}")
        if (self.max_tokens is None) != (self.tokenizer is None):
            raise Misused(
                "--max-tokens and --tokenizer go together: a number of tokens means nothing without what counts them"
            )
        if self.max_tokens is not None and self.max_tokens < 1:
            raise Misused("--max-tokens must be at least 1")

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers that leave: the given one and those above it (F5)."""
        return TIERS if self.min_tier is None else TIERS[: TIERS.index(self.min_tier) + 1]

    def options(self) -> dict[str, Any]:
        """What `export.json` says of it; a tokenizer is told by what it holds, not by where it lies."""
        told = asdict(self)
        return {name: told[name] for name in ("resample", "min_tier", "augmentation", "max_tokens")}
