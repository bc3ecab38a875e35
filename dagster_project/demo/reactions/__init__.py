"""The demo of reactions."""
