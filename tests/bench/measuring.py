"""What one process costs: wall and CPU seconds, peak memory; and whether the machine was quiet enough to believe it.

A child's peak memory begins at its parent's, so each contestant is started by a small process of its own, which waits for it
and tells what it used. What other processes took of the machine meanwhile is read from /proc/stat: a run beside them is shown,
and marked as no result.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# What `gristmill` gives itself before anything is imported (`cli.main`), for every contestant alike: the allocators of Polars
# and Arrow keep an arena a thread, so threads are memory too.
SETTINGS = {"POLARS_MAX_THREADS": "1"}
# A machine that keeps Python from putting compiled modules aside would measure the compiler: 1.5 s a process.
UNSET = ("PYTHONDONTWRITEBYTECODE",)
NOISE_LIMIT = 0.05  # of the machine's time, taken by others: beyond it ratios do not hold
LAUNCHER = """
import json, os, sys, time
answer = int(sys.argv[1])
os.set_inheritable(answer, False)
began = time.monotonic()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
cost = {"wall": time.monotonic() - began, "cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}
os.write(answer, json.dumps(cost | {"status": os.waitstatus_to_exitcode(status)}).encode())
"""


@dataclass(frozen=True)
class Cost:
    """What one process took, and which share of the machine others took meanwhile."""

    wall: float
    cpu: float
    peak_mb: float
    noise: float

    @property
    def is_noisy(self) -> bool:
        return self.noise > NOISE_LIMIT


def measure(log: Path, *command: str, **environment: str) -> Cost:
    """Run a command to its end; what it prints goes to the log."""
    busy = busy_seconds()
    told, tell = os.pipe()
    with log.open("ab") as lines, os.fdopen(told, encoding="utf-8") as answer:
        launcher = [sys.executable, "-S", "-E", "-c", LAUNCHER, str(tell), *command]
        environ = {name: value for name, value in os.environ.items() if name not in UNSET} | environment
        process = subprocess.Popen(launcher, env=environ, stdout=lines, stderr=lines, pass_fds=(tell,))
        os.close(tell)
        found = json.loads(answer.read() or '{"status": 1}')
        process.wait()
    if found.pop("status"):
        raise SystemExit(f"{' '.join(command)} failed, see {log}")
    others = busy_seconds() - busy - found["cpu"]
    return Cost(**found, noise=max(0.0, others / found["wall"] / (os.cpu_count() or 1)))


def busy_seconds() -> float:
    """What all processors have worked since the machine began, stolen time included."""
    first = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, first[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def machine() -> str:
    """The machine as a line above the results: its load now, and how many cores there are."""
    one, five, _ = os.getloadavg()
    return f"{os.cpu_count()} cores, load {one:.2f} (5 min: {five:.2f})"


def told(what: str, count: float, work: Callable[[], object], least: float = 0, unit: str = "") -> float:
    """One line: how much a second of CPU, and at least how much is asked for."""
    started = time.process_time()
    work()
    rate = count / (time.process_time() - started)
    verdict = f"   at least {least:,.0f}: {'met' if rate >= least else 'MISSED'}" if least else ""
    print(f"    {what:<58} {rate:>12,.0f}{unit} a second{verdict}", flush=True)
    return rate
