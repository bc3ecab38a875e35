"""Training sets: templates per format, candidates and their reasons, releases. Pure but for the files they are given."""
