"""Pure functions on columns and texts; nothing here knows a table, a file or a run."""
