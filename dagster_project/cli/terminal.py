"""What goes to standard output: words for a person, made safe for a terminal, and data for a program, byte for byte.

Users' texts are in both. A terminal obeys escape sequences, so a person is shown them (`columns/printable.py`); a program
wants the value as it is, so nothing is left out or altered on the way to a file or a pipe.
"""

import json
import re
import sys
from typing import Any

from dagster_project.columns.printable import printable

# What a terminal might obey, or what would break a line, and JSON lets stand unescaped.
_UNPRINTABLE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\U000e0000-\U000e0fff]"
)


def say(text: str, err: bool = False) -> None:
    """A line, or several, for a person."""
    _write(f"{printable(text)}\n", err)


def hand_over(text: str) -> None:
    """Data for a program, as it is; on a terminal as a person can bear it."""
    _write(printable(text) if sys.stdout.isatty() else text, err=False)


def hand_over_json(value: Any, indent: int | None = 2) -> None:
    """One JSON value, safe to look at and the same to whoever parses it."""
    _write(json_text(value, indent) + "\n", err=False)


def json_text(value: Any, indent: int | None = 2) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False, indent=indent, allow_nan=False)
    return _UNPRINTABLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _write(text: str, err: bool) -> None:
    """Not through click's echo, which strips what looks like colour from whatever is piped, data included."""
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, errors="backslashreplace").decode(encoding))
    stream.flush()
