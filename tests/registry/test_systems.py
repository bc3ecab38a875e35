"""Every system is optional (sources.md): one that is not configured gives empty tables, and what was read of it goes again."""

from pathlib import Path

import pytest

from tests.conftest import catalog, run
from tests.tables import table


def examples(home: Path) -> int:
    return table(home, "core__distillation").height


@pytest.mark.slow
def test_a_source_that_comes_and_goes(fresh: Path) -> None:
    source, elsewhere = fresh / "sources" / "distillation.db", fresh.parent / "distillation.db"
    source.rename(elsewhere)
    assert "distillation" not in run(fresh).stdout
    assert examples(fresh) == 0
    assert not [name for name in catalog(fresh)["sources"] if name.startswith("raw_distillation__")]
    elsewhere.rename(source)
    assert "  distillation  read " in run(fresh).stdout
    assert examples(fresh) > 0


@pytest.mark.slow
def test_one_system_alone(fresh: Path) -> None:
    for source in (fresh / "sources").glob("feedback*"):
        source.unlink()
    assert "feedback" not in run(fresh).stdout
    assert examples(fresh) > 0
    assert table(fresh, "core__feedback").is_empty()
