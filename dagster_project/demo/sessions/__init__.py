"""The demo of AI sessions."""
