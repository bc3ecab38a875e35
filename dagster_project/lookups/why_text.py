"""`gristmill why` in words: how a row came to count, or not, and where it went. What each system tells is in its `why.py`."""

from typing import Any

from dagster_project.registry import SYSTEMS


def tell(found: dict[str, Any]) -> str:
    lines = [f"{found['id']}"]
    if "waiting" in found:
        return "\n".join([*lines, f"  waits: {found['waiting']}"])
    for row in found["quarantined"]:
        lines.append(
            f"  refused: {', '.join(row['reasons'])}  ({row['source_file']} {row['table']} row {row['source_rowid']})"
        )
        lines.append(f"    {row['row']}")
    for why in [system.why for system in SYSTEMS.values() if system.why]:
        for facts in found[why.key]:
            lines += why.tell(facts)
    for example in found["examples"]:
        lines += _example(example)
    return "\n".join(lines)


def _example(example: dict[str, Any]) -> list[str]:
    head = (
        f"  example {example['id']}  {example['format']} from {example['source']}, weight {example['quality_weight']:g}"
    )
    if example["reason"] is None and example["split"] is None:  # no release has looked at it
        return [head, "    nothing speaks against it so far; the next release settles whether it leaves"]
    if example["reason"] is None:
        return [head, f"    leaves in {example.get('file', 'the next release')}"]
    of = f" of {example['duplicate_of']}" if example["duplicate_of"] else ""
    named = f": {example['detail']}" if example["detail"] else ""
    return [head, f"    left out: {example['reason']}{of}{named}"]
