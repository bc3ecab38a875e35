"""What a run lays out for people (D8): the batch that waits for them, and the examples our reviewers approved.

`pending_review/batch_YYYYMMDD.json` may be edited by a person at any time: what they filled in stays until it is imported.
"""

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from dagster_project.code_identity import code_identity
from dagster_project.lake.lake import Lake
from dagster_project.lake.placing import Move, move_file
from dagster_project.review.batch import batch_path, batch_text, kept_entries
from dagster_project.review.decisions import Decisions
from dagster_project.review.queue import QUEUE, REVIEWS, first_in_queue, with_texts
from dagster_project.review.texts import example_texts, scan
from dagster_project.run.mill_run import MillRun

EXAMPLES = "core__distillation"
PENDING, APPROVED = "pending_review", "approved"


@dataclass
class ReviewFiles:
    """What has to be done: files built in staging and where they belong, and files that are no longer true."""

    moves: list[Move] = field(default_factory=list)
    outdated: list[Path] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.moves or self.outdated)

    def lay_out(self) -> None:
        """Do it, for a run that publishes nothing else."""
        for built, target in self.moves:
            move_file(built, target)
        self.clear_away()

    def clear_away(self) -> None:
        for path in self.outdated:
            path.unlink(missing_ok=True)


def review_files_inputs(run: MillRun) -> str:
    """What the files depend on besides the tables of the lake (G12)."""
    return f"{code_identity(__name__)} {run.config.review_batch}"


def are_review_files_there(run: MillRun) -> bool:
    """Whether a run that changes nothing else may leave the files alone: they are there, whatever a person wrote into them."""
    approved = scan(run.lake, REVIEWS).filter(pl.col("review_verdict") == "approved").collect()["example_id"]
    examples = (
        scan(run.lake, EXAMPLES).filter(pl.col("example_id").is_in(approved.implode())) if len(approved) else None
    )
    has_approved = examples is not None and examples.select(pl.len() > 0).collect().item()
    has_waiting = run.lake.rows(QUEUE) > 0
    return _reviewed(run).exists() == has_approved and (_batch(run).exists() or not has_waiting)


def review_files(run: MillRun) -> ReviewFiles:
    """Build both files from what the run has staged. Empty if they are published as they should be."""
    files = ReviewFiles()
    batch, reviewed = _batch(run), _reviewed(run)
    waiting = with_texts(run.lake, first_in_queue(run.lake, run.config.review_batch))
    if waiting or batch.exists():
        _add(files, run, batch, batch_text(waiting, kept_entries(batch, Decisions(run.lake.home))))
    approved = approved_examples(run.lake)
    if approved.height:
        _add(files, run, reviewed, approved.write_ndjson())
    elif reviewed.exists():
        files.outdated.append(reviewed)
    return files


def _batch(run: MillRun) -> Path:
    return batch_path(run.lake.home / PENDING, run.release_date)


def _reviewed(run: MillRun) -> Path:
    return run.lake.home / APPROVED / f"reviewed_{run.release_date:%Y%m%d}.jsonl"


def _add(files: ReviewFiles, run: MillRun, target: Path, text: str) -> None:
    content = text.encode()
    if target.exists() and target.read_bytes() == content:
        return
    built = run.lake.staging / target.parent.name / target.name
    built.parent.mkdir(parents=True, exist_ok=True)
    built.write_bytes(content)
    files.moves.append((built, target))


def approved_examples(lake: Lake) -> pl.DataFrame:
    """One row per distilled example that our own reviewers approved, by id."""
    approvals = scan(lake, REVIEWS).filter(pl.col("review_verdict") == "approved")
    examples = scan(lake, EXAMPLES).join(approvals, on="example_id").collect()
    texts = example_texts(lake, examples.select(id="example_id", day="event_date"))
    return (
        examples.join(texts, left_on="example_id", right_on="id")
        .sort("example_id")
        .select(
            pl.col("example_id").alias("id"),
            "query",
            pl.col("attempt").alias("sam_attempt"),
            pl.col("answer").alias("claude_response"),
            "domain",
            "reviewer",
            "note",
            pl.col("decided_at").dt.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00"),
            "quality_score",
            "quality_flags",
        )
    )
