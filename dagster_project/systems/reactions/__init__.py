"""Reactions to turns (seed 3)."""
