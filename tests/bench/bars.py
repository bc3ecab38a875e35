"""The bars: what each asks for, the figure that was measured, and whether it is met. Told at the end; nothing fails by them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Bar:
    """What is asked for, and the most the figure may be, in its unit."""

    asks: str
    limit: float
    unit: str = "x"


# By the name under which a figure is put down. A limit that is changed here is changed everywhere.
BARS = {
    "floor": Bar("(d) CPU against the floor (a)", 2.0),
    "floor_wall": Bar("(d) wall against the floor (a)", 1.6),
    "pandas": Bar("(d) wall against the pandas script (c)", 1.0),
    "workers": Bar("wall with 2 workers against 1, on 2 cores", 0.625),
    "bytes": Bar("files that differ between 1, 2, 3 and 8 workers", 0, ""),
    "new_day": Bar("one new day among 90, without the release, against the first run", 10.0, " %"),
    "new_day_900": Bar("one new day among 900 against one among 90, without the release", 1.5),
    "release": Bar("the release against the rest of a first run, CPU", 1.5),
    "again": Bar("second run with nothing new", 0.8, " s CPU"),
    "memory": Bar("peak memory at 1 M rows", 1024, " MB"),
    "memory_4": Bar("peak memory at 4 M rows against 1 M", 1.15),
    "memory_16": Bar("peak memory at 16 M rows against 4 M, raw and core", 1.25),
    "row_4": Bar("CPU a row at 4 M rows against 1 M", 1.1),
    "single_day": Bar("peak memory, 2 M rows on a single day", 1229, " MB"),
    "turns": Bar("1 M turns", 60, " s CPU"),
    "sessions": Bar("1 M sessions", 35, " s CPU"),
    "reactions": Bar("1 M reactions", 22, " s CPU"),
    "interactions": Bar("200,000 distilled interactions", 40, " s CPU"),
    "dagster": Bar("Dagster's own share of a run with one new day, besides its import", 2.5, " s CPU"),
}


@dataclass
class Results:
    """The figures of one `make bench`; what was measured beside other work is no result."""

    figures: dict[str, float] = field(default_factory=dict)
    noisy: list[str] = field(default_factory=list)

    def put(self, name: str, figure: float) -> None:
        self.figures[name] = figure

    def table(self) -> str:
        """One line a bar. Parts that were left out are said to be."""
        lines = [f"{'bar':<72} {'at most':>12} {'now':>12}"]
        for name, bar in BARS.items():
            figure = self.figures.get(name)
            now = "-" if figure is None else f"{figure:,.2f}{bar.unit}"
            verdict = "not measured" if figure is None else "met" if figure <= bar.limit else "MISSED"
            lines.append(f"{bar.asks:<72} {f'{bar.limit:g}{bar.unit}':>12} {now:>12}  {verdict}")
        if self.noisy:
            lines.append(f"NO RESULT, others took part of the machine: {', '.join(self.noisy)}")
        return "\n".join(lines)
