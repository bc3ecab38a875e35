"""Made-up source databases, as untidy as real ones, to try the pipeline on and to measure it with."""
