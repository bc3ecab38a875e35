"""Who asks what and when: sessions of a few questions each, and the feedback they leave."""

import json
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from dagster_project.demo.feedback import hazards
from dagster_project.demo.feedback.replies import Reply, Writer
from dagster_project.demo.feedback.votes import (
    HARMFUL,
    FeedbackRow,
    Interaction,
    Voters,
    new_id,
    send_through_api,
    text_length,
    to_microseconds,
)
from dagster_project.demo.incident import Incident
from dagster_project.demo.texts import Case, Domain, load_library
from dagster_project.demo.timeline import DAY, epoch, start_times

# The names of domains and kinds of feedback, and up to which draw of [0, 1) each is chosen.
DOMAIN_NAMES = ("code", "general", "factual", "reasoning", "planning", "creative")
DOMAIN_LIMITS = (0.30, 0.48, 0.66, 0.79, 0.90)
KINDS = ("rating", "correction", "preference", "flag")
KIND_LIMITS = (0.76, 0.88, 0.95)
# Whoever met the bad model of the incident mostly says so.
BAD_MODEL_KIND_LIMITS = (0.20, 0.78, 0.80)
AFFECTED = 0.6
PRIVATE_SHARE = 0.012
SATISFACTION = {"code": 0.78, "general": 0.8, "factual": 0.76, "reasoning": 0.66, "planning": 0.74, "creative": 0.72}


@dataclass(frozen=True, slots=True)
class Demand:
    """What the caller wants to be generated."""

    rows: int
    seed: int
    days: int
    last_day: date
    hazards: bool
    text_bytes: int | None


@dataclass(frozen=True, slots=True)
class Visit:
    """Who is talking to the assistant, as far as the source knows, and what was said so far."""

    session_id: str
    user_id: str | None
    earlier: list[Interaction] = field(default_factory=list)


@dataclass(slots=True)
class Exchange:
    """An interaction with its feedback (none, if nobody said anything) and whether the source knows the response.

    `arrivals` says when each row reached the database, whatever its own timestamp claims.
    """

    asked: Interaction
    rows: list[FeedbackRow]
    arrivals: list[float]
    known: bool


