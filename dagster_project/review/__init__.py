"""People judge examples (D8): what they are shown, what they decide, and how far two of them agree.

Read in this order: `items` (what is judged), `decisions` (the log in the state, and what holds), `assignment` (who is
offered what), `sitting` (one person's walk through the queue), `terminal` and `screen` (how it looks), `batch` (the same
by editing a file), `agreement` (Cohen's kappa), `commands` (`gristmill review`). How the queue is computed is not here.
"""
