"""How far a run is: which steps belong to it, layer by layer, which is at work, what each took. Whoever shows it, draws from here."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

LAYERS = ("raw", "core", "metric", "train", "publish")
LAYER_OF_GROUP = {"quarantine": "raw", "archive": "core", "serving": "publish"}  # the others are called as their group


@dataclass
class Layer:
    """One layer of a run."""

    steps: int = 0
    done: int = 0
    rows: int = 0
    seconds: float = 0.0  # that its steps took; those of other layers may come between them
    table: str | None = None  # what was written last by the step at work

    @property
    def is_done(self) -> bool:
        return self.done == self.steps


@dataclass
class Watcher:
    """Is told of every step of a run; this one shows nothing."""

    layers: dict[str, Layer] = field(default_factory=dict)
    at_work: str | None = None  # the layer
    step: str | None = None
    _layer_of: dict[str, str] = field(default_factory=dict)
    _began: float = 0.0
    _written: dict[str, int] = field(default_factory=dict)  # rows of the step at work by table

    @property
    def steps(self) -> int:
        return sum(layer.steps for layer in self.layers.values())

    @property
    def done(self) -> int:
        return sum(layer.done for layer in self.layers.values())

    def plans(self, groups: Mapping[str, str]) -> None:
        """The steps that will be made, each with its group."""
        self._layer_of = {step: LAYER_OF_GROUP.get(group, group) for step, group in groups.items()}
        named = [*self._layer_of.values()]
        self.layers = {name: Layer(named.count(name)) for name in dict.fromkeys((*LAYERS, *named)) if name in named}

    def begins(self, step: str) -> None:
        self.step, self.at_work = step, self._layer_of.get(step)
        self._began, self._written = time.monotonic(), {}
        if layer := self.layers.get(self.at_work or ""):
            layer.table = step

    def wrote(self, table: str, rows: int) -> None:
        self._written[table] = self._written.get(table, 0) + rows
        if layer := self.layers.get(self.at_work or ""):
            layer.table, layer.rows = table, layer.rows + rows

    def ends(self, step: str) -> None:
        layer = self.layers.get(self._layer_of.get(step, ""))
        if layer is None:
            return
        layer.done, layer.table = layer.done + 1, None
        layer.seconds += time.monotonic() - self._began
        self.step = self.at_work = None
        self.has_ended(step, layer, self._written)

    def has_ended(self, step: str, layer: Layer, written: Mapping[str, int]) -> None:
        """A step is done."""
