"""Composes what a user asks, what the assistant replies, and what a critic would say about that reply."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from dagster_project.demo.feedback.private_data import MAKERS
from dagster_project.demo.texts import Case, Domain, Library, Mistake

Item = TypeVar("Item")

# How often a flawed reply has which flaw; the rest is a mistake in the matter itself.
FLAW_SHARES = (("short", 0.16), ("vague", 0.10), ("cut", 0.05), ("stray", 0.05), ("repeated", 0.04), ("layout", 0.02))
POPULAR_QUESTIONS = 30
DUELS = 8  # of the popular questions of a domain: many people were shown the same two answers to them
DISSENT = 0.22  # how often the worse of the two is preferred


@dataclass(slots=True)
class Reply:
    """An answer of the assistant. `flaw` names a defect of the library, or is empty; `mistake` is a factual one.

    `rival` is the answer that was shown beside it, where people were asked to choose.
    """

    case: Case
    text: str
    flaw: str = ""
    mistake: Mistake | None = None
    rival: str | None = None


@dataclass(slots=True)
class Criticism:
    """Everything a user might write about a reply; each kind of feedback takes its part."""

    better: str
    wrong: str
    correction: str
    correction_type: str
    basis: str
    flag: str
    details: str


class Writer:
    """Writes questions, replies and criticism from the library, drawing from one random stream."""

    def __init__(self, library: Library, rng: Random) -> None:
        self.library = library
        self.rng = rng
        self.popular = {
            name: [(case, self.pick(case.questions).bare) for case in map(self.case, [domain] * POPULAR_QUESTIONS)]
            for name, domain in library.domains.items()
        }

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.rng.random() * len(items))]

    def case(self, domain: Domain) -> Case:
        return self.pick(self.pick(domain.topics))

    def question(self, domain: Domain, is_later: bool = False) -> tuple[Case, str]:
        """A question as one person would put it, with a word about why it is asked: hardly two are equal."""
        rng = self.rng
        case = self.case(domain)
        asked = self.pick(case.questions)
        text = f"{asked.head}{domain.settings.draw(rng)}{asked.tail}"
        if rng.random() < 0.25:
            text = f"{self.pick(self.library.links if is_later else self.library.greetings)} {text}"
        if rng.random() < 0.3:
            text = f"{text} {self.pick(self.library.closers)}"
        return case, text

    def popular_question(self, domain: Domain) -> tuple[Case, str]:
        """A bare question that many people ask in the same words, some far more often than others."""
        position = self.rng.random()
        return self.popular[domain.name][int(position * position * POPULAR_QUESTIONS)]

    def popular_reply(self, case: Case, good: bool) -> Reply:
        """One of a few fixed answers, so that several users judge the same text."""
        if good:
            return Reply(case, case.answers[self.rng.random() < 0.4])
        mistake = case.mistakes[0]
        return Reply(case, mistake.answer, mistake=mistake)

    def duel(self, domain: Domain) -> tuple[str, Reply]:
        """A popular question with a wrong and a right answer to it; most people prefer the right one."""
        case, query = self.popular[domain.name][int(self.rng.random() * DUELS)]
        mistake, right = case.mistakes[0], case.answers[0]
        if self.rng.random() < DISSENT:
            return query, Reply(case, right, rival=mistake.answer)
        return query, Reply(case, mistake.answer, mistake=mistake, rival=right)

    def invention(self, case: Case) -> Reply:
        """What the bad model of the incident answers: something that does not exist."""
        texts = self.library.inventions
        name = self.pick(texts.invented)

        def told(choices: Sequence[str]) -> str:
            return self.pick(choices).replace("{invented}", name)

        right = f"There is no {name}. {case.answers[0]}"
        mistake = Mistake(
            answer=told(texts.answers),
            wrong=told(texts.wrong),
            fix=right,
            basis=told(texts.basis),
            flag="incorrect",
            details=told(texts.details),
        )
        return Reply(case, mistake.answer, mistake=mistake)

    def private(self, domain: Domain) -> tuple[str, str, str]:
        """What somebody should not have typed: its kind, the sentence it stands in, and what the assistant says to it."""
        found = self.pick(self.library.private[domain.name])
        it = MAKERS[found.kind](self.rng)
        return found.kind, found.asked.replace("{it}", it), found.told.replace("{it}", it)

    def good_text(self, domain: Domain, case: Case) -> str:
        """A right answer, some of the remarks that belong to it, and perhaps an offer."""
        answer = self.pick(case.answers)
        text = f"{answer}{self._break_after(answer)}{self.pick(case.endings)}"
        return f"{text} {self.pick(domain.offers)}" if self.rng.random() < 0.5 else text

    def good_reply(self, domain: Domain, case: Case) -> Reply:
        return Reply(case, self.good_text(domain, case))

    def flawed_reply(self, domain: Domain, case: Case) -> Reply:
        draw = self.rng.random()
        for flaw, share in FLAW_SHARES:
            draw -= share
            if draw < 0:
                return Reply(case, self._flawed_text(domain, case, flaw), flaw=flaw)
        mistake = self.pick(case.mistakes)
        text = mistake.answer
        if self.rng.random() < 0.7:
            text = f"{text}{self._break_after(text)}{self.pick(case.remarks)}"
        return Reply(case, text, mistake=mistake)

    def lengthen(self, text: str, domain: Domain, asked: Case, wanted: float) -> str:
        """Add at least one more question and answer of the domain, until the text is about as long as wanted.

        Even the shortest addition makes the text one of its kind.
        """
        while True:
            case = self.case(domain)
            if case is asked:
                continue
            question = self.pick(case.questions).bare
            text = f"{text}\n\n{self.pick(self.library.related)} {question}\n{self.pick(case.answers)}"
            if len(text) >= wanted:
                return text

    def criticise(self, domain: Domain, reply: Reply) -> Criticism:
        """What somebody who knows better would say; a reply without a flaw is criticised for what it leaves out."""
        case = reply.case
        better = self.good_text(domain, case)
        if mistake := reply.mistake:
            criticism = Criticism(
                better, mistake.wrong, better, "full_replacement", mistake.basis, mistake.flag, mistake.details
            )
            if self.rng.random() < 0.45:
                criticism.correction, criticism.correction_type = mistake.fix, "partial_fix"
            return criticism
        flaw = reply.flaw or "short"
        defect = self.library.defects[flaw]
        kind = "clarification" if flaw in ("vague", "repeated", "layout") else "full_replacement"
        criticism = Criticism(
            better,
            self.pick(defect.wrong),
            better,
            kind,
            self.pick(defect.basis),
            defect.flag,
            self.pick(defect.details),
        )
        if flaw == "short":
            missing = [sentence for sentence in case.more if sentence not in reply.text]
            if missing and self.rng.random() < 0.7:
                criticism.correction, criticism.correction_type = " ".join(missing[:2]), "addition"
            else:
                whole = f"{reply.text}{self._break_after(reply.text)}{' '.join(missing or case.more)}"
                criticism.correction = criticism.better = whole
        return criticism

    def _flawed_text(self, domain: Domain, case: Case, flaw: str) -> str:
        if flaw == "vague":
            return self.pick(self.library.vague)
        if flaw == "short":
            return case.answers[0]
        if flaw == "stray":
            other = self.case(domain)
            return self.good_text(domain, other if other is not case else domain.topics[0][0])
        text = self.good_text(domain, case)
        if flaw == "cut":
            words = text[: int(len(text) * (0.4 + 0.4 * self.rng.random()))].split(" ")
            return " ".join(words[:-1]).rstrip(" .,;:!?\n\"'") or text[:20]
        if flaw == "repeated":
            sentence = self.pick(case.more)
            return f"{case.answers[0]}{self._break_after(case.answers[0])}{sentence} {sentence} {sentence}"
        return text.upper()

    @staticmethod
    def _break_after(answer: str) -> str:
        """Remarks go on in the same paragraph, unless the answer ends in code, a list or a poem."""
        return "\n\n" if "\n" in answer else " "
