"""Pure text logic."""
