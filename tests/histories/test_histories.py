"""Any sequence of runs, and `--full`, end in the bytes of a fresh home with the same state (issue 12; G2, G7, G12).

`HISTORIES=300 pytest -n auto tests/histories` plays the histories 0 to 299; `python -m tests.histories 17 --cut` plays one and
cuts it down to the acts that matter. What is exempt stands in `comparing.py`, each with its reason.
"""

import os
from pathlib import Path

import pytest

from tests.histories.history import History

# one of feedback in which as_of alone moves on at last, one of turns and reactions, one of all five systems
SEEDS = range(int(os.environ["HISTORIES"])) if os.environ.get("HISTORIES") else (43, 15, 56)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_history_ends_where_a_fresh_home_begins(tmp_path: Path, seed: int) -> None:
    history = History(seed, tmp_path)
    found = history.play()
    assert not found, "\n".join(["", *history.told, *found])
