"""What a space is: whatever is trimmed or folded anywhere, here and in the queries, is trimmed of these (G8, G10)."""

# Every character for which Python's str.isspace() is true: what "trimmed" and "runs of spaces" mean everywhere.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
