"""What is said in a session: requests, good and bad answers, and above all what people say next."""

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from dagster_project.demo.conversations.texts import Question, Scene, Texts, load_phrases, load_scenes

# What a message says about the answer before it.
REQUEST, TOPIC, FOLLOW, THANKS, ACCEPT, DECLINE, REPLY, TRIFLE, BACK, GREETING = (
    "request",
    "topic_change",
    "follow_up",
    "thanks",
    "accept",
    "no_that_is_all",
    "answer_to_question",
    "no_problem",
    "reference",
    "greeting",
)
EXPLICIT, REPHRASED, ABANDONED = "explicit", "rephrased", "abandonment"
REJECTIONS = frozenset((EXPLICIT, REPHRASED, ABANDONED))
# How a request turns out, and up to which draw of [0, 1).
FATES = ("smooth", "corrected", "corrected_again", "rephrased", "abandoned", "ignored")
FATE_LIMITS = (0.64, 0.76, 0.82, 0.89, 0.94)
BAD_MODEL_FATE_LIMITS = (0.16, 0.46, 0.64, 0.80, 0.94)
TAILS = ("", "offer", "question", "trifle")
TAIL_LIMITS = (0.62, 0.8, 0.92)


@dataclass(slots=True)
class Remark:
    """A message with the answer to it. `sense` is what the message says about the answer before."""

    user: str
    answer: str
    sense: str
    is_good: bool
    scene: Scene | None


