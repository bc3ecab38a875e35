"""Which generated databases are compared with the oracles: a few in `make test`, as many as asked for in `make test-oracle`."""

import os


def seeds(*usual: int) -> list[int]:
    """`ORACLE_SEEDS=0,1,2` asks for others than the usual ones."""
    asked = os.environ.get("ORACLE_SEEDS")
    return [int(seed) for seed in asked.split(",")] if asked else list(usual)
