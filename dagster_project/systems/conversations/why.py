"""`gristmill why` of a turn, in words."""

from typing import Any

from dagster_project.columns.printable import short


def tell(facts: dict[str, Any]) -> list[str]:
    source, derived = facts["source_row"], facts["derived"]
    who = f"{derived['user_id'] or 'unknown user'}, session {derived['session_id'] or 'unknown'}"
    lines = [
        f"  {derived['turn_key']}: {derived['turn_id']} of {who}, {derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC",
        f"    from      {source['source_file']} row {source['source_rowid']}"
        + (f", repaired {', '.join(source['repairs'])}" if source.get("repairs") else ""),
        f"    question  {short(source.get('query', 'none'))}  ({source.get('query_source', 'no text anywhere')})",
        f"    answer    {short(source.get('response', 'none'))}  ({source.get('response_source', 'no text anywhere')})",
    ]
    if facts["next_message"] is not None:
        lines.append(f"    then      {short(facts['next_message'])}  ({derived['detected_in_turn']})")
    alike = "" if derived["similarity"] is None else f", similarity {derived['similarity']:g}"
    kind = f" ({derived['correction_type']})" if derived["correction_type"] else ""
    lines.append(
        f"    detected  {derived['feedback_status']}{kind}, confidence {derived['feedback_confidence']:g}, "
        f"by {derived['reason']}{alike}"
        + (f"; the source says {derived['source_status']}" if derived["source_status"] else "")
    )
    if derived["rejection_chance"] is not None:  # a head decided with the rules (C7)
        alone = facts["rules_alone"]
        lines.append(
            f"    rules     alone: {alone['feedback_status']}, confidence {alone['feedback_confidence']:g}, by {alone['reason']}; "
            f"by your own labels a rejection is {derived['rejection_chance']:.0%} likely"
        )
    scores = {name: derived[f"{name}_score"] for name in ("satisfaction", "ranking")}
    told = ", ".join(f"{name} {'unknown' if score is None else f'{score:g}'}" for name, score in scores.items())
    in_a_row = f", {derived['consecutive_rejections']} rejected in a row" if derived["consecutive_rejections"] else ""
    lines.append(f"    scores    {told}{in_a_row}, {'may' if derived['is_reusable'] else 'must not'} be reused")
    for label in facts["labels"]:
        lines.append(f"    judged    {label['verdict']} by {label['reviewer']}, {label['judged_at']:%Y-%m-%d} (label)")
    for signal in facts["machine_signals"]:
        lines.append(
            f"    signal    {signal['message_turn_key']} says {signal['kind']} ({signal['confidence']:g}) "
            f"of {signal['target_turn_key']} ({signal['target_kind'].replace('_', ' ')})"
        )
    return lines
