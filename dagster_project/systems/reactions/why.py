"""`gristmill why` of a reaction, in words."""

from typing import Any

from dagster_project.columns.printable import short


def tell(facts: dict[str, Any]) -> list[str]:
    source, derived = facts["source_row"], facts["derived"]
    sure = "" if derived["confidence"] is None else f", confidence {derived['confidence']:g}"
    lines = [
        f"  {derived['reaction_id']}: {derived['reaction'] or 'nothing'} by {derived['origin'] or 'unknown origin'}{sure}, "
        f"{derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC",
        f"    from      {source['source_file']} row {source['source_rowid']}"
        + (f", repaired {', '.join(source['repairs'])}" if source.get("repairs") else ""),
        f"    about     {derived['turn_id']} of conversation {derived['conversation_id']}, "
        f"user {derived['user_id'] or 'unknown'}" + (" (no turn log has that turn)" if derived["is_orphan"] else ""),
    ]
    if source.get("reaction_text"):
        lines.append(f"    comment   {short(source['reaction_text'])}")
    lines.append(f"    rn        {derived['rn'] or 'unknown'}")
    lines.append(f"    status    {'active' if derived['is_active'] else derived['inactive_reason']}")
    for row in facts["same_turn"]:
        what = f"{row['reaction'] or 'nothing'} by {row['origin'] or 'unknown origin'}"
        lines.append(f"    beside    {row['reaction_id']}: {what}, {row['inactive_reason'] or 'active'}")
    return lines
