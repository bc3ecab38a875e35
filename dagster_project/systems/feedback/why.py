"""`gristmill why` of a feedback row, in words."""

from typing import Any

from dagster_project.columns.printable import short


def tell(facts: dict[str, Any]) -> list[str]:
    source, derived = facts["source_row"], facts["derived"]
    lines = [
        f"  {source['feedback_id']}: {derived['feedback_type']} on {derived['response_id']} by {derived['voter_id']}, "
        f"{derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC",
        f"    from      {source['source_file']} row {source['source_rowid']}"
        + (f", repaired {', '.join(source['repairs'])}" if source.get("repairs") else ""),
        f"    question  {short(source['original_query'])}",
        f"    answer    {short(source['original_response'])}",
    ]
    for name in ("correction", "what_was_wrong", "preferred_response", "comparison_basis", "flag_details"):
        if source.get(name):
            lines.append(f"    {name}  {short(source[name])}")
    sense = derived.get("sentiment") or derived.get("error_type") or derived.get("flag_type") or ""
    lines.append(
        f"    counts as {derived['effective_type']} {sense}".rstrip()
        + (" (a comment on a thumb)" if derived.get("comment") else "")
    )
    by = (
        f" by {derived['status_ref']}"
        if derived["status"] == "superseded"
        else f" of {derived['status_ref']}"
        if derived["status"] == "duplicate"
        else ""
    )
    lines.append(
        f"    status    {derived['status']}{by}"
        + (f"; silences {', '.join(facts['silences'])}" if facts["silences"] else "")
    )
    if derived.get("is_contested"):
        lines.append("    contested people disagree about this answer, or flagged or corrected it")
    lines += _queue(facts["queue"])
    parts = derived["weight_parts"]
    bonuses = " ".join(
        f"+ {value:g} {name.removesuffix('_bonus')}"
        for name, value in parts.items()
        if name.endswith("_bonus") and value
    )
    lines.append(
        f"    weight    {derived['quality_weight']:.6f} {derived['tier']} = ({parts['base']:g} + {parts['type']:g} type) "
        f"* {parts['temporal_factor']:g} age {bonuses}".rstrip()
    )
    return lines


def _queue(queue: dict[str, Any] | None) -> list[str]:
    """F12: where a harmful flag or an answer rated down stands."""
    if queue is None:
        return []
    if queue["status"] == "settled":
        return [f"    settled   by {queue['reviewer']} at {queue['settled_at']}: {short(queue['note'])}"]
    name = {"safety": "safety queue", "corrections": "correction requests"}[queue["queue"]]
    return [f"    waits     number {queue['rank']} of the {name}"]
