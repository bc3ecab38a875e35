"""Marking in the sources what a release says of them."""
