"""Where a verb writes a page: the file it was given. It holds users' texts, so only its owner may read it."""

import os
from pathlib import Path

from dagster_project.errors import GristmillError


def put_page(path: Path, text: str) -> None:
    """In one step, as every file of ours."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        raise GristmillError(f"{path} cannot be written: {error.strerror}") from error
