"""Feedback about distilled examples: every way in which M1 links a row to an example, and every near miss.

It also says of some examples' answers what makes one training set of both systems (M2): the same record again, and the
same pair the other way round.
"""

import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from tests.oracle import distillation_texts_pool as pool
from tests.oracle.distillation_merge import Example
from tests.oracle.distillation_rows import UNIFIED
from tests.oracle.feedback_source import COLUMNS, blank
from tests.oracle.nasty_database import insert

Row = dict[str, Any]
DAY = 86_400
UP, DOWN = {"feedback_type": "rating", "rating": 1}, {"feedback_type": "rating", "rating": -1}
SAYINGS: tuple[Row, ...] = (
    UP,
    UP,
    UP,
    DOWN,
    DOWN,
    {"feedback_type": "correction", "rating": 1, "correction": "great!"},
    {"feedback_type": "correction", "rating": -1, "correction": "this is useless"},
    {
        "feedback_type": "correction",
        "rating": 1,
        "correction": "It is Wien.",
        "correction_type": "full_replacement",
        "what_was_wrong": "The wrong city",
    },
    {"feedback_type": "flag", "rating": 1, "flag_type": "harmful"},
    {"feedback_type": "flag", "rating": 1, "flag_type": " Incorrect"},
    {"feedback_type": "flag", "rating": 1, "flag_type": "unhelpful"},
    {"feedback_type": "preference", "rating": 1, "preferred_response": pool.OTHER_ANSWERS[1]},
)


class Voices:
    """Makes the feedback rows about one set of examples. Each way returns what it changes, or None where it cannot."""

    def __init__(self, examples: list[Example], source: random.Random, start: float) -> None:
        self.examples = [example for example in examples if not example.is_synthetic]
        self.asked = Counter(example.thread[0] for example in self.examples)
        self.random, self.pick, self.start = source, source.choice, start
        self.rows: list[Row] = []

    def same(self, text: str) -> str:
        return self.pick(pool.SAME_ANSWER)(text)

    def by_id(self, example: Example) -> Row | None:
        if example.winner.row.table != UNIFIED:
            return None  # whether the prefix belongs to the id is not said
        return {
            "response_id": example.id,
            "original_query": self.pick(("Something else?", example.query)),
            "original_response": self.pick((*pool.OTHER_ANSWERS, example.response)),
        }

    def by_session(self, example: Example) -> Row | None:
        answer = self.pick((self.same(example.response), *pool.OTHER_ANSWERS))
        return self.in_session(example, {"escalated_to_claude": 1, "original_response": answer})

    def by_session_and_answer(self, example: Example) -> Row | None:
        return self.in_session(example, {"escalated_to_claude": self.pick((0, None))})

    def by_answer(self, example: Example) -> Row:
        return {"escalated_to_claude": 1}

    def missed_by_escalation(self, example: Example) -> Row | None:
        return self.pick(({}, self.in_session(example, {"original_response": pool.OTHER_ANSWERS[0]})))

    def condemned(self, example: Example) -> Row:
        """Not linked to the example, and still of its answer (F8)."""
        return {"feedback_type": "flag", "rating": 1, "flag_type": "harmful", "conversation_context": example.context}

    def missed_by_answer(self, example: Example) -> Row:
        return {
            "escalated_to_claude": 1,
            "original_response": self.pick((*pool.OTHER_ANSWERS, example.response.swapcase(), f"{example.response}!")),
        }

    def missed_by_question(self, example: Example) -> Row | None:
        return self.in_session(example, {"escalated_to_claude": 1, "original_query": f"{example.query} Or?"})

    def on_attempt(self, example: Example) -> Row | None:
        if not example.attempt:
            return None
        return self.in_session(example, {"original_response": self.same(example.attempt), **DOWN})

    def same_pair(self, example: Example) -> Row | None:
        return self.pair(example, example.attempt, example.response)

    def reversed_pair(self, example: Example) -> Row | None:
        return self.pair(example, example.response, example.attempt)

    def in_session(self, example: Example, changes: Row) -> Row | None:
        session = example.value("session_id")
        return {"session_id": session, **changes} if session else None

    def pair(self, example: Example, worse: str | None, better: str | None) -> Row | None:
        if worse is None or better is None or blank(better):
            return None
        return {
            "feedback_type": "preference",
            "rating": 1,
            "original_response": worse,
            "preferred_response": self.same(better),
            "conversation_context": example.context,
        }

    def say(self, example: Example, changes: Row) -> None:
        number = len(self.rows)
        at = self.start + self.random.randrange(6 * DAY)
        self.rows.append(
            {
                "feedback_id": f"v{self.random.randrange(1000)}-{number}",
                "response_id": f"answer-{number}",
                "session_id": self.pick(("s1-other", "default", "s9")),
                "user_id": self.pick(("u1", "u2", "u3", None)),
                "timestamp": at,
                "created_at": at,
                "original_query": self.pick(pool.QUESTION_STYLES[:5])(example.query),
                "original_response": self.same(example.response),
                "escalated_to_claude": 0,
                "conversation_context": self.pick((None, example.context)),
                "domain": "code",
                **self.pick(SAYINGS),
                **changes,
            }
        )

    def change_a_mind(self) -> None:
        """The latest rating of a person on a response is the one that counts (F3)."""
        old = self.pick([row for row in self.rows if row["feedback_type"] == "rating"] or [None])
        if old:
            number, at = len(self.rows), old["timestamp"] + self.pick((-5, 5))
            new = {"feedback_id": f"w-{number}", "rating": -old["rating"], "timestamp": at, "created_at": at}
            self.rows.append({**old, **new})

    def speak(self) -> list[Row]:
        ways = (
            self.by_id,
            self.by_id,
            self.by_session,
            self.by_session_and_answer,
            self.by_answer,
            self.by_answer,
            self.missed_by_escalation,
            self.missed_by_answer,
            self.missed_by_question,
            self.on_attempt,
            self.same_pair,
            self.reversed_pair,
            self.condemned,
        )
        for example in self.examples:
            draw = self.random.random()
            if (
                draw < 0.06
                and example.attempt
                and example.winner.row.table == UNIFIED
                and self.asked[example.thread[0]] == 1
            ):
                # Only alone and on a question of its own: how it stands beside other rows is not said.
                self.say(example, {"response_id": example.id, "original_response": example.attempt, **DOWN})
            elif draw < 0.7:
                for _ in range(self.pick((1, 1, 2, 4))):
                    changes = self.pick(ways)(example)
                    if changes is not None:
                        self.say(example, changes)
                if self.rows and self.random.random() < 0.2:
                    self.change_a_mind()
        return self.rows


def write(path: Path, examples: list[Example], source: random.Random, start: float) -> None:
    """A feedback database about these examples."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"create table feedback ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
        for row in Voices(examples, source, start).speak():
            insert(connection, "feedback", {name: row.get(name) for name in COLUMNS})
    connection.close()
