"""The words a column may hold (G8): closed sets refuse others, open ones map them and count them as drift."""

# feedback
FEEDBACK_TYPES = ("rating", "correction", "preference", "flag")
CORRECTION_TYPES = ("full_replacement", "partial_fix", "addition", "clarification")
FLAG_TYPES = ("harmful", "incorrect", "off_topic", "unhelpful", "repetitive", "incomplete", "other")
DOMAINS = ("code", "reasoning", "creative", "factual", "planning", "general")

# reactions
REACTIONS = ("ok", "not_ok", "neutral")
ORIGINS = ("user", "machine")

# AI sessions
RATINGS = ("positive", "negative", "skipped")
VERDICTS = ("approved", "changes_requested", "rejected")
