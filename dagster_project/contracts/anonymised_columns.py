"""What leaves of a session without saying whose it was: seed 4's AnonymizedFeedback, in its own names and units (S6)."""

import polars as pl

from dagster_project.contracts.meaning import TEXTS, Meaning, fraction, one_of

SCORES = {"accuracy": "accuracy_score", "completeness": "completeness_score", "styleMatch": "style_match_score"}
FIELDS = pl.Schema(
    {
        "contextCategories": pl.List(pl.String),
        "tokenBudgetUtilization": pl.Float64(),
        "rating": pl.String(),
        "errorCategories": pl.List(pl.String),
        "qualityScores": pl.Struct(dict.fromkeys(SCORES, pl.Float64)),
        "editDistance": pl.Float64(),
    }
)
ANONYMISED_COLUMNS: dict[str, Meaning] = {
    "contextCategories": Meaning(TEXTS, "types of the documents used, sorted", is_repetitive=True),
    "tokenBudgetUtilization": fraction(
        "share of the token budget that was used, rounded down to a quarter; null where removed"
    ),
    "errorCategories": Meaning(TEXTS, "what was wrong, sorted", is_repetitive=True),
    "qualityScores": Meaning(
        FIELDS["qualityScores"],
        "the reviewer's scores of 100, each rounded down to a third; null where nobody scored or removed",
        is_repetitive=True,
    ),
    "editDistance": Meaning(
        pl.Float64,
        "percentage of the output that was changed, rounded down to a third; null where unknown or removed",
        least=0,
        most=100,
    ),
}
RATINGS = ("positive", "negative", "skipped")
RATING = one_of(RATINGS, "what the user thought of the session")
