"""Review: the log of decisions, who is offered what, batches, agreement, and the window in a real pseudo-terminal."""
