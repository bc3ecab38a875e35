"""`gristmill sample`: the same records every time, every text in full and harmless on the page."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from dagster_project.lake.lake import Lake
from dagster_project.lookups.release_sample import Sampled, drawn, lines_of, page_of
from tests.conftest import complaint, gristmill
from tests.lookups.test_release_diff import B, pair, put

HOSTILE = "<script>alert('x')</script>\u202e & \"quoted\" </pre>"


def test_records_are_drawn_by_their_ids(tmp_path: Path) -> None:
    lake, names = Lake(tmp_path / "home"), [f"r{number}" for number in range(20)]
    put(lake, B, [pair(name, split="test" if name.endswith("1") else "train") for name in names], [])
    ids = sorted((f"id-{name}" for name in names), key=lambda one: sha256(one.encode()).hexdigest())
    assert drawn(lake, B, "preference", 5)["id"].to_list() == ids[:5]
    assert drawn(lake, B, None, 50)["id"].to_list() == ids
    assert drawn(lake, B, "cot", 5).is_empty()


def test_a_page_holds_texts_and_nothing_that_acts() -> None:
    record = pair("a") | {
        "format": "preference",
        "prompt": HOSTILE,
        "context": "",
        "votes_for": None,
        "votes_against": 0,
    }
    one = Sampled(record, [{}], [f"  from {HOSTILE}"])
    assert list(one.texts) == ["prompt", "chosen", "rejected", "votes_against"]
    html = page_of(B, [one])
    assert html.startswith("<!doctype html>")
    assert "<script" not in html and html.count("</pre>") == html.count("<pre>")
    assert "\u202e" not in html and "&lt;script&gt;" in html
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert not re.search(r"\b(src|href|onload|style)=", html)
    assert "1. preference  source feedback_preference" in next(lines_of([one]))


@pytest.mark.slow
def test_a_sample_of_a_home(published_home: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = [gristmill(published_home, "sample", "-n", "12", "--json") for _ in range(2)]
    assert done[0].returncode == 0, done[0].stderr
    assert done[0].stdout == done[1].stdout
    told = [json.loads(line) for line in done[0].stdout.splitlines()]
    assert len(told) == 12
    for one in told:
        assert len(one["made_from"]) == len(one["record"]["origin_ids"])
    assert gristmill(published_home, "sample", "correction", "-n", "3", "--page", str(page)).returncode == 0
    assert page.read_text(encoding="utf-8").count('class="beside"') == 3
    assert "is no training format" in complaint(gristmill(published_home, "sample", "poem"))
    assert "there is no release '20200101'" in complaint(gristmill(published_home, "sample", "--release", "20200101"))
    assert "cannot be written" in complaint(
        gristmill(published_home, "sample", "-n", "1", "--page", str(tmp_path / "no" / "page"))
    )
