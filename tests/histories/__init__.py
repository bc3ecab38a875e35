"""Random histories of a home: however it came to where it is, it holds the bytes a fresh home would (issue 12, G2, G7, G12)."""
