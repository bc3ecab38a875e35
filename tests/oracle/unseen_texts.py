"""Which of the generated answers talk about an attempt the prompt does not show (T1). The law leaves the patterns free, so
these do it beyond doubt, and all others do not."""

TALK = ("your answer is wrong", "the previous response missed", "sam's attempt", "your attempt was close")
UNSEEN = ("Your attempt was close, but you forgot the semicolon.", "SAM's attempt was wrong. The right answer is 42.")


def is_unseen_attempt(text: str | None) -> bool:
    return any(words in (text or "").lower() for words in TALK)
