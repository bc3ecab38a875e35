"""Dirt that is found in the databases of every system."""

FAR_FUTURE = 3_786_912_000
YEAR_3000 = 32_503_680_000.0


class RawText(bytes):
    """Bytes that end up as TEXT although they are not valid UTF-8."""
