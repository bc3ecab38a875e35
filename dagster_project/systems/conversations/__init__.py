"""Turns of conversations and what the next message says of them (seed 1)."""
