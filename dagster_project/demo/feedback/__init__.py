"""The demo of feedback."""
