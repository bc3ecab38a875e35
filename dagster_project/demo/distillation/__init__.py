"""The demo of distillation."""
