"""A random history: people work on the sources, decide reviews, and runs come at odd times. Then a fresh home is asked."""

import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from dagster_project import config as configuration
from dagster_project.intake.stage import Choice
from dagster_project.lake.lake import Lake
from dagster_project.review import settling
from dagster_project.review.decisions import Decision, Decisions
from dagster_project.review.queue import load_queue
from dagster_project.run.mill_run import MillRun
from tests.histories.comparing import differences
from tests.histories.conversations_owner import ConversationsOwner
from tests.histories.direct_run import Ended, run_directly, steps_in_order
from tests.histories.distillation_owner import DistillationOwner
from tests.histories.feedback_owner import FeedbackOwner
from tests.histories.owners import BASE, Owner, moment
from tests.histories.reactions_owner import ReactionsOwner
from tests.histories.sessions_owner import SessionsOwner

OWNERS = (FeedbackOwner, DistillationOwner, ConversationsOwner, ReactionsOwner, SessionsOwner)
# Which systems a history is about: the more, the slower; feedback and distillation meet in the training sets.
CASTS = ((0,), (0,), (0, 1), (0, 1), (1,), (2,), (3,), (4,), (4,), (2, 3), (0, 1, 2, 3, 4))
NOW = datetime(2060, 1, 1, tzinfo=UTC)  # the moment every run begins: later than every as_of
LATER = (0, 0, 1, 1, 1, 2, 3, 10, 40, 200, 800)  # days from one as_of to the next
CHANGED_SETTINGS: tuple[dict[str, str], ...] = (
    {"GRISTMILL_MIN_WEIGHT": "0.55"},
    {"GRISTMILL_LOW_TIER": "train"},
    {"GRISTMILL_LOW_TIER": "exclude"},
    {"GRISTMILL_SPLIT_KEY": "k:ü"},
    {"GRISTMILL_REVIEW_CORRECTIONS": "true"},
    {"GRISTMILL_SYNTHETIC_PAIRS": "true"},
)
WORDS = ("approved", "approved", "rejected", "undone", "noted")