class Talk:
    """Makes up sessions from the templates. `opener_share` of the requests begin with how they came about."""

    def __init__(self, rng: Random, opener_share: float = 0.17) -> None:
        self.rng = rng
        self.opener_share = opener_share
        self.scenes = load_scenes()
        phrases = load_phrases()
        self.lists = phrases.lists
        self.trifles = phrases.trifles
        self.references = phrases.references

    def session(self, bad_model: float = 0.0) -> list[Remark]:
        """All that is said. `bad_model` is the share of questions about code that go to the model of the incident."""
        rng = self.rng
        remarks: list[Remark] = []
        if rng.random() < 0.05:
            remarks.append(Remark(self.phrase("greetings"), self.phrase("greeting_answers"), GREETING, True, None))
        for number in range(1 + int(4 * rng.random() * rng.random())):
            if number and remarks[-1].sense == DECLINE:
                break
            scene = self.scenes[int(rng.random() * len(self.scenes))]
            is_bad_model = scene.domain == "code" and bad_model > 0 and rng.random() < bad_model
            remarks.extend(self._episode(scene, bool(number), BAD_MODEL_FATE_LIMITS if is_bad_model else FATE_LIMITS))
        return remarks

    def phrase(self, name: str) -> str:
        return self._one(self.lists[name])

    def typed(self, text: str) -> str:
        """Some people never touch the shift key."""
        if self.rng.random() < 0.12 and len(text) < 200:
            return text.lower().rstrip(".")
        return text

    def _one(self, texts: Texts) -> str:
        return texts[int(self.rng.random() * len(texts))]

    def _episode(self, scene: Scene, is_later: bool, fate_limits: tuple[float, ...]) -> Iterator[Remark]:
        rng = self.rng
        user, sense = self._request(scene, is_later)
        fate = FATES[bisect(fate_limits, rng.random())]
        if fate == "smooth":
            yield from self._served(scene, user, sense, "")
            return
        miss = scene.misses[int(rng.random() * len(scene.misses))]
        is_evasive = rng.random() < 0.2
        yield Remark(user, self.phrase("evasions") if is_evasive else miss.answer, sense, False, scene)
        corrections = self.lists["rejections"] if is_evasive or rng.random() < 0.25 else miss.corrections
        if fate == "corrected":
            yield from self._served(scene, self.typed(self._one(corrections)), EXPLICIT, self.phrase("apologies"))
        elif fate == "corrected_again":
            yield from self._corrected_again(scene, self._one(corrections))
        elif fate == "rephrased":
            yield from self._served(scene, self.typed(self._one(scene.rephrasings)), REPHRASED, "")
        elif fate == "abandoned":
            yield Remark(self.phrase("abandonments"), self.phrase("restarts"), ABANDONED, True, scene)

    def _request(self, scene: Scene, is_later: bool) -> tuple[str, str]:
        rng = self.rng
        text = self._one(scene.requests)
        sense = TOPIC if is_later else REQUEST
        if rng.random() < self.opener_share:
            return f"{self._one(scene.openers)} {text}", sense
        draw = rng.random()
        if draw < 0.3:
            return f"{self.phrase('switches' if is_later else 'openings')} {text}", sense
        if draw < 0.4:
            return f"{text} {self.phrase('endings')}", sense
        return self.typed(text), sense

    def _corrected_again(self, scene: Scene, correction: str) -> Iterator[Remark]:
        """Two or more corrections in a row, with or without a happy ending."""
        rng = self.rng
        message = correction
        for _ in range(1 + int(2.5 * rng.random())):
            miss = scene.misses[int(rng.random() * len(scene.misses))]
            yield Remark(message, f"{self.phrase('apologies')} {miss.answer}", EXPLICIT, False, scene)
            message = f"{self.phrase('impatience')} {self._one(miss.corrections)}"
        if rng.random() < 0.3:
            yield Remark(self.phrase("abandonments"), self.phrase("restarts"), ABANDONED, True, scene)
        else:
            yield from self._served(scene, message, EXPLICIT, self.phrase("apologies"))

    def _served(self, scene: Scene, user: str, sense: str, apology: str) -> Iterator[Remark]:
        """A good answer, and how people go on from there."""
        rng = self.rng
        answer = f"{apology} {self._one(scene.answers)}" if apology else self._one(scene.answers)
        start = int(rng.random() * len(scene.follows))
        follows = scene.follows[start:] + scene.follows[:start]
        if rng.random() < 0.4:
            answer = f"{answer}\n\n{self.phrase('asides')} {follows[-1][1]}"
            follows = follows[:-1]
        tail = TAILS[bisect(TAIL_LIMITS, rng.random())]
        if tail == "offer":
            yield Remark(user, f"{answer}\n\n{self.phrase('offers')}", sense, True, scene)
            if rng.random() < 0.6:
                yield Remark(self.phrase("declines"), self.phrase("goodbyes"), DECLINE, True, scene)
        elif tail == "question":
            question = scene.questions[int(rng.random() * len(scene.questions))]
            yield Remark(user, f"{answer} {question.asked}", sense, True, scene)
            yield self._reply(question, scene)
        elif tail == "trifle":
            aside, replies = self.trifles[int(rng.random() * len(self.trifles))]
            yield Remark(user, f"{answer} {aside}", sense, True, scene)
            yield Remark(self._one(replies), self.phrase("welcomes"), TRIFLE, True, scene)
        else:
            yield Remark(user, answer, sense, True, scene)
            yield from self._going_on(scene, follows)

    def _reply(self, question: Question, scene: Scene) -> Remark:
        if self.rng.random() < 0.5:
            return Remark(self._one(question.yes), question.yes_answer, REPLY, True, scene)
        return Remark(self._one(question.no), question.no_answer, REPLY, True, scene)

    def _going_on(self, scene: Scene, follows: tuple[tuple[str, str], ...]) -> Iterator[Remark]:
        rng = self.rng
        follow_count = int(3.2 * rng.random())
        for asked, answer in follows[:follow_count]:
            yield Remark(self.typed(asked), answer, FOLLOW, True, scene)
        if follow_count > 1 and rng.random() < 0.2:
            asked, answers = self.references[int(rng.random() * len(self.references))]
            if rng.random() < 0.5:
                asked, answers = scene.references, self.references[0][1]
            yield Remark(self._one(asked), self._one(answers), BACK, True, scene)
        draw = rng.random()
        if draw < 0.25:
            yield Remark(self.typed(self._one(scene.accepts)), self.phrase("confirmations"), ACCEPT, True, scene)
        elif draw < 0.5:
            yield Remark(self.phrase("thanks"), self.phrase("welcomes"), THANKS, True, scene)
        elif draw < 0.6:
            yield Remark(self.phrase("praise"), self.phrase("welcomes"), THANKS, True, scene)
