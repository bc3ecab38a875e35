"""Rows for dirty distillation databases: one method a table, and one that spoils what they made.

Left out is what the law does not decide: blank values that are not empty, numbers where a vocabulary wants words in
`approved` and `success`, NaN in JSON, one id with two contents.
"""

import hashlib
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.oracle import distillation_texts_pool as pool
from tests.oracle.distillation_rows import CORRECTIONS, EXAMPLES, PATTERNS, RAW, TABLES, THOUGHTS, UNIFIED
from tests.oracle.nasty_database import BAD_TEXTS, BAD_TIMES

FIRST_DAY = datetime(2026, 1, 8, tzinfo=UTC)
DAYS = 6
Row = dict[str, Any]
STEP = {"step_num": 1, "action": "look", "content": "Look at it", "reasoning": "One has to"}
STEPS = (None, "", "[]", json.dumps([STEP]), *[json.dumps([STEP] * n) for n in (2, 3, 4, 5)])
BROKEN = ("not json", '[{"step_num": 1, "act', "7", '"text"', "null", " ", "{]")
ERROR = {"error_type": "incorrect", "what_sam_said": "x", "what_was_wrong": "y", "correct_answer": "z"}
SAM_ERRORS = json.dumps({"sam_errors": [ERROR], "improvements": ["more"]})
ERRORS = (None, None, "", "{}", '{"sam_errors": []}', SAM_ERRORS, SAM_ERRORS, SAM_ERRORS)
LEARNT = json.dumps([{"principle": "Look first", "context": "all", "importance": 0.5}])
PRINCIPLES = (None, "", "[]", LEARNT, LEARNT, LEARNT)
FLAGS = (
    None,
    None,
    "",
    "[]",
    "[]",
    '["repetition"]',
    '["incomplete", "outdated"]',
    '["refusal"]',
    '["uncertain"]',
    '[" Repetition ", "too_long"]',
)
KINDS = (
    None,
    "",
    "direct",
    " Direct",
    "chain_of_thought",
    "chain_of_thought",
    "chain_of_thought",
    "Multi_Step ",
    "tool_use",
    "correction",
    "meta_cognitive",
    "abductive",
)
DOMAINS = ("code", " Code ", "ANALYSIS", "factual", "gardening", "", "general", "reasoning")
FORMATS = (None, None, None, "", "instruction", "cot", "Correction ", "preference", "PREFERENCE", "dpo")
NOTES = (None, None, None, "", "fine", "fine", "AUTO-APPROVED: score 0.91", "AUTO-REJECTED: short", "not AUTO-approved")
BAD_NUMBERS = ("many", 5.5, b"7", float("inf"))


@dataclass
class Interaction:
    """One question and answer, to be told by several tables."""

    prompt: str
    answer: str
    attempt: str | None

    @property
    def is_plain(self) -> bool:
        return self.answer in pool.PLAIN_ANSWERS


