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
    for story in found["distilled"]:
        lines += _distilled(story)
    for story in found["turns"]:
        lines += _turn(story)
    for story in found["reactions"]:
        lines += _reaction(story)
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
    lines += _queue(story["queue"])
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
        return [f"    settled   by {queue['reviewer']} at {queue['settled_at']}: {_short(queue['note'])}"]
    name = {"safety": "safety queue", "corrections": "correction requests"}[queue["queue"]]
    return [f"    waits     number {queue['rank']} of the {name}"]


def _distilled(story: dict[str, Any]) -> list[str]:
    derived, texts = story["derived"], story["texts"]
    lines = [
        f"  {story['example_id']}: distilled example in {derived['domain']}, {derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"
    ]
    for source in story["source_rows"]:
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
            lines.append(f"    {label}  {_short(text)}")
    if "reconstructed_response" in derived["extracted"]:
        lines.append("              (put together from its steps and final answer: the source has no full one)")
    amounts = {name: _amount(value) for name, value in story["extracted"].items()}
    found = [f"{name} {amount}" for name, amount in amounts.items() if amount]
    lines.append(f"    extracted {', '.join(found) or 'nothing'}")
    lines.append(f"    flags     {', '.join(derived['quality_flags']) or 'none'}")
    lines += [_score(story["score"]), _review(story["review"]), _users(story["feedback"])]
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
        note = f": {_short(review['note'])}" if review["note"] else ""
        return f"{head}, by our reviewers{verdict}, last {review['reviewer']} at {review['decided_at']}{note}"
    note = f": {_short(review['reviewer_notes'])}" if review.get("reviewer_notes") else ""
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


def _turn(story: dict[str, Any]) -> list[str]:
    source, derived = story["source_row"], story["derived"]
    who = f"{derived['user_id'] or 'unknown user'}, session {derived['session_id'] or 'unknown'}"
    lines = [
        f"  {derived['turn_key']}: {derived['turn_id']} of {who}, {derived['occurred_at']:%Y-%m-%d %H:%M:%S} UTC",
        f"    from      {source['source_file']} row {source['source_rowid']}"
        + (f", repaired {', '.join(source['repairs'])}" if source.get("repairs") else ""),
        f"    question  {_short(source.get('query', 'none'))}  ({source.get('query_source', 'no text anywhere')})",
        f"    answer    {_short(source.get('response', 'none'))}  ({source.get('response_source', 'no text anywhere')})",
    ]
    if story["next_message"] is not None:
        lines.append(f"    then      {_short(story['next_message'])}  ({derived['detected_in_turn']})")
    alike = "" if derived["similarity"] is None else f", similarity {derived['similarity']:g}"
    kind = f" ({derived['correction_type']})" if derived["correction_type"] else ""
    lines.append(
        f"    detected  {derived['feedback_status']}{kind}, confidence {derived['feedback_confidence']:g}, "
        f"by {derived['reason']}{alike}"
        + (f"; the source says {derived['source_status']}" if derived["source_status"] else "")
    )
    scores = {name: derived[f"{name}_score"] for name in ("satisfaction", "ranking")}
    told = ", ".join(f"{name} {'unknown' if score is None else f'{score:g}'}" for name, score in scores.items())
    in_a_row = f", {derived['consecutive_rejections']} rejected in a row" if derived["consecutive_rejections"] else ""
    lines.append(f"    scores    {told}{in_a_row}, {'may' if derived['is_reusable'] else 'must not'} be reused")
    for signal in story["machine_signals"]:
        lines.append(
            f"    signal    {signal['message_turn_key']} says {signal['kind']} ({signal['confidence']:g}) "
            f"of {signal['target_turn_key']} ({signal['target_kind'].replace('_', ' ')})"
        )
    return lines


def _reaction(story: dict[str, Any]) -> list[str]:
    source, derived = story["source_row"], story["derived"]
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
        lines.append(f"    comment   {_short(source['reaction_text'])}")
    lines.append(f"    rn        {derived['rn'] or 'unknown'}")
    lines.append(f"    status    {'active' if derived['is_active'] else derived['inactive_reason']}")
    for row in story["same_turn"]:
        what = f"{row['reaction'] or 'nothing'} by {row['origin'] or 'unknown origin'}"
        lines.append(f"    beside    {row['reaction_id']}: {what}, {row['inactive_reason'] or 'active'}")
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
