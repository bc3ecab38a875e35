"""`gristmill why` in words: how a row came to count, or not, and where it went."""

from typing import Any


def tell(found: dict[str, Any]) -> str:
    lines = [f"{found['id']}"]
    if "waiting" in found:
        return "\n".join([*lines, f"  waits: {found['waiting']}"])
    for row in found["quarantined"]:
        lines.append(
            f"  refused: {', '.join(row['reasons'])}  ({row['source_file']} {row['table']} row {row['source_rowid']})"
        )
        lines.append(f"    {row['row']}")
    for story in found["feedback"]:
        lines += _feedback(story)
    for example in found["examples"]:
        lines += _example(example)
    return "\n".join(lines)


def _feedback(story: dict[str, Any]) -> list[str]:
    source, derived = story["source_row"], story["derived"]
    lines = [
        f"  {source['feedback_id']}: {derived['feedback_type']} on {derived['response_id']} by {derived['voter_id']}, "
        f"{derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC",
        f"    from      {source['source_file']} row {source['source_rowid']}"
        + (f", repaired {', '.join(source['repairs'])}" if source.get("repairs") else ""),
        f"    question  {_short(source['original_query'])}",
        f"    answer    {_short(source['original_response'])}",
    ]
    for name in ("correction", "what_was_wrong", "preferred_response", "comparison_basis", "flag_details"):
        if source.get(name):
            lines.append(f"    {name}  {_short(source[name])}")
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
        + (f"; silences {', '.join(story['silences'])}" if story["silences"] else "")
    )
    if derived.get("is_contested"):
        lines.append("    contested people disagree about this answer, or flagged or corrected it")
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


def _example(example: dict[str, Any]) -> list[str]:
    head = (
        f"  example {example['id']}  {example['format']} from {example['source']}, weight {example['quality_weight']:g}"
    )
    if example["reason"] is None:
        return [head, f"    leaves in {example.get('file', 'the next release')}"]
    of = f" of {example['duplicate_of']}" if example["duplicate_of"] else ""
    return [head, f"    left out: {example['reason']}{of}"]


def _short(text: str, width: int = 100) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= width else folded[: width - 1] + "…"
