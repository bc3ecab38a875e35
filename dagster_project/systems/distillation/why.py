"""`gristmill why` of a distilled example, in words."""

from typing import Any

from dagster_project.columns.printable import short


def tell(facts: dict[str, Any]) -> list[str]:
    derived, texts = facts["derived"], facts["texts"]
    lines = [
        f"  {facts['example_id']}: distilled example in {derived['domain']}, {derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"
    ]
    for source in facts["source_rows"]:
        row = source["row"]
        lines.append(
            f"    {'from     ' if source['place'] == 1 else 'then     '} {source['table']} {source['source_id']} "
            f"({row['source_file']} row {row['source_rowid']})"
            + (f", repaired {', '.join(row['repairs'])}" if row.get("repairs") else "")
            + (", holds what a write-back of ours wrote" if row.get("is_written_back") else "")
        )
        lines += [f"      beside  {beside['table']} {beside['row']['id']}" for beside in source["beside"]]
    for label, text in (
        ("question", texts["query"]),
        ("attempt ", texts["attempt"]),
        ("answer  ", texts["claude_response"]),
    ):
        if text is not None:
            lines.append(f"    {label}  {short(text)}")
    if "reconstructed_response" in derived["extracted"]:
        lines.append("              (put together from its steps and final answer: the source has no full one)")
    amounts = {name: _amount(value) for name, value in facts["extracted"].items()}
    found = [f"{name} {amount}" for name, amount in amounts.items() if amount]
    lines.append(f"    extracted {', '.join(found) or 'nothing'}")
    lines.append(f"    flags     {', '.join(derived['quality_flags']) or 'none'}")
    lines += [_score(facts["score"]), _review(facts["review"]), _users(facts["feedback"])]
    ready = "failed at the source" if derived["is_failed"] else "ready" if derived["is_ready"] else "not ready"
    lines.append(f"    training  {ready}, as {derived['training_format']}, weight {derived['quality_weight']:g}")
    return lines


def _amount(value: Any) -> str:
    """A word or a number as it is; of a list, or the lists of an object, how many. Empty where there is nothing."""
    if isinstance(value, dict):
        value = [part for parts in value.values() if isinstance(parts, list) for part in parts]
    if isinstance(value, list):
        return f"({len(value)})" if value else ""
    return "" if value is None else str(value)


def _score(score: dict[str, Any]) -> str:
    parts = " ".join(
        f"{'-' if part['worth'] < 0 else '+'} {abs(part['worth']):g} ({part['factor']})"
        for part in score["factors"]
        if part["applies"]
    ) + (", not below 0" if score["quality_score"] == 0 else "")
    stored = score["source_quality_score"]
    return f"    score     {score['quality_score']:g} = {score['base']:g} {parts}".rstrip() + (
        "" if stored is None else f"; the source says {stored:g}"
    )


def _review(review: dict[str, Any]) -> str:
    head = f"    review    {review['status']}"
    if review["decided_by"] == "our reviewers":
        verdict = " (they disagree)" if review["review_verdict"] == "disputed" else ""
        note = f": {short(review['note'])}" if review["note"] else ""
        return f"{head}, by our reviewers{verdict}, last {review['reviewer']} at {review['decided_at']}{note}"
    note = f": {short(review['reviewer_notes'])}" if review.get("reviewer_notes") else ""
    if review["decided_by"] == "a machine":
        return f"{head}; a machine's verdict in {review['source_row']} does not count{note}"
    if review["decided_by"] is None:
        return f"{head}, nobody decided{note}"
    return f"{head}, by {review['source_row']}{note}"


def _users(feedback: dict[str, Any]) -> str:
    rows = feedback["rows"]
    if not rows:
        return "    users     said nothing about this answer"
    said = (f"{row['feedback_id']} ({row['effective_type']} {_sense(row)}".rstrip() + ")" for row in rows)
    verdict = feedback["verdict"] or "no verdict"
    return f"    users     {verdict}, found by {rows[0]['found_by']}: {', '.join(said)}"


def _sense(row: dict[str, Any]) -> str:
    return row["sentiment"] or row["flag_type"] or ""