class Conversations:
    """Generates sessions in the order of time. The same demand gives the same conversations on any machine."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        self.rng = rng = Random(f"{demand.seed}:conversations")
        library = load_library()
        self.domains = library.domains
        self.end = epoch(demand.last_day + timedelta(days=1))
        self.writer = Writer(library, rng)
        self.user_count = max(5, demand.rows // 25)
        self.voters = Voters(self.writer, rng, self.end, self.user_count, demand.hazards)
        self.planted: Counter[str] = self.voters.planted
        self.incident = Incident(demand.last_day)
        # Where long texts are wanted, nearly all of them should be different ones.
        is_story = demand.hazards and not demand.text_bytes
        self.popular_share = 0.03 if demand.text_bytes else 0.12
        self.duel_share, self.api_share = (0.5, 0.08) if is_story else (0.0, 0.0)
        self.surplus = 0.0
        self.number = 0
        self._plan()

    def _plan(self) -> None:
        """Decide how many rows each answer gets, when the sessions start, and where the hazards are."""
        demand = self.demand
        rng = Random(f"{demand.seed}:plan")
        sizes: list[tuple[int, ...]] = []
        left = demand.rows
        while left > 0:
            session: list[int] = []
            for _ in range(1 + int(6 * rng.random() * rng.random())):
                draw = rng.random() if demand.hazards else 1.0
                size = min(left, 3 if draw < 0.012 else 2 if draw < 0.10 else 1)
                left -= size
                if size:
                    session.append(size)
            sizes.append(tuple(session))
        self.sizes = sizes
        self.starts = start_times(len(sizes), demand.days, demand.last_day, rng)
        self.places: dict[int, str] = {}
        if demand.hazards:
            when = [start for start, session in zip(self.starts, sizes, strict=True) for _ in session]
            first = self.end - DAY * demand.days
            self.places = hazards.place(when, demand.rows, first, demand.days, rng)

    @property
    def rated_count(self) -> int:
        """How many interactions get feedback."""
        return sum(len(session) for session in self.sizes)

    def sessions(self) -> Iterator[list[Exchange]]:
        for start, sizes in zip(self.starts, self.sizes, strict=True):
            yield list(self._session(start, sizes))

    def _session(self, start: float, sizes: tuple[int, ...]) -> Iterator[Exchange]:
        rng = self.rng
        unknown = self.demand.hazards and rng.random() < 0.04
        visit = Visit("default" if unknown else f"sess_{new_id(rng)}", self._user())
        late = DAY * (0.2 + 1.5 * rng.random()) if self.demand.hazards and rng.random() < 0.004 else 0.0
        favourite = DOMAIN_NAMES[bisect(DOMAIN_LIMITS, rng.random())]
        asked_at = start
        for size in sizes:
            name = favourite if rng.random() < 0.7 else DOMAIN_NAMES[bisect(DOMAIN_LIMITS, rng.random())]
            exchange = self._exchange(self.domains[name], asked_at, visit, size, self.places.get(self.number, ""))
            if late:
                exchange.arrivals = [arrival + late for arrival in exchange.arrivals]
                self.planted["late_arrival"] += size
            yield exchange
            visit.earlier.append(exchange.asked)
            asked_at += 30 + 270 * rng.random()
            if rng.random() < 0.1:
                yield self._silent_exchange(self.domains[name], asked_at, visit)
                asked_at += 40

    def _user(self) -> str | None:
        draw = self.rng.random()
        if draw < 0.06:
            return None
        if draw < 0.11 and self.demand.hazards:
            return "default"
        return self.voters.user_id()

    def _exchange(self, domain: Domain, asked_at: float, visit: Visit, size: int, hazard: str) -> Exchange:
        rng = self.rng
        is_bad_model = domain.name == "code" and rng.random() < AFFECTED * self.incident.share(asked_at)
        limits = BAD_MODEL_KIND_LIMITS if is_bad_model else KIND_LIMITS
        kind = hazards.REQUIRED_TYPE.get(hazard) or KINDS[bisect(limits, rng.random())]
        satisfied = kind == "rating" and not is_bad_model and rng.random() < SATISFACTION[domain.name]
        context = None
        if is_bad_model:
            case, query = self.writer.question(domain, bool(visit.earlier))
            reply = self.writer.invention(case)
            self.planted["bad_model"] += size
        elif kind == "preference" and not hazard and rng.random() < self.duel_share:
            query, reply = self.writer.duel(domain)
            self.planted["same_two_answers"] += size
        else:
            good = rng.random() < (0.985 if satisfied else 0.015 if kind == "rating" else 0.02)
            query, reply = self._asked(domain, good, visit)
            # what is dangerous pleases some, and another reports it; what is only short, but right, pleases nearly everybody
            if kind == "rating" and reply.mistake and reply.mistake.flag == HARMFUL:
                satisfied = size > 1 and rng.random() < 0.5
            elif kind == "rating" and reply.flaw == "short":
                satisfied = rng.random() < 0.95
            if visit.earlier and rng.random() < (0.3 if self.demand.text_bytes else 0.45):
                context = self._context(visit.earlier)
        asked = self._interaction(domain, asked_at, visit, query, reply)
        asked.context = context
        rows = list(self.voters.rows(asked, kind, satisfied, size))
        self.number += 1
        if not hazard and rng.random() < self.api_share:
            for row in rows:
                send_through_api(row)
            self.planted["through_the_api"] += size
        self._note(asked, rows, size)
        arrivals = [row.timestamp for row in rows]
        if hazard in hazards.DAMAGE:
            hazards.DAMAGE[hazard](rows[0])
        if hazard:
            self.planted[hazard] += 1
        return Exchange(asked, rows, arrivals, known=hazard != hazards.ORPHAN)

    def _asked(self, domain: Domain, good: bool, visit: Visit) -> tuple[str, Reply]:
        rng = self.rng
        if rng.random() < self.popular_share:
            case, query = self.writer.popular_question(domain)
            return query, self.writer.popular_reply(case, good)
        case, query = self.writer.question(domain, bool(visit.earlier))
        reply = self._reply(domain, case, good, len(query))
        if self.demand.hazards and rng.random() < PRIVATE_SHARE:
            kind, said, told = self.writer.private(domain)
            query = f"{query} {said}"
            if rng.random() < 0.5:
                reply.text = f"{reply.text} {told}"
            self.planted[f"private_{kind}"] += 1
        return query, reply

    def _context(self, earlier: list[Interaction]) -> str:
        """What was said before, as one of the writers of the history keeps it: turns as JSON, a transcript, or just a note."""
        if self.demand.text_bytes:
            return f"User: {earlier[-1].query}\nSAM: {_excerpt(earlier[-1].reply.text, 240)}"
        draw = self.rng.random()
        before = earlier[-1:] if draw < 0.3 or 0.5 < draw < 0.75 else earlier[-3:]
        if draw < 0.5:
            self.planted["context_as_json"] += 1
            turns = [
                {"role": role, "content": text}
                for asked in before
                for role, text in (("user", asked.query), ("assistant", asked.reply.text))
            ]
            return json.dumps(turns, ensure_ascii=False)
        if draw < 0.96:
            self.planted["context_as_transcript"] += 1
            return "\n".join(f"User: {asked.query}\nSAM: {_excerpt(asked.reply.text, 600)}" for asked in before)
        self.planted["context_as_note"] += 1
        return f"The user was busy with another {earlier[-1].domain.name} question before."

    def _reply(self, domain: Domain, case: Case, good: bool, query_length: int) -> Reply:
        reply = self.writer.good_reply(domain, case) if good else self.writer.flawed_reply(domain, case)
        if target := self.demand.text_bytes:
            owed = max(-target, min(target, self.surplus))
            wanted = target * (0.5 + self.rng.random()) - query_length - owed
            reply.text = self.writer.lengthen(reply.text, domain, case, wanted)
        return reply

    def _interaction(self, domain: Domain, asked_at: float, visit: Visit, query: str, reply: Reply) -> Interaction:
        rng = self.rng
        asked_at = to_microseconds(min(asked_at, self.end - 60))
        confidence = int(350 + 630 * (1 - rng.random() * rng.random())) / 1000 if rng.random() < 0.95 else None
        return Interaction(
            number=self.number,
            response_id=new_id(rng),
            session_id=visit.session_id,
            user_id=visit.user_id,
            asked_at=asked_at,
            domain=domain,
            query=query,
            reply=reply,
            context=None,
            confidence=confidence,
            escalated=int(rng.random() < 0.06),
        )

    def _silent_exchange(self, domain: Domain, asked_at: float, visit: Visit) -> Exchange:
        """An answer that nobody judged; only `responses` knows it."""
        case, query = self.writer.question(domain)
        reply = self.writer.good_reply(domain, case)
        asked = self._interaction(domain, asked_at, visit, query, reply)
        return Exchange(asked, [], [], known=True)

    def _note(self, asked: Interaction, rows: list[FeedbackRow], size: int) -> None:
        if asked.session_id == "default":
            self.planted["default_session"] += size
        if asked.user_id == "default":
            self.planted["default_user"] += size
        if self.demand.text_bytes:
            self.surplus += sum(map(text_length, rows)) - size * self.demand.text_bytes


def _excerpt(text: str, limit: int) -> str:
    """The start of a text, cut between words as the assistant's history keeps it."""
    return text if len(text) <= limit else f"{text[:limit].rsplit(' ', 1)[0]} ..."
