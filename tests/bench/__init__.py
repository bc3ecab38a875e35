"""How fast, against the floor and against what one would write by hand: `make bench`."""
