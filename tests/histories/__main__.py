"""`python -m tests.histories [FIRST] [LAST]` plays the histories of these seeds; of each that goes wrong, the fewest acts."""

import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.histories.history import History


def outcome(seed: int, left_out: set[int]) -> tuple[list[str], History]:
    folder = Path(tempfile.mkdtemp(prefix=f"history_{seed}_"))
    try:
        history = History(seed, folder, left_out)
        try:
            return history.play(), history
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            return [f"{type(error).__name__}: {str(error)[:300]} ({Path(last.filename).name}:{last.lineno})"], history
    finally:
        shutil.rmtree(folder)


def cut_down(seed: int, count: int) -> tuple[list[str], History]:
    """Leave out one act after the other, as long as it still goes wrong."""
    left_out: set[int] = set()
    best = outcome(seed, left_out)
    for number in range(count, 0, -1):
        tried = outcome(seed, left_out | {number})
        if tried[0]:
            left_out.add(number)
            best = tried
    return best


def main() -> None:
    first, last = int(sys.argv[1]), int(sys.argv[2] if len(sys.argv) > 2 else sys.argv[1])
    for seed in range(first, last + 1):
        began = time.monotonic()
        found, history = outcome(seed, set())
        systems = " ".join(owner.system for owner in history.owners)
        print(f"{seed}: {systems}: {len(found)} differences ({time.monotonic() - began:.0f} s)", flush=True)
        if found and "--cut" in sys.argv:
            found, history = cut_down(seed, history.number)
        if found:
            print(
                "\n".join([*(f"    {line}" for line in history.told), *(f"  ! {line}" for line in found)]), flush=True
            )


if __name__ == "__main__":
    main()
