"""Every .sql file: on empty tables, on a few rows, and for laws."""
