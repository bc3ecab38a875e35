"""A release in the shape a trainer takes (T4, T7, T9). A target is a module of pure mappings from rows to rows; everything
else is the same for all: `release_rows` reads, `selection` chooses and weighs, `conversations` makes turns alternate,
`exporting` writes, `folder` puts the whole in place. What each target gets and refuses: docs/exports.md.
"""
