"""Signals that ask a run to stop: the first is obeyed between two assets, a second one ends the process at once."""

import ctypes
import os
import signal

from dagster_project.errors import Stopped

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal:
    """A run asks `check` before every asset, so nothing is half published."""

    def __init__(self) -> None:
        self.received: int | None = None

    def listen(self) -> None:
        for number in SIGNALS:
            signal.signal(number, self._receive)
            _only_once(number)

    def _receive(self, number: int, _: object) -> None:
        name = signal.Signals(number).name
        if self.received is not None:
            _say(f"ended at once by a second signal, {name}; the next run puts things right")
            os._exit(128 + number)  # as safe as kill -9, which a home survives at any moment
        self.received = number
        self.listen()
        _say(f"{name}: stops before the next table; a second signal ends it at once")

    def check(self) -> None:
        if self.received is not None:
            name = signal.Signals(self.received).name
            raise Stopped(f"stopped by {name}; nothing was published", 128 + self.received)


def _say(text: str) -> None:
    os.write(2, f"gristmill: {text}\n".encode())


def _only_once(number: int) -> None:
    """Let the system itself act on this signal after it came once.

    Python calls a handler only between two instructions of its own. While one long call into a library keeps it from
    doing so, a second signal would be as good as none; now it ends the process. (Where there is no sysv_signal, Python's
    way is all there is.)
    """
    libc = ctypes.CDLL(None)
    install = getattr(libc, "sysv_signal", None)
    if install is None:
        return
    install.argtypes = [ctypes.c_int, ctypes.c_void_p]
    action = ctypes.create_string_buffer(256)  # larger than any sigaction; the handler comes first in it
    if libc.sigaction(number, None, action) == 0:
        install(number, ctypes.c_void_p.from_buffer(action))


STOP = StopSignal()
