"""User feedback (seed 0)."""
