"""What Gristmill makes, in the order it is made: raw, core, metrics, training, serving. Definitions only."""
