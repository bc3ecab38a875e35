"""One run on a home: as_of, choice, what a stage may look at, its record."""
