"""Which days, which rows: dated tables, whole tables, quarantine, accounts."""
