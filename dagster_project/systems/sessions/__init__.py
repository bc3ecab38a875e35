"""AI sessions and their reviews (seed 4)."""
