"""The figures of distilled examples, as seed 2 names them. Reads published tables only."""

import json
from typing import Any

import polars as pl

from dagster_project.columns.rounding import share
from dagster_project.columns.words import counts
from dagster_project.engines.reading import where
from dagster_project.lake.lake import Lake
from dagster_project.systems.distillation.columns import REASONING_TYPES
from dagster_project.systems.distillation.flags import QUALITY_FLAGS
from dagster_project.systems.distillation.source import DOMAINS, FORMATS

EXAMPLES = "core__distillation"


def figures(lake: Lake) -> dict[str, Any]:
    """Seed 2's figures over all examples but the teacher's own pairs, as `metric__distillation_daily` counts them."""
    everything = where(lake, EXAMPLES, pl.lit(True))
    examples = everything.filter(pl.col("origin") != "synthetic_pair")
    # scores are added as whole numbers, because floating addition is not repeatable (G2)
    total = int((examples["quality_score"] * 1e6).round().cast(pl.Int64).sum())
    mean = share(total, 1_000_000 * examples.height) if examples.height else None
    flags = examples.select(pl.col("quality_flags").explode().drop_nulls())["quality_flags"]
    verdicts = counts(examples["feedback_verdict"], ("validated", "contradicted"))
    return {
        "total_examples": examples.height,
        "by_domain": counts(examples["domain"], DOMAINS),
        "by_reasoning_type": counts(examples["reasoning_type"].fill_null("unknown"), REASONING_TYPES),
        "by_format": counts(examples["training_format"], FORMATS),
        "review": counts(examples["review_status"], ("pending", "approved", "rejected")),
        "training_ready": int(examples["is_ready"].sum()),
        "exported": _exported(lake),
        "quality": {"avg_score": mean, "high_quality_count": int((examples["quality_score"] >= 0.7).sum())},
        "flags": counts(flags, QUALITY_FLAGS),
        "feedback": verdicts,
        "synthetic_pairs": everything.height - examples.height,
    }


def _exported(lake: Lake) -> dict[str, Any]:
    """Records of the newest release by format, as its manifest counts them."""
    name = lake.catalog.release.get("name")
    manifest = lake.home / "exports" / str(name) / "manifest.json"
    sources = json.loads(manifest.read_text(encoding="utf-8"))["exported"]["source"] if manifest.exists() else {}
    formats = {form: sources.get(f"distillation_{form}", 0) for form in FORMATS}
    return {"release": name, **formats, "synthetic_pair": sources.get("synthetic_pair", 0)}
