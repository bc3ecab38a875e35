"""How Gristmill works: reading, checking, computing and writing. What it makes is declared in `assets/`."""
