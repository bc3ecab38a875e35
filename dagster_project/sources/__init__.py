"""One module a system: its tables, their variants, how they become the canonical columns, which rows are refused."""
