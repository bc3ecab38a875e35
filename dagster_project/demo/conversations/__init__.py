"""The demo of conversations."""
