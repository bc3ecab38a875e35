"""Answers distilled from a teacher (seed 2)."""
