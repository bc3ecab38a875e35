"""Calling whoever wants to know (`on_failure`, `on_alert`): a command that is given JSON, or an address it is posted to.

It never decides what becomes of a run: what does not work is told in one line, and it has its time and no more. An address may be
a secret (a chat's webhook is one), so only its host is ever shown.
"""

import contextlib
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

SECONDS = 10.0
WEB = ("https://", "http://")


def call(target: str, body: Mapping[str, Any], form: str, seconds: float = SECONDS) -> str | None:
    """Tell `target`; returns what went wrong, in one line, if anything did. `body["text"]` says it in a sentence."""
    said = {"text": body["text"]} if form == "slack" else dict(body)
    data = json.dumps(said, default=str, ensure_ascii=False).encode(errors="replace")
    trouble = _post(target, data, seconds) if target.startswith(WEB) else _run(target, data, seconds)
    return f"{shown(target)} {trouble}" if trouble else None


def shown(target: str) -> str:
    """A target as people may see it."""
    if not target.startswith(WEB):
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.hostname}/…"


def _post(address: str, data: bytes, seconds: float) -> str | None:
    request = urllib.request.Request(address, data, {"Content-Type": "application/json; charset=utf-8"})
    try:
        with urllib.request.urlopen(request, timeout=seconds):
            return None
    except urllib.error.HTTPError as error:
        return f"answered {error.code}"
    except TimeoutError:
        return f"did not answer within {seconds:g} seconds"
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None)
        if isinstance(reason, TimeoutError):
            return f"did not answer within {seconds:g} seconds"
        return f"cannot be reached ({type(reason or error).__name__})"  # its words may hold the address


def _run(command: str, data: bytes, seconds: float) -> str | None:
    """By the shell, as in a crontab; with all it has started it is ended when its time is over."""
    process = subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(data, seconds)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"took longer than {seconds:g} seconds and was ended"
    if process.returncode == 0:
        return None
    last = errors.decode(errors="replace").strip().splitlines()[-1:]
    return f"ended with {process.returncode}" + (f": {last[0]}" if last else "")


def failed_run(home: object, run: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a run that did not go well."""
    did = run["outcome"] if run["outcome"] == "failed" else f"was {run['outcome']}"
    text = f"Gristmill: the run on {home} (by {run['started_by']}) {did}: {run['reason']}"
    names = ("started_by", "outcome", "reason", "host", "pid")
    times = {"run_id": run["run"], "started_at": run["started"], "ended_at": run.get("finished")}
    return {
        "event": "run_failed",
        "text": text,
        "home": str(home),
        **times,
        **{name: run.get(name) for name in names},
    }


def unusual_days(home: object, run: Mapping[str, Any], alerts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is told of days that are unusual."""
    said = "; ".join(alert["says"] for alert in alerts)
    return {
        "event": "alerts",
        "text": f"Gristmill: unusual on {home}: {said}",
        "home": str(home),
        "run_id": run["run"],
        "publication": run.get("publication"),
        "alerts": [dict(alert) for alert in alerts],
    }
