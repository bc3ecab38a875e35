"""The files beside a database of turns: a transcript for each day, and a folder for each of some turns."""

import json
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dagster_project.demo.conversations.rows import FOLDER, TRANSCRIPT, Turn, iso_time, turn_name

TRANSCRIPTS = "transcripts"
CONTEXT, RESPONSE, METADATA = "context.md", "response.md", "metadata.json"
# What is wrong with a folder, by its number.
FOLDER_HAZARDS = {
    3: "metadata_not_json",
    5: "response_file_invalid_utf8",
    7: "folder_without_response",
    9: "timestamp_in_metadata",
    16: "metadata_not_json",
    18: "response_file_invalid_utf8",
    20: "folder_without_response",
    21: "timestamp_in_metadata",
    23: "folder_without_metadata",
}
UNIDENTIFIED = ("metadata_not_json", "folder_without_metadata")
BROKEN_LINES = 3


class TurnFiles:
    """Collects what belongs into files, and writes them when all turns are known."""

    def __init__(self, folder: Path, planted: Counter[str]) -> None:
        self.folder = folder
        self.planted = planted
        self.folder_count = 0
        self._lines: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self._plain: set[int] = set()

    def add(self, session: list[Turn], fallback: bool = False) -> None:
        """Write what a session leaves. A folder may take the time away from its row: the metadata keeps it."""
        before: Turn | None = None
        for place, turn in enumerate(session):
            if turn.place == FOLDER:
                following = session[place + 1] if place + 1 < len(session) else None
                self._write_folder(turn, before, following, fallback)
            else:
                turn.folder = f"{_home(turn, fallback)}{turn_name(turn.number)}"
            if turn.place == TRANSCRIPT or (turn.place == FOLDER and self.folder_count % 6 < 3):
                self._transcribe(turn)
            before = turn

    def close(self) -> None:
        """Write the transcripts, a few of them with a line that was cut off when the disk was full."""
        folder = self.folder / TRANSCRIPTS
        if self._lines:
            folder.mkdir(exist_ok=True)
        days = sorted(self._lines)
        broken = days[len(days) // 4 :: max(1, len(days) // 4)][:BROKEN_LINES] if len(days) > 20 else []
        for day in days:
            lines = [line for _, line in sorted(self._lines[day])]
            if day in broken:
                lines.insert(len(lines) // 2, lines[0][: len(lines[0]) // 2])
                self.planted["transcript_not_json"] += 1
            (folder / f"{day}.jsonl").write_bytes(("\n".join(lines) + "\n").encode())
        self.planted["transcripts"] += len(days)
        self.planted["folders"] += self.folder_count

    def _transcribe(self, turn: Turn) -> None:
        record = {
            "timestamp": turn.asked_at,
            "turn_number": turn.number,
            "session_id": turn.session_id,
            "query": turn.said,
            "turn_dir": turn.folder,
        }
        day = datetime.fromtimestamp(turn.asked_at, UTC).strftime("%Y%m%d")
        self._lines[day].append((turn.asked_at, json.dumps(record, ensure_ascii=False)))

    def _write_folder(self, turn: Turn, before: Turn | None, following: Turn | None, fallback: bool) -> None:
        number = self.folder_count
        self.folder_count += 1
        hazard = FOLDER_HAZARDS.get(number, "") if not fallback else ""
        # Without metadata nobody could tell whose folder it is.
        is_plain = turn.number not in self._plain and number // 12 % 2 == 1 and hazard not in UNIDENTIFIED
        if is_plain:
            self._plain.add(turn.number)
        turn.folder = f"{'' if is_plain else _home(turn, fallback)}{turn_name(turn.number)}"
        folder = self.folder / turn.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONTEXT).write_bytes(_context(turn, before).encode())
        response = turn.told.encode()
        if hazard == "response_file_invalid_utf8":
            response = f"Voilà: {turn.told}".encode("latin-1", "replace")
        if hazard != "folder_without_response":
            (folder / RESPONSE).write_bytes(response)
        shape = 0 if hazard == "timestamp_in_metadata" else number
        metadata = json.dumps(_metadata(turn, following, shape), indent=2, ensure_ascii=False)
        if hazard == "metadata_not_json":
            metadata = metadata[: len(metadata) // 2]
        if hazard != "folder_without_metadata":
            (folder / METADATA).write_bytes(metadata.encode())
        if hazard == "timestamp_in_metadata":
            turn.timestamp = None
        if hazard:
            self.planted[hazard] += 1
        self.planted["plain_folders" if is_plain else "folders_elsewhere"] += 1


def _home(turn: Turn, fallback: bool) -> str:
    if fallback:
        return "archive/turns/"
    return f"users/{turn.user_id or 'unknown'}/turns/"


def _metadata(turn: Turn, following: Turn | None, shape: int) -> dict[str, Any]:
    """One of twelve shapes: four kinds of time, three places for the feedback."""
    instants = (turn.asked_at, int(turn.asked_at), iso_time(turn.asked_at, "Z"), iso_time(turn.asked_at, ""))
    metadata: dict[str, Any] = {
        "turn_id": turn_name(turn.number),
        "session_id": turn.session_id,
        "timestamp": instants[shape % 4],
        "validation_outcome": turn.validation_outcome,
        "quality_score": turn.quality_score,
    }
    status = turn.user_feedback_status or "neutral"
    if shape % 3 == 0:
        feedback: dict[str, Any] = {"status": status}
        if status == "rejected" and following is not None:
            feedback |= {
                "detected_at": iso_time(int(following.asked_at), "Z"),
                "detected_in_turn": turn_name(following.number),
                "correction_type": "explicit_correction",
                "confidence": 0.9,
                "user_said": following.said,
            }
        metadata["user_feedback"] = feedback
    elif shape % 3 == 1:
        metadata["user_feedback_status"] = status
    return metadata


def _context(turn: Turn, before: Turn | None) -> str:
    gathered = "Nothing relevant was found in earlier turns."
    if before is not None:
        gathered = f"### Conversation Context\n- The user asked before: {before.said}"
        if before.user_feedback_status == "rejected":
            gathered = (
                "### Previous Response Feedback\n**Status:** REJECTED\n"
                f"**Detected:** Turn {turn.number} detected that Turn {before.number} was rejected\n\n{gathered}"
            )
    sections = (
        ("0. User Query", turn.said),
        ("1. Reflection", "**Decision:** PROCEED\n**Reason:** The request is clear enough."),
        ("2. Gathered Context", gathered),
        ("3. Plan", turn.strategy_summary or "Answer directly."),
        ("6. Validation", f"**Outcome:** {turn.validation_outcome or 'not validated'}"),
    )
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Turn {turn.number}\n\n{body}\n"