class Maker:
    """Makes the rows of one seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.number = 0
        self.thoughts: set[str] = set()

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def id(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.random.randrange(100)}-{self.number}"

    def time(self) -> Any:
        """Few different instants, so that rows of one interaction often tie; some after every as_of."""
        seconds = (FIRST_DAY + timedelta(days=self.random.randrange(DAYS))).timestamp()
        choices = (seconds, seconds + 43200, seconds + 43200.5, int(seconds) + 5, (seconds + 7200) * 1000)
        return FIRST_DAY.timestamp() + 50 * 86400 if self.chance(0.03) else self.pick(choices)

    def interactions(self, count: int) -> list[Interaction]:
        made = [self.interaction() for _ in range(count)]
        made.append(Interaction("", pool.PLAIN_ANSWERS[0], "Try it"))
        made.append(Interaction(self.pick(pool.PROMPTS), self.pick(("", " \n")), "Try it"))
        made.append(Interaction("A question with a very long answer", self.pick(pool.LONG_ANSWERS), None))
        return made

    def interaction(self) -> Interaction:
        prompt = self.pick(pool.PROMPTS) if self.chance(0.4) else f"Question {self.random.randrange(10**6)}, if I may?"
        answer = self.pick(pool.ANSWERS)
        far = self.pick(pool.ATTEMPTS)
        near = self.pick((answer, f"{answer}\n", pool.nearly(answer))) if len(answer) > 230 else far
        return Interaction(prompt, answer, self.pick((None, "", far, far, near, near)))

    def question(self, asked: Interaction) -> str:
        return self.pick(pool.QUESTION_STYLES)(asked.prompt)

    def answer(self, asked: Interaction) -> str:
        return self.pick(pool.PLAIN_STYLES if asked.is_plain else pool.LINE_STYLES)(asked.answer)

    def attempt(self, asked: Interaction) -> str | None:
        return asked.attempt if self.chance(0.8) else self.pick((None, "", self.pick(pool.ATTEMPTS)))

    def complexity(self) -> int | None:
        return self.pick((None, None, 1, 4, 5, 10))

    def broken_or(self, choices: tuple[str | None, ...], misshapen: str) -> str | None:
        return self.pick((*BROKEN, misshapen)) if self.chance(0.12) else self.pick(choices)

    def unified(self, asked: Interaction) -> Row:
        row = {
            "id": self.id("d"),
            "session_id": self.pick(("s1", "s2", "s3", "default", "", None)),
            "created_at": self.time(),
            "query": self.question(asked),
            "query_context": self.pick((None, None, None, "", "Earlier: hello")),
            "sam_attempt": self.attempt(asked),
            "sam_confidence": self.pick((None, 0, 1, 0.4)),
            "sam_reasoning": None,
            "claude_response": self.answer(asked),
            "reasoning_type": self.pick(KINDS),
            "reasoning_steps": self.broken_or(STEPS, '{"step_num": 1}'),
            "tool_usage": self.broken_or((None, "[]"), "{}"),
            "corrections": self.broken_or(ERRORS, "[1, 2]"),
            "principles": self.broken_or(PRINCIPLES, '{"principle": 3}'),
            "domain": self.pick(DOMAINS),
            "subdomain": self.pick((None, "", "python", "css")),
            "task_type": self.pick((None, "", "debug")),
            "complexity": self.complexity(),
            "quality_score": self.pick((None, 0.85, 0.5, 1, 0.3333333)),
            "quality_flags": self.broken_or(FLAGS, "{}"),
            "human_reviewed": self.pick((0, 0, 0, 1, 1, -1, None)),
            "reviewer_notes": self.pick(NOTES),
            "training_ready": self.pick((0, 1, None)),
            "training_format": self.pick(FORMATS),
            "export_count": 0,
            "last_exported_at": self.pick((None, 1769000000123)),
            "mood": self.pick((None, "good")),
        }
        return self.settle_review(row)

    def normalised(self, asked: Interaction) -> dict[str, list[Row]]:
        """A row of `examples` with its pattern and corrections, if any."""
        key, at, pattern = self.id("e"), self.time(), self.id("p")
        has_pattern = self.chance(0.6)
        row = {
            "id": key,
            "query": self.question(asked),
            "sam_attempt": self.attempt(asked),
            "claude_response": self.answer(asked),
            "reasoning_type": self.pick(KINDS),
            "domain": self.pick(DOMAINS),
            "complexity": self.complexity(),
            "quality_score": self.pick((None, 0.6)),
            "human_reviewed": self.pick((0, 0, 1, 1, None)),
            "approved": self.pick((0, 1)),
            "reviewer_notes": self.pick(NOTES),
            "reasoning_pattern_id": self.pick((pattern, None)) if has_pattern else None,
            "created_at": at,
            "reviewed_at": None,
            "exported_at": self.pick((None, 1769000000)),
        }
        patterns = (
            [
                {
                    "id": pattern,
                    "example_id": key,
                    "reasoning_type": self.pick(("multi_step", "direct")),
                    "reasoning_steps": self.broken_or(STEPS, "{}"),
                    "tool_usage": "[]",
                    "complexity": "high" if self.chance(0.1) else self.complexity(),
                    "confidence": 0.5,
                    "created_at": at,
                }
            ]
            if has_pattern
            else []
        )
        corrections = [
            {
                **ERROR,
                "id": self.id("c"),
                "example_id": key,
                "improvements": self.broken_or((None, '["more"]'), "{}"),
                "lesson_learned": None,
                "created_at": at,
            }
            for _ in range(self.pick((0, 0, 0, 1, 2)))
        ]
        return {EXAMPLES: [self.settle_review(row)], PATTERNS: patterns, CORRECTIONS: corrections}

    def legacy(self, asked: Interaction) -> dict[str, list[Row]]:
        """An interaction and its chain of thought, if any; the thought is called by the interaction's hash."""
        row = {
            "id": self.id("r"),
            "prompt": self.question(asked),
            "response": self.answer(asked),
            "domain": self.pick(DOMAINS),
            "quality_score": 0.5,
            "processed": 0,
            "created_at": self.time(),
        }
        called = hashlib.md5((row["prompt"] + row["response"][:100]).encode()).hexdigest()[:12]
        is_new = called not in self.thoughts and self.chance(0.6)
        self.thoughts |= {called} if is_new else set()
        return {RAW: [row], THOUGHTS: [self.thought(called, row["prompt"])] if is_new else []}

    def thought(self, called: str, prompt: str) -> Row:
        steps = [f"{text.strip()}" for text in self.random.sample(pool.FILLER, 4)]
        return {
            "id": called,
            "prompt": prompt,
            "final_answer": self.pick((None, "", "It is forty-two.", "So it is done")),
            "reasoning_steps": self.broken_or((None, "", "[]", json.dumps(steps[:1]), json.dumps(steps)), '{"a": 1}'),
            "domain": self.pick(DOMAINS),
            "complexity": self.complexity(),
            "success": self.pick((1, 1, 0, None)),
            "created_at": self.time(),
        }

    def retold_thought(self) -> dict[str, list[Row]]:
        """A chain of thought alone, and at times a younger row with just the response that is rebuilt from it."""
        thought = self.thought(self.id("t"), f"A thought about {self.random.randrange(1000)}?")
        thought["reasoning_steps"], thought["final_answer"] = (
            json.dumps(["Look at it.", "Turn it over."]),
            "Done, then.",
        )
        asked = Interaction(thought["prompt"], "Look at it. Turn it over. Done, then.", None)
        return {THOUGHTS: [thought], UNIFIED: [self.unified(asked)] if self.chance(0.5) else []}

    def pair(self, number: int) -> Row:
        """Both sides by the teacher. Questions of their own: how they meet users' pairs is not decided."""
        good = self.pick((pool.prose(160, number % 5), "A good pair side."))
        bad = self.pick(("A mediocre side, on purpose.", good, f" {good}\r\n", "", "A good pair side."))
        return {
            "id": self.id("q"),
            "prompt": self.pick(pool.QUESTION_STYLES)(f"Pair {number % 4} or not?"),
            "good_response": good,
            "bad_response": bad,
            "reason": None,
            "domain": self.pick(DOMAINS),
            "created_at": self.time(),
        }

    def settle_review(self, row: Row) -> Row:
        """Whether notes of a machine without human_reviewed are a review is not said."""
        return {**row, "reviewer_notes": None} if row["human_reviewed"] is None else row

    def spoil(self, table: str, row: Row) -> None:
        """One column, of a type, range or text the law refuses."""
        rule = TABLES[table]
        column = self.pick(list(rule.columns))
        if column == "created_at":
            row[column] = self.pick(BAD_TIMES)
        elif column == "id":
            row[column] = self.pick((*BAD_TEXTS, None, ""))
        elif column == "reasoning_pattern_id":  # whether a number may be an id is not said
            row[column] = self.pick(BAD_TEXTS)
        elif rule.columns[column] == "text":
            row[column] = self.pick((*BAD_TEXTS, None, 17) if column in rule.required else (*BAD_TEXTS, 17, 2.5))
        else:
            ranges = {"human_reviewed": (2, -2), "sam_confidence": (1.5, -0.1), "complexity": (0, 11, -3)}
            row[column] = self.pick((*BAD_NUMBERS, *ranges.get(column, ())))
            if rule.columns[column] == "real" and row[column] == 5.5:
                row[column] = "half"
