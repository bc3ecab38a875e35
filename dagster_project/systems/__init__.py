"""The systems, a room each: declaration, contracts, source, schema, intake, logic, lookups, write-back."""
