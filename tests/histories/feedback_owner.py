"""SAM's feedback: the rows of the nasty databases, and people who change their minds about them."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.histories.owners import Act, OwnedFile, Owner, moment
from tests.oracle import nasty_database as nasty
from tests.oracle.feedback_source import COLUMNS, SCALES

TABLE = "feedback"
RATINGS, PAIRS = "feedback_type like 'rating%'", "feedback_type like 'preference%'"
FLAGS, CORRECTIONS = "feedback_type like 'flag%'", "feedback_type like 'correction%'"
VISIBLE: dict[str, tuple[Any, ...]] = {
    "processed": (0, 1, None),
    "processed_at": (None, 1_705_000_000.0),
    "quality_weight": (None, 0.25, 0.75),
    "training_format": (None, "preference"),
    "feedback_type": ("rating", "flag", "RATING ", "thumb"),
    "rating": (-1, 1, 5, 2, None, "up"),
}
HIDDEN: dict[str, tuple[Any, ...]] = {
    "original_query": nasty.PROMPTS,
    "original_response": nasty.ANSWERS,
    "correction": (*nasty.ANSWERS, *nasty.FIXES),
    "preferred_response": nasty.ANSWERS,
    "conversation_context": nasty.CONTEXTS,
    "what_was_wrong": nasty.WRONGS,
    "user_id": nasty.USERS,
    "session_id": nasty.SESSIONS,
    "domain": nasty.DOMAINS,
    "flag_type": (*nasty.HARMFUL, *nasty.FLAGS),
    "correction_type": nasty.CORRECTION_TYPES,
    "response_confidence": (None, 0.5, 0.9, 7),
    "escalated_to_claude": (0, 1, None),
    "response_id": ("r1", "r2", "r3", ""),
}


class DatedMaker(nasty.Maker):
    """Makes rows of some days only."""

    first, last = 0, 1

    def time(self) -> Any:
        seconds = moment(self.random.randrange(self.first, self.last)).timestamp()
        return self.random.choice(
            (
                seconds + 43_200,
                seconds + 43_200.5,
                seconds + self.random.random() * 86_400,
                seconds,
                seconds + 86_399.999999,
                (seconds + 3600) * 1000,
            )
        )


class FeedbackOwner(Owner):
    system = "feedback"

    def __init__(self, folder: Path, random: Random) -> None:
        super().__init__(folder, random)
        self.maker = DatedMaker(random.randrange(10**6))
        self.scale = self.maker.scale
        self.second = OwnedFile(self.folder / "more.db") if self.chance(0.4) else None
        responses = nasty.make_responses(self.maker) if self.chance(0.5) else None
        columns = [*COLUMNS, "mood"] if self.chance(0.5) else list(COLUMNS)
        nasty.write_file(nasty.NastyFile(columns, self.chance(0.7), [], responses), self.file.path)
        if self.second:
            nasty.write_file(nasty.NastyFile(list(COLUMNS), True), self.second.path)

    @property
    def files(self) -> list[Path]:
        return [self.file.path, *([self.second.path] if self.second else [])]

    @property
    def settings(self) -> dict[str, str]:
        return {"GRISTMILL_RATING_SCALE": self.scale}

    def take(self, random: Random) -> None:
        super().take(random)
        self.maker.random = random

    def add(self, first: int, last: int, count: int) -> None:
        self.maker.first, self.maker.last = first, max(last, first + 1)
        rows = self.maker.rows(count)
        for number, row in enumerate(rows):
            if isinstance(row["feedback_id"], str) and len(row["feedback_id"]) > 4:
                rows[number] = row | {"feedback_id": self.new_id("f")}
        target = self.second if self.second and self.chance(0.3) else self.file
        target.insert(TABLE, *rows)

    @property
    def acts(self) -> Sequence[Act]:
        mine = [
            self.delete,
            self.delete_good_ratings,
            self.edit_flags,
            self.edit_texts,
            self.move,
            self.change_minds,
            self.say_again,
            self.flag_harmful,
            self.unflag,
            self.flip_pairs,
            self.add_partners,
            self.mend,
            self.repeat_with_same_id,
        ]
        return [*mine, *([self.work_on_responses] * 3 if self.file.has("responses") else [])]

    def delete(self) -> None:
        for row in self.some(TABLE):
            self.file.delete(TABLE, row)

    def delete_good_ratings(self) -> None:
        """The thumbs-up partner of a rating pair vanishes."""
        for row in self.some(TABLE, f"{RATINGS} and rating in (1, 4, 5)", most=5):
            self.file.delete(TABLE, row)

    def edit_flags(self) -> None:
        for row in self.some(TABLE):
            column = self.pick(list(VISIBLE))
            self.file.edit(TABLE, row, **{column: self.pick(VISIBLE[column])})

    def edit_texts(self) -> None:
        for row in self.some(TABLE):
            column = self.pick(list(HIDDEN))
            self.file.edit(TABLE, row, **{column: self.pick(HIDDEN[column])})
        self.has_hidden_edits = True

    def move(self) -> None:
        for row in self.some(TABLE):
            self.file.edit(TABLE, row, timestamp=self.seconds())

    def change_minds(self) -> None:
        """The same voter on the same old response, now."""
        for row in self.some(TABLE, RATINGS):
            now = self.seconds(self.pick((self.days - 1, self.day())))
            changed = self.pick(SCALES[self.scale])
            self.file.clone(TABLE, row, feedback_id=self.new_id("f"), timestamp=now, rating=changed)

    def say_again(self) -> None:
        """A second identical answer, or somebody else who says the same."""
        for row in self.some(TABLE):
            other = self.pick(({}, {"user_id": self.pick(nasty.USERS)}, {"response_id": self.pick(self.maker.ids)}))
            self.file.clone(TABLE, row, feedback_id=self.new_id("f"), timestamp=self.seconds(), **other)

    def flag_harmful(self) -> None:
        for row in self.some(TABLE, most=2):
            self.file.clone(
                TABLE,
                row,
                feedback_id=self.new_id("f"),
                timestamp=self.seconds(),
                user_id="u9",
                feedback_type="flag",
                rating=None,
                flag_type=self.pick((*nasty.HARMFUL, "incorrect")),
            )

    def unflag(self) -> None:
        for row in self.some(TABLE, FLAGS):
            self.file.delete(TABLE, row)

    def flip_pairs(self) -> None:
        """Somebody prefers it the other way round (F13)."""
        for row in self.some(TABLE, f"{PAIRS} and preferred_response <> ''"):
            names = "original_response, preferred_response"
            ((answer, better),) = self.file.ask(f"select {names} from {TABLE} where rowid = ?", row)
            self.file.clone(
                TABLE,
                row,
                feedback_id=self.new_id("f"),
                timestamp=self.seconds(),
                user_id=self.pick(nasty.USERS),
                original_response=better,
                preferred_response=answer,
            )

    def add_partners(self) -> None:
        """Another answer to the same prompt, rated the other way."""
        for row in self.some(TABLE, RATINGS):
            self.file.clone(
                TABLE,
                row,
                feedback_id=self.new_id("f"),
                timestamp=self.seconds(),
                user_id=self.pick(nasty.USERS),
                response_id=self.pick(self.maker.ids),
                original_response=self.pick(nasty.ANSWERS),
                rating=self.pick(SCALES[self.scale]),
            )

    def mend(self) -> None:
        """Rows without a time get one, wrong ratings become right."""
        for row in self.some(TABLE, "typeof(timestamp) <> 'real' or timestamp > 4e9 or timestamp < 1e9", most=5):
            self.file.edit(TABLE, row, timestamp=self.seconds())
        for row in self.some(TABLE, f"{RATINGS} and typeof(rating) <> 'integer'"):
            self.file.edit(TABLE, row, rating=1)

    def repeat_with_same_id(self) -> None:
        """A copy in the other file, or a row of the same id that says something else."""
        if not self.second:
            return
        target, origin = self.pick(((self.second, self.file), (self.file, self.second)))
        names = ", ".join(COLUMNS)
        found = origin.ask(f"select {names} from {TABLE} where typeof(feedback_id) = 'text' order by rowid")
        for values in self.random.sample(found, min(3, len(found))):
            row = dict(zip(COLUMNS, values, strict=True))
            changed = self.pick(
                ({}, {"processed": 1}, {"timestamp": self.seconds()}, {"domain": "creative"}, {"rating": 1})
            )
            target.insert(TABLE, row | changed)

    def work_on_responses(self) -> None:
        """Texts that feedback without its own takes from there, and ids that make it no orphan."""
        what = self.random.randrange(4)
        for row in self.some("responses"):
            if what == 0:
                self.file.delete("responses", row)
            elif what == 1:
                self.file.edit(
                    "responses", row, confidence=self.pick((0.5, 0.95, 1.5)), session_id=self.pick(nasty.SESSIONS)
                )
            elif what == 2:
                self.file.edit("responses", row, query=self.pick(nasty.PROMPTS), response=self.pick(nasty.ANSWERS))
                self.has_hidden_edits = True
            else:
                name = self.pick((*self.maker.ids, self.new_id("r")))
                self.file.clone("responses", row, response_id=name, timestamp=self.seconds())
