"""The distilled answers: the same interactions told again by other tables, later, before, or no more."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.histories.owners import Act, Owner, moment
from tests.oracle import distillation_row_maker as row_maker
from tests.oracle.distillation_cases import CaseFile, collect, make_rows
from tests.oracle.distillation_rows import EXAMPLES, PAIRS, RAW, TABLES, THOUGHTS, UNIFIED

DATED = (UNIFIED, UNIFIED, UNIFIED, EXAMPLES, EXAMPLES, RAW, THOUGHTS, PAIRS)
VISIBLE: dict[str, dict[str, tuple[Any, ...]]] = {
    UNIFIED: {
        "human_reviewed": (0, 1, -1),
        "quality_score": (None, 0.2, 0.9),
        "training_ready": (0, 1),
        "training_format": row_maker.FORMATS,
        "complexity": (None, 3, 99),
        "reasoning_type": row_maker.KINDS,
        "export_count": (1, 2),
    },
    EXAMPLES: {"human_reviewed": (0, 1), "approved": (0, 1), "quality_score": (None, 0.9), "complexity": (2, None)},
    RAW: {"processed": (0, 1), "quality_score": (0.1, 0.9)},
    THOUGHTS: {"success": (0, 1, None), "complexity": (1, 8)},
}


class DatedMaker(row_maker.Maker):
    """Makes rows of some days only; few instants, so that rows of one interaction tie."""

    first, last = 0, 1

    def time(self) -> Any:
        seconds = moment(self.random.randrange(self.first, self.last)).timestamp()
        return self.pick((seconds, seconds + 43_200, seconds + 43_200.5, int(seconds) + 5, (seconds + 7200) * 1000))


class DistillationOwner(Owner):
    system = "distillation"

    def __init__(self, folder: Path, random: Random) -> None:
        super().__init__(folder, random)
        self.maker = DatedMaker(str(random.randrange(10**6)))
        self.asked: list[row_maker.Interaction] = []
        CaseFile({name: list(table.columns) for name, table in TABLES.items()}, True).write(self.file.path)

    def take(self, random: Random) -> None:
        super().take(random)
        self.maker.random, self.maker.pick = random, random.choice

    def add(self, first: int, last: int, count: int) -> None:
        """New interactions, and old ones told again."""
        self.maker.first, self.maker.last = first, max(last, first + 1)
        new = self.maker.interactions(max(1, count // 4))
        again = self.random.sample(self.asked, min(len(self.asked), count // 4))
        self.asked += new
        rows = make_rows(self.maker, [*new, *again])
        rows[PAIRS] = rows[PAIRS][:2]
        for table, made in rows.items():
            self.file.insert(table, *made)

    @property
    def acts(self) -> Sequence[Act]:
        return [self.retell, self.delete, self.edit_flags, self.edit_texts, self.move, self.work_on_parts]

    def retell(self) -> None:
        """An old interaction in another table: it merges (D2)."""
        self.maker.first, self.maker.last = 0, max(1, self.days)
        rows: dict[str, list[dict[str, Any]]] = {}
        for asked in self.random.sample(self.asked, min(3, len(self.asked))):
            way = self.random.randrange(3)
            told = (lambda a: {UNIFIED: [self.maker.unified(a)]}, self.maker.normalised, self.maker.legacy)[way](asked)
            collect(rows, told)
        for table, made in rows.items():
            self.file.insert(table, *made)

    def delete(self) -> None:
        table = self.pick(DATED)
        for row in self.some(table):
            self.file.delete(table, row)

    def edit_flags(self) -> None:
        table = self.pick(list(VISIBLE))
        for row in self.some(table):
            column = self.pick(list(VISIBLE[table]))
            self.file.edit(table, row, **{column: self.pick(VISIBLE[table][column])})

    def edit_texts(self) -> None:
        for row in self.some(UNIFIED):
            asked = self.pick(self.asked)
            changed = {"query": asked.prompt, "claude_response": asked.answer, "sam_attempt": asked.attempt}
            column = self.pick(list(changed))
            self.file.edit(UNIFIED, row, **{column: changed[column]})
        self.has_hidden_edits = True

    def move(self) -> None:
        table = self.pick(DATED)
        for row in self.some(table):
            self.file.edit(table, row, created_at=self.seconds())

    def work_on_parts(self) -> None:
        """Patterns and corrections of `examples`, which are read whole."""
        table = self.pick(("reasoning_patterns", "corrections"))
        for row in self.some(table):
            if self.chance(0.5):
                self.file.delete(table, row)
            else:
                examples = [name for (name,) in self.file.ask(f"select id from {EXAMPLES} order by rowid")]
                self.file.edit(table, row, example_id=self.pick([*examples, "nobody's"]))
