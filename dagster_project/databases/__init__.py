"""A source database and its kinds: SQLite, Postgres."""
