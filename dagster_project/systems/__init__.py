"""The five systems, a room each: source, schema, intake, logic, lookups."""
