"""The two ways a table is made: a query run into it, rows stored in it."""
