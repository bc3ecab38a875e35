"""Tests mirror the package; each says which rule it is about."""
