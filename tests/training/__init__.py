"""Tests of the training sets: templates and records."""
