"""Who talks to the assistant when: users with turn numbers of their own, sessions that pause, cross midnight or come back."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from dagster_project.demo.conversations import hazards
from dagster_project.demo.conversations.rows import (
    COLUMN,
    FOLDER,
    TOPIC_LENGTH,
    TOPIC_ONLY,
    TRANSCRIPT,
    Turn,
    turn_name,
)
from dagster_project.demo.conversations.talk import REJECTIONS, Remark, Talk
from dagster_project.demo.incident import Incident
from dagster_project.demo.timeline import DAY, HOUR, epoch, new_id, start_times, to_microseconds

TIMEOUT = 1_800.0
TURNS_PER_SESSION = 4
SLACK = 12
NAMES = tuple(
    """
    henry amara lukas mei sofia oscar priya jonas fatima diego hanna tomasz aiko samuel leila emil grace
    pavel noor ines
""".split()
)
UNKNOWN_USERS = ("", "default", None)
UNKNOWN_SESSIONS = ("", "default")
COMMON_SESSIONS = ("main", "work")
EXACT_PAUSE = "pause_of_exactly_30_minutes"
CHITCHAT = "chitchat"
# Share of turns whose text lies elsewhere than in the columns.
IN_TRANSCRIPT, IN_TOPIC = 0.3, 0.05


@dataclass(frozen=True, slots=True)
class Demand:
    """What the caller wants to be generated. With no users, nobody is known and all share one count of turns.

    `folders` is how many turns may get a folder; `has_files` is false where all text belongs into the columns.
    """

    turns: int
    seed: str
    days: int
    last_day: date
    users: int
    first_number: int
    has_files: bool
    has_columns: bool
    folders: int
    opener_share: float


@dataclass(slots=True)
class User:
    """A user and the sessions to come back to, the latest last, each with the time of its last turn."""

    name: str | None
    next_number: int
    sessions: deque[tuple[str, float]]


class Sessions:
    """Generates sessions in the order of time. The same demand gives the same sessions on any machine."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        self.rng = rng = Random(f"{demand.seed}:sessions")
        self.talk = Talk(rng, demand.opener_share)
        self.planted: Counter[str] = Counter()
        self.end = epoch(demand.last_day + timedelta(days=1))
        self.nobody = User(None, demand.first_number, deque(maxlen=4))
        self.users = [User(_name(number), demand.first_number, deque(maxlen=4)) for number in range(demand.users)]
        self.incident = Incident(demand.last_day)
        self.places = hazards.place(demand.turns, rng) if demand.has_columns else {}
        self.number = 0
        self.folders_left = demand.folders
        self.folder_share = 1.15 * demand.folders / max(1, demand.turns)

    def sessions(self) -> Iterator[list[Turn]]:
        """Exactly as many turns as demanded. Where chance strays too far, a session is cut short or gets longer."""
        wanted, made = self.demand.turns, 0
        starts = self._starts()
        for number, start in enumerate(starts, 1):
            remarks = self.talk.session(self.incident.share(start))
            target = wanted * number / len(starts)
            while made + len(remarks) < target - (SLACK if number < len(starts) else 0):
                remarks += self.talk.session()
            limit = min(target + SLACK, wanted - len(starts) + number) - made
            remarks = remarks[: max(1, int(limit))]
            made += len(remarks)
            is_edge = number > len(starts) // 3 and not self.planted[EXACT_PAUSE]
            yield self._session(start, remarks, is_edge)

    def _starts(self) -> list[float]:
        """Every day has a session, if there are enough of them."""
        demand = self.demand
        rng = Random(f"{demand.seed}:starts")
        count = max(1, demand.turns // TURNS_PER_SESSION) if demand.turns else 0
        if count < 2 * demand.days:
            return start_times(count, demand.days, demand.last_day, rng)
        noons = [self.end - DAY * (day + 0.5) + 6 * HOUR * rng.random() for day in range(demand.days)]
        return sorted(noons + start_times(count - demand.days, demand.days, demand.last_day, rng))

    def _session(self, start: float, remarks: list[Remark], is_edge: bool) -> list[Turn]:
        rng = self.rng
        user = self._user()
        times = self._times(start, len(remarks), is_edge)
        session_id, is_unique = self._session_id(user, times)
        user_id = user.name if user is not self.nobody else UNKNOWN_USERS[int(rng.random() * 3)]
        if not self.demand.users:
            user_id = None
        elif user is self.nobody:
            self.planted["unknown_user"] += len(remarks)
        intents: dict[int, str] = {}
        turns: list[Turn] = []
        for remark, asked_at in zip(remarks, times, strict=True):
            turn = self._turn(remark, asked_at, self._intent(remark, intents))
            turn.turn_number, turn.user_id, turn.session_id = user.next_number, user_id, session_id
            turn.number = user.next_number
            user.next_number += 1
            turns.append(turn)
        self._judge(remarks, turns)
        for turn in turns:
            if self.demand.has_files:
                self._place(turn, is_unique, has_folder=user is not self.nobody or not self.users)
            hazard = self.places.get(self.number, "")
            self.number += 1
            if hazard:
                self._damage(turn, hazard)
            self.planted[turn.place] += 1
        return turns

    def _user(self) -> User:
        if not self.users or self.rng.random() < 0.05:
            return self.nobody
        draw = self.rng.random()
        return self.users[int(draw * (0.5 + draw / 2) * len(self.users))]

    def _times(self, start: float, count: int, is_edge: bool) -> list[float]:
        """Seconds or minutes between the turns, now and then a pause after which the session counts as ended."""
        rng = self.rng
        times = [0.0]
        for _ in range(count - 1):
            draw = rng.random()
            if draw < 0.03:
                gap = TIMEOUT + 1 + 4 * HOUR * rng.random() ** 2
                self.planted["timeout"] += 1
            elif draw < 0.07:
                gap = 300 + 1_400 * rng.random()
            else:
                gap = 15 + 220 * rng.random() * rng.random()
            times.append(times[-1] + gap)
        if is_edge and count > 1:
            # Half an hour to the second is not over half an hour yet.
            start = float(int(start))
            times = [0.0, *(TIMEOUT + offset - times[1] for offset in times[1:])]
            self.planted[EXACT_PAUSE] += 1
        elif count > 1 and rng.random() < 0.05:
            midnight = start - start % DAY + DAY
            place = int(rng.random() * (count - 1))
            if midnight < self.end and times[place + 1] - times[place] < TIMEOUT:
                start = midnight - (times[place] + times[place + 1]) / 2
                self.planted["across_midnight"] += 1
        start -= max(0.0, start + times[-1] - (self.end - 60))
        return [to_microseconds(start + offset) for offset in times]

    def _session_id(self, user: User, times: list[float]) -> tuple[str, bool]:
        """The id, and whether nobody else uses it."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.04:
            self.planted["unknown_session"] += len(times)
            return UNKNOWN_SESSIONS[int(rng.random() * 2)], False
        if draw < 0.06 and self.users and user is not self.nobody:
            self.planted["common_session"] += len(times)
            return COMMON_SESSIONS[int(rng.random() * 2)], False
        if draw < 0.14 and user.sessions and times[0] - user.sessions[0][1] > DAY:
            session_id = user.sessions.popleft()[0]
            self.planted["session_reused"] += 1
        else:
            session_id = f"sess_{new_id(rng)[:12]}"
        user.sessions.append((session_id, times[-1]))
        return session_id, True

    def _intent(self, remark: Remark, intents: dict[int, str]) -> str:
        """A request keeps its intent when it is put in other words; the classifier fails now and then."""
        rng = self.rng
        if rng.random() < 0.12:
            return ""
        if remark.scene is None or remark.sense in ("thanks", "no_that_is_all", "no_problem"):
            return CHITCHAT
        chosen = remark.scene.intents[int(rng.random() * len(remark.scene.intents))]
        return chosen if rng.random() < 0.06 else intents.setdefault(id(remark.scene), chosen)

    def _turn(self, remark: Remark, asked_at: float, intent: str) -> Turn:
        rng = self.rng
        scene, is_good = remark.scene, remark.is_good
        draw = rng.random()
        quality = None if rng.random() < 0.1 else int((620 if is_good else 380) + 340 * rng.random()) / 1000
        keywords = scene.keywords if scene is not None and rng.random() < 0.93 else "[]"
        strategy = scene.strategies[int(rng.random() * len(scene.strategies))] if scene and draw < 0.9 else ""
        goals = scene.goals[is_good] if scene is not None and rng.random() < 0.7 else ""
        text = remark.user
        return Turn(
            turn_number=0,
            user_id="",
            session_id="",
            timestamp=asked_at,
            topic=text[:TOPIC_LENGTH],
            intent=intent,
            keywords=keywords,
            validation_outcome=_outcome(draw, is_good),
            strategy_summary=strategy,
            quality_score=quality,
            user_feedback_status="neutral" if rng.random() < 0.5 else "",
            feedback_confidence=0.5,
            rejection_detected_in=None,
            goals_json=goals,
            query=text,
            response=remark.answer,
            sense=remark.sense,
            said=text,
            told=remark.answer,
            number=0,
            asked_at=asked_at,
        )

    def _judge(self, remarks: list[Remark], turns: list[Turn]) -> None:
        """What the source stored: it misses most rejections, sees a few that are none, and lowers the quality later."""
        rng = self.rng
        for place, remark in enumerate(remarks):
            self.planted[f"said_{remark.sense}"] += 1
            if not place:
                continue
            chance = 0.3 if remark.sense in REJECTIONS else 0.015
            if rng.random() >= chance:
                continue
            before = turns[place - 1]
            before.user_feedback_status, before.feedback_confidence = "rejected", 0.9
            before.rejection_detected_in = turn_name(turns[place].number)
            if before.quality_score is not None:
                before.quality_score = int(before.quality_score * 500) / 1000
            self.planted["stored_rejection" if remark.sense in REJECTIONS else "wrong_stored_rejection"] += 1

    def _place(self, turn: Turn, is_unique: bool, has_folder: bool) -> None:
        """Decide where the text lies. Transcripts and folders need a session id that belongs to one user."""
        draw = self.rng.random()
        if self.number in self.places or turn.session_id in UNKNOWN_SESSIONS:
            place = COLUMN
        elif self.folders_left and is_unique and has_folder and self.rng.random() < self.folder_share:
            place = FOLDER
            self.folders_left -= 1
        elif draw < IN_TOPIC:
            place = TOPIC_ONLY
        elif is_unique and (draw < IN_TOPIC + IN_TRANSCRIPT or not self.demand.has_columns):
            place = TRANSCRIPT
        else:
            place = COLUMN
        if place == COLUMN and not self.demand.has_columns:
            place = TOPIC_ONLY
        turn.place = place
        if place != COLUMN:
            turn.query = None
        if place == FOLDER or (place == TOPIC_ONLY and self.rng.random() < 0.4):
            turn.response = None
        if place == TOPIC_ONLY and len(turn.said) > TOPIC_LENGTH:
            self.planted["topic_cut"] += 1

    def _damage(self, turn: Turn, hazard: str) -> None:
        hazards.DAMAGE[hazard](turn)
        self.planted[hazard] += 1


def _outcome(draw: float, is_good: bool) -> str:
    """The validator lets through many answers that people reject."""
    if is_good:
        return "APPROVE" if draw < 0.82 else "REVISE" if draw < 0.92 else "RETRY" if draw < 0.95 else ""
    if draw < 0.5:
        return "APPROVE"
    return "REVISE" if draw < 0.7 else "RETRY" if draw < 0.84 else "FAIL" if draw < 0.95 else ""


def _name(number: int) -> str:
    return NAMES[number] if number < len(NAMES) else f"member_{number:05d}"
