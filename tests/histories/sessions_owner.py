"""AI sessions: feedback comes weeks late, sessions and feedback go, outputs and documents are edited."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from dagster_project.demo.database import HERE
from tests.histories.owners import Act, Owner
from tests.oracle.sessions_oracle import generated
from tests.systems.sessions.session_database import PLAIN, add, stored

SESSIONS, FEEDBACK, OUTPUTS, NODES = "ai_sessions", "session_feedback", "session_outputs", "context_nodes"


class SessionsOwner(Owner):
    system = "sessions"

    def __init__(self, folder: Path, random: Random) -> None:
        super().__init__(folder, random)
        for statement in (HERE / "sessions/tables.sql").read_text(encoding="utf-8").split(";"):
            if statement.strip():
                self.file.do(statement)
        self.pool = generated(random.randrange(10**6))
        add(self.file.path, NODES, *self.pool[NODES])

    def _plain(self, row: dict[str, Any], table: str) -> dict[str, Any]:
        return {name: stored(value) for name, value in {**PLAIN[table], **row}.items()}

    def add(self, first: int, last: int, count: int) -> None:
        for _ in range(count):
            row = dict(self.pick(self.pool[SESSIONS])) | {"id": self.new_id("s")}
            if isinstance(row["started_at"], datetime):
                row["started_at"] = self.instant(self.random.randrange(first, max(last, first + 1)))
            self.file.insert(SESSIONS, self._plain(row, SESSIONS))
            if self.chance(0.3):
                output = self.pick(self.pool[OUTPUTS])
                self.file.insert(OUTPUTS, self._plain({**output, "session_id": row["id"]}, OUTPUTS))
        self.say_late(count)

    def say_late(self, count: int = 4) -> None:
        """Feedback on old sessions, given on any day since (S3)."""
        known = self.file.ask(f"select id, tenant_id, started_at from {SESSIONS} order by rowid")
        for name, tenant, began in self.random.choices(known, k=count) if known else ():
            row = dict(self.pick(self.pool[FEEDBACK]))
            row |= {"id": self.new_id("f")}
            if row["session_id"] != "nowhere":
                row |= {"session_id": name, "tenant_id": tenant}
            if isinstance(row["submitted_at"], datetime):
                row["submitted_at"] = self._after(began)
            self.file.insert(FEEDBACK, self._plain(row, FEEDBACK))

    def _after(self, began: str | None) -> datetime:
        try:
            start = datetime.fromisoformat(str(began)).replace(tzinfo=self.instant().tzinfo)
        except ValueError:
            return self.instant()
        return start + timedelta(hours=self.pick((1, 1, 30, 300, 2400)))

    @property
    def acts(self) -> Sequence[Act]:
        return [
            self.say_late,
            self.say_late,
            self.delete,
            self.edit,
            self.edit_feedback,
            self.move,
            self.work_on_outputs,
        ]

    def delete(self) -> None:
        table = self.pick((SESSIONS, FEEDBACK, FEEDBACK, OUTPUTS))
        for row in self.some(table):
            self.file.delete(table, row)

    def edit(self) -> None:
        for row in self.some(SESSIONS):
            column = self.pick(
                ("tenant_id", "workspace_id", "slice_id", "user_id", "context_token_count", "context_document_ids")
            )
            (value,) = self.pick(self.file.ask(f"select {column} from {SESSIONS} order by rowid"))
            self.file.edit(SESSIONS, row, **{column: value})
            self.has_hidden_edits |= column == "context_document_ids"  # of which the length alone is looked at

    def edit_feedback(self) -> None:
        for row in self.some(FEEDBACK):
            column = self.pick(
                (
                    "rating",
                    "session_id",
                    "tenant_id",
                    "review_verdict",
                    "edit_distance",
                    "accuracy_score",
                    "output_issues",
                )
            )
            (value,) = self.pick(self.file.ask(f"select {column} from {FEEDBACK} order by rowid"))
            self.file.edit(FEEDBACK, row, **{column: value})

    def move(self) -> None:
        for row in self.some(SESSIONS):
            self.file.edit(SESSIONS, row, started_at=stored(self.instant()))
        for row in self.some(FEEDBACK, most=2):
            self.file.edit(FEEDBACK, row, submitted_at=stored(self.instant()))

    def work_on_outputs(self) -> None:
        for row in self.some(OUTPUTS):
            self.file.edit(OUTPUTS, row, revised=self.pick(("", "another text", "ab" * self.random.randint(1, 9))))
            self.has_hidden_edits = True
        for row in self.some(NODES, most=1):
            self.file.edit(NODES, row, type=self.pick(("Runbook", "spec")))
