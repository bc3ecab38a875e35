"""What is marked in a source, and the ledger of it."""
