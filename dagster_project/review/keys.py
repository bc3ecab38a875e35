"""Bytes from a terminal to keys: characters, names (`up`, `enter`, `ctrl-c`) and pastes, which are never taken for keys."""

import codecs
import re
from typing import NamedTuple

NAMES = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[1~": "home",
    "\x1b[7~": "home",
    "\x1b[F": "end",
    "\x1bOF": "end",
    "\x1b[4~": "end",
    "\x1b[8~": "end",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
    "\x03": "ctrl-c",
    "\x04": "ctrl-d",
    "\x0c": "ctrl-l",
    "\x15": "ctrl-u",
    "\x17": "ctrl-w",
    "\x1a": "ctrl-z",
}
_PASTE = re.compile("\x1b\\[200~(.*?)\x1b\\[201~", re.DOTALL)
_SEQUENCE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|O.|[^\\[O])", re.DOTALL)
_PASTE_BEGINS = "\x1b[200~"
MOST_PASTED = 1_000_000


class Key(NamedTuple):
    name: str
    text: str = ""  # what was pasted


class KeyReader:
    """Keeps what has come of a sequence until the rest of it does."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""

    @property
    def is_waiting(self) -> bool:
        """Whether the last key is perhaps the beginning of a longer one."""
        return bool(self._waiting)

    def feed(self, data: bytes) -> list[Key]:
        text = self._waiting + self._decoder.decode(data)
        keys: list[Key] = []
        while text:
            if text[0] != "\x1b":
                keys.append(Key(NAMES.get(text[0], text[0])))
                text = text[1:]
            elif paste := _PASTE.match(text):
                keys.append(Key("paste", paste[1]))
                text = text[paste.end() :]
            elif text.startswith(_PASTE_BEGINS) and len(text) < MOST_PASTED:
                break
            elif sequence := _SEQUENCE.match(text):
                keys.append(Key(NAMES.get(sequence[0], "unknown")))
                text = text[sequence.end() :]
            else:
                break
        self._waiting = text
        return keys

    def give_up(self) -> list[Key]:
        """Nothing more came: an escape alone is the key of that name, other beginnings are dropped. A paste may take longer."""
        if self._waiting.startswith(_PASTE_BEGINS):
            return []
        keys = [Key("escape")] if self._waiting == "\x1b" else []
        self._waiting = ""
        return keys
