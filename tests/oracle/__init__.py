"""An independent judge of the feedback pipeline, written from the design documents and not from the code.

`feedback_oracle` says, in slow and plain Python, what the right answers are; `nasty_database` makes small databases by
rule in which everything that can go wrong does. Nothing here may import from the pipeline.
"""