@dataclass
class History:
    """Plays the acts of a seed, but for those in `left_out`, which are numbers of acts; `told` says what happened."""

    seed: int
    folder: Path
    left_out: Collection[int] = ()
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home, self.plan = self.folder / "home", Random(f"plan {self.seed}")
        cast = self.plan.choice(CASTS)
        self.owners: list[Owner] = [OWNERS[n](self.folder / "sources", self._chances(f"owner {n}")) for n in cast]
        self.settings: dict[str, str] = {}
        self.few_rows_at_once = False
        self.hour = 0.0  # as_of is so many days after BASE
        self.number = 0

    def _chances(self, what: object) -> Random:
        return Random(f"{self.seed} {what}")

    # --- acts ----------------------------------------------------------------------------------------------------

    def play(self) -> list[str]:
        """Everything, and in what the home then differs from a fresh one."""
        self.grow(self.plan.randint(2, 7))
        for _ in range(self.plan.randint(2, 5)):
            for _ in range(self.plan.randint(0, 4)):
                self._act(self.plan.choice(("work", "work", "work", "work", "review", "review", "settings", "grow")))
            self._act(self.plan.choice(("run", "run", "run", "run", "days", "full", "past", "ended", "left to itself")))
        for _ in range(self.plan.choice((0, 0, 1, 1, 2, 4))):  # none: as_of alone moves on
            self._act(self.plan.choice(("work", "work", "work", "review", "grow")))
        return self._judge()

    def _act(self, what: str) -> None:
        self.number += 1
        chances = self._chances(self.number)
        if self.number in self.left_out:
            return
        said = self._do(what, chances)
        self.told.append(f"{self.number:>3} {said}")

    def _do(self, what: str, chances: Random) -> str:
        if what == "work":
            owner = chances.choice(self.owners)
            owner.take(chances)
            return owner.act()
        if what == "grow":
            return self.grow(chances.choice((1, 1, 2, 5)))
        if what == "review":
            return self._review(chances)
        if what == "settings":
            self.settings |= chances.choice(CHANGED_SETTINGS) if chances.random() < 0.3 else {}
            return f"settings {self.settings}"
        self.hour += chances.choice(LATER) + chances.choice((0, 0, 0, 0.5))
        return f"{what}: {self._run(what, chances)}"

    def grow(self, days: int) -> str:
        for number, owner in enumerate(self.owners):
            owner.take(self._chances(f"grow {number} {self.number}"))
            owner.grow(days)
        self.hour = max(self.hour, self.owners[0].days - 1)
        return f"{days} more days, {self.owners[0].days} now"

    def _review(self, chances: Random) -> str:
        """Verdicts on what waits, changed verdicts, and queues that are settled (D8, F12)."""
        if not (self.home / "lake").exists():
            return "nothing to review"
        lake, log = Lake(self.home), Decisions(self.home)
        when: dict[str, Any] = {"decided_at": moment(self.hour)}
        items = load_queue(self.config(self.home), ())
        lines = [
            Decision(item.id, chances.choice(WORDS), chances.choice(("ann", "bob")), "why", item.content_hash, **when)
            for item in chances.sample(items, min(len(items), 6))
        ]
        known = log.log().select("example_id", "content_hash").rows()
        for name, content in chances.sample(known, min(len(known), 2)):
            lines.append(Decision(name, chances.choice(WORDS), "bob", "", content, **when))
        for queue in settling.QUEUES:
            waiting = settling.waiting(lake, queue) if lake.partitions(settling.QUEUES[queue]) else []
            for row in chances.sample(waiting, min(len(waiting), 2)):
                lines.append(
                    Decision(
                        row["feedback_id"], chances.choice(("settled", "settled", "reopened")), "cy", "done", **when
                    )
                )
        log.append(*lines)
        return f"{len(lines)} decisions"

    # --- runs ----------------------------------------------------------------------------------------------------

    def config(self, home: Path, **more: str) -> configuration.Config:
        files = {f"GRISTMILL_{o.system.upper()}": ":".join(map(str, o.files)) for o in self.owners}
        own: dict[str, str] = {}
        for owner in self.owners:
            own |= getattr(owner, "settings", {})
        return configuration.load(home=home, environ={**files, **own, **self.settings, **more})

    def _run(self, what: str, chances: Random) -> str:
        as_of: datetime | None = moment(self.hour)
        more: dict[str, Any] = {}
        ends = None
        if what == "days":
            first = moment(chances.randint(-2, int(self.hour))).date()
            more["days"] = (first, first + timedelta(days=chances.randint(0, 4)))
        elif what == "full":
            more["full"] = True
        elif what == "past":
            as_of = moment(max(1.0, self.hour - chances.choice((1, 3, 30, 300))))
        elif what == "ended":
            ends = chances.randrange(len(steps_in_order()))
        elif what == "left to itself":
            as_of = None
        try:
            mill = self._mill(self.home, Choice(as_of=as_of, **more), self._machine(), ends)
        except Ended:
            return f"as_of {as_of}, ended before step {ends}"
        return f"as_of {mill.as_of:%Y-%m-%d %H:%M} {more or ''}"

    def _machine(self) -> dict[str, str]:
        """What a run may take of the machine, which decides nothing it makes."""
        chances = self._chances(f"machine {self.number}")
        self.few_rows_at_once = chances.random() < 0.4
        memory, workers = chances.choice(("64", "300", "1000")), chances.choice(("1", "2", "3", "8"))
        return {"GRISTMILL_MEMORY_LIMIT_MB": memory, "GRISTMILL_WORKERS": workers}

    def _mill(self, home: Path, choice: Choice, more: dict[str, str], ends: int | None = None) -> MillRun:
        is_own = home == self.home
        few = is_own and self.few_rows_at_once
        mill = run_directly(self.config(home, **more), choice, ends, few, began=NOW)
        if is_own and choice.full:
            for owner in self.owners:
                owner.has_hidden_edits = False
        if mill.lake.published.as_of:
            at = datetime.fromisoformat(mill.lake.published.as_of) - BASE
            self.hour = max(self.hour, at / timedelta(days=1))
        return mill

    # --- the judgement -------------------------------------------------------------------------------------------

    def _judge(self) -> list[str]:
        """The last run against a fresh home with the same state, and then `--full` of this one."""
        chances = self._chances("end")
        self.hour += chances.choice(LATER)
        is_full = any(owner.has_hidden_edits for owner in self.owners)
        as_of = moment(self.hour)
        self._mill(self.home, Choice(as_of=as_of, full=is_full), {})
        self.told.append(f"last run: as_of {as_of:%Y-%m-%d %H:%M}{' --full' if is_full else ''}")
        fresh = self.folder / "fresh"
        if (self.home / "state").exists():
            shutil.copytree(self.home / "state", fresh / "state")
        self._mill(fresh, Choice(as_of=as_of), {"GRISTMILL_MEMORY_LIMIT_MB": "400", "GRISTMILL_WORKERS": "1"})
        found = differences(self.home, fresh, self._release_date(as_of))
        if not is_full and chances.random() < 0.3:
            self._mill(self.home, Choice(as_of=as_of, full=True), {})
            found += [f"--full: {line}" for line in differences(self.home, fresh, self._release_date(as_of))]
        return found

    @staticmethod
    def _release_date(as_of: datetime) -> date:
        return (as_of - timedelta(microseconds=1)).date()
