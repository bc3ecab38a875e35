"""Rule T8's two bars: items that are planted are found, lines of code are left alone."""

import sysconfig
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from dagster_project.columns.masking import KINDS, masked, without_items
from tests.columns import planted_held_out, planted_items
from tests.columns.planted_items import Planted

COUNT = 2000
FOUND = 0.99
CHANGED_LINES = 0.001
# Modules of the standard library about many things; those about mail and addresses have real ones in their examples.
MODULES = (
    "argparse.py ast.py asyncio calendar.py collections concurrent configparser.py csv.py ctypes dataclasses.py datetime.py decimal.py"
    " difflib.py dis.py doctest.py enum.py fractions.py functools.py gettext.py heapq.py html http importlib inspect.py json"
    " logging multiprocessing pathlib.py pdb.py pickle.py platform.py pydoc.py random.py re shutil.py socket.py sqlite3 ssl.py"
    " statistics.py subprocess.py tarfile.py tempfile.py threading.py tkinter tokenize.py tracemalloc.py turtle.py typing.py"
    " unittest urllib uuid.py warnings.py wsgiref xml zipfile.py zoneinfo"
).split()


def left(items: list[Planted]) -> dict[str, int]:
    """How many items of each kind are still there in some field."""
    texts = [item.text for item in items]
    records = pl.DataFrame({"prompt": texts, "answer": texts[::-1]})
    found, _ = masked(records, ["prompt", "answer"])
    left = dict.fromkeys(KINDS, 0)
    for item, prompt, answer in zip(items, found["prompt"], found["answer"].reverse(), strict=True):
        left[item.kind] += item.secret in prompt or item.secret in answer
    return left


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("planted", [planted_items.planted, planted_held_out.planted], ids=["known", "held out"])
def test_planted_items_are_found(planted: Callable[[int, int], list[Planted]], seed: int) -> None:
    """Of each kind by itself, too."""
    items = planted(COUNT, seed)
    missed = left(items)
    assert sum(missed.values()) <= COUNT * (1 - FOUND), missed
    assert max(missed.values()) <= COUNT / len(KINDS) * 0.03, missed


def test_planted_items_are_masked_and_nothing_beside_them() -> None:
    items = planted_items.planted(COUNT)
    keys = without_items(pl.Series([item.text for item in items]))
    wrong = [
        (item.text, key)
        for item, key in zip(items, keys, strict=True)
        if key != item.text.replace(item.secret, f"<{item.kind.upper()}>")
    ]
    assert wrong == []


def test_code_is_left_alone() -> None:
    """At most one line in a thousand of the standard library changes."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(
        file
        for module in MODULES
        for file in ((folder / module).rglob("*.py") if (folder / module).is_dir() else [folder / module])
        if file.is_file() and not {"test", "tests"} & set(file.relative_to(folder).parts)
    )
    lines = pl.Series(
        [line for file in files for line in file.read_text(encoding="utf-8", errors="replace").split("\n")]
    )
    changed = (without_items(lines) != lines).sum()
    assert len(lines) > 100_000
    assert changed <= len(lines) * CHANGED_LINES


def test_whole_files_change_where_their_lines_do() -> None:
    """What is read as one text is no other than line by line, but for what goes over several lines."""
    file = Path(sysconfig.get_paths()["stdlib"]) / "argparse.py"
    text = file.read_text(encoding="utf-8")
    lines = pl.Series(text.split("\n"))
    assert without_items(pl.Series([text]))[0].split("\n") == without_items(lines).to_list()
