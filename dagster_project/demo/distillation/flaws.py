"""Interactions whose text itself is the trouble: refusals, loops, answers that break off, attempts that were as good.

One function a flaw; each makes an interaction of its own, because not every question allows every flaw.
"""

from collections.abc import Callable
from dataclasses import replace

from dagster_project.demo.distillation.answers import VERY_LONG, Interaction, Teacher
from dagster_project.demo.distillation.texts import Attempt, Lesson

FENCE = "```"


def _refusal(teacher: Teacher, asked_at: float) -> Interaction:
    refusal = teacher.pick(teacher.teaching.refusals)
    setting = teacher.teaching.subjects["planning"].settings.draw(teacher.rng)
    query = f"{refusal.question[:-1]}{setting}{refusal.question[-1]}"
    if teacher.rng.random() < 0.5:
        query = f"{query} {teacher.pick(teacher.teaching.closers)}"
    attempt = None
    if teacher.rng.random() < 0.5:
        attempt = Attempt(refusal.attempt, "other", "The attempt should have declined.", refusal.answer)
    return Interaction(asked_at, query, refusal.answer, "direct", refusal.domain, None, attempt)


def _repetitive(teacher: Teacher, asked_at: float) -> Interaction:
    """The same sentence three times or more, as if the teacher were stuck."""
    asked = teacher.interaction(asked_at)
    assert asked.lesson is not None
    sentence = max(asked.lesson.more, key=len)
    asked.response = f"{asked.response}\n\n{' '.join([sentence] * (3 + int(2 * teacher.rng.random())))}"
    return asked


def _cut_off(teacher: Teacher, asked_at: float) -> Interaction:
    """The last paragraph ends in the middle of a sentence."""
    asked = teacher.interaction(asked_at)
    assert asked.lesson is not None
    sentences = sorted(asked.lesson.more, key=len)[-2:]
    words = " ".join(sentences).split(" ")
    end = len(words) - 2 - int(teacher.rng.random() * len(words) / 3)
    while not words[end - 1][-1].isalpha():
        end -= 1
    asked.response = f"{asked.response}\n\n{' '.join(words[:end])}"
    return asked


def _open_fence(teacher: Teacher, asked_at: float) -> Interaction:
    """Breaks off inside a block of code."""
    lesson = _lesson_with_code(teacher)
    asked = teacher.interaction(asked_at, lesson)
    asked.kind = "chain_of_thought"
    whole = teacher.answer(lesson, asked.kind, None)
    start = whole.index("\n", whole.index(FENCE))
    end = whole.index(FENCE, start)
    asked.response = whole[: start + max(8, (end - start) * 2 // 3)].rstrip()
    return asked


def _code_only(teacher: Teacher, asked_at: float) -> Interaction:
    lesson = _lesson_with_code(teacher)
    asked = teacher.interaction(asked_at, lesson)
    block = (lesson.result or "").partition(FENCE)[2].partition(FENCE)[0]
    asked.response, asked.kind = f"{FENCE}{block}{FENCE}", "direct"
    return asked


def _very_long(teacher: Teacher, asked_at: float) -> Interaction:
    asked = teacher.interaction(asked_at)
    assert asked.lesson is not None
    asked.response = teacher.stretch(asked.response, asked.lesson, VERY_LONG)
    return asked


def _tie(change: Callable[[str], str]) -> Callable[[Teacher, float], Interaction]:
    """SAM was as good as the teacher: there is nothing to prefer."""

    def make(teacher: Teacher, asked_at: float) -> Interaction:
        asked = teacher.interaction(asked_at, with_attempt=True)
        while asked.kind == "correction" or len(asked.response) < 200:
            asked = teacher.interaction(asked_at, with_attempt=True)
        assert asked.attempt is not None
        asked.attempt = replace(asked.attempt, text=change(asked.response))
        return asked

    return make


def _one_word_off(text: str) -> str:
    """Nearly the same: one word of many."""
    return text.replace(" is ", " was ", 1) if " is " in text else f"{text} Good luck!"


def _lesson_with_code(teacher: Teacher) -> Lesson:
    lesson = teacher.pick(teacher.teaching.subjects["code"].lessons)
    while not (lesson.result or "").startswith(FENCE):
        lesson = teacher.pick(teacher.teaching.subjects["code"].lessons)
    return lesson


# What share of all interactions has which flaw.
FLAWS: dict[str, tuple[float, Callable[[Teacher, float], Interaction]]] = {
    "refusal": (0.01, _refusal),
    "repetitive": (0.008, _repetitive),
    "cut_off": (0.01, _cut_off),
    "open_fence": (0.006, _open_fence),
    "code_only": (0.004, _code_only),
    "very_long": (0.001, _very_long),
    "tie_equal": (0.004, _tie(lambda text: text)),
    "tie_respaced": (0.003, _tie(lambda text: text.replace("\n", "\r\n") + "\n")),
    "tie_near": (0.006, _tie(_one_word_off)),
}
# Only the two younger generations know what SAM tried.
NEED_ATTEMPT = ("tie_equal", "tie_respaced", "tie_near")
