"""What only reads: status, stats, why, queries."""
