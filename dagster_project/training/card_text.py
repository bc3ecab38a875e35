"""What a person should know of a release before training on it: the text of its card, made from the manifest alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from dagster_project.columns.templates import SPLITS
from dagster_project.contracts.columns import LOW_TIERS
from dagster_project.contracts.formats import FORMATS, TRAINING_FORMATS

LEAST_EVALUATION = 20  # records; fewer say little of a model
KINDS = ("source", "tier", "domain", "language")
LOOKED_AT = (
    "training_prompts",
    "evaluation_prompts",
    "compared_prompts",
    "training_contexts",
)  # of the proof (T3); the rest is what it found
TEMPLATE_PROMPTS = "template_sentence_prompts"
LENGTH_NAMES = {
    "prompt_tokens": "prompt and context, tokens",
    "answer_tokens": "answers, tokens",
    "characters": "all, characters",
}
ANONYMISED_NOTE = (
    "`anonymized_feedback` holds rated sessions without saying whose: no ids, and every combination of values is shared by "
    "at least k users of its week (`anonymised` in `manifest.json`). Numbers are the lower ends of quarters and thirds."
)
LIMITS = (
    "Names of people and street addresses are not masked.",
    "Votes and corrections are opinions of those who gave them; they are not checked for truth.",
    "Tokens are estimated as characters / 4: a tokenizer counts otherwise, above all outside English and in code.",
    "Texts in a language no rule knows have none, and are judged by the rules for all.",
)


def text(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Paragraphs and tables in Markdown, line by line."""
    figures: Mapping[str, Mapping[str, Any]] = manifest.get("figures", {})
    yield from ("", f"# Training sets up to {manifest['release_date']}", "")
    yield from _rights(manifest.get("rights", {}))
    yield from _formats(figures)
    yield from _files(manifest["files"])
    yield from _fields()
    yield from _mix(figures)
    yield from _lengths(figures)
    yield from _weights(figures)
    yield from _labels(figures)
    yield from _masked(manifest)
    yield from _made(manifest)
    yield from ("## Known limits", "", *(f"- {limit}" for limit in LIMITS))
    yield from (f"- {line}" for line in _few(figures))
    if manifest["anonymised"]["weeks"]:
        yield from ("", "## Anonymised feedback", "", ANONYMISED_NOTE)
    yield ""


def table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    yield ""


def _cell(value: Any) -> str:
    return f"{value}".replace("|", "\\|").replace("\n", " ")


def _rights(rights: Mapping[str, str]) -> Iterator[str]:
    for name in ("licence", "consent"):
        yield f"{name.capitalize()}: {_cell(rights.get(name) or f'not stated (`{name}` in the configuration)')}"
        yield ""


def _formats(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (f"`{name}`", format.says, format.trains, *(told["split"].get(split, 0) for split in SPLITS))
        for name, told in figures.items()
        if (format := TRAINING_FORMATS[name])
    ]
    yield from table(("config", "one record", "for", *SPLITS), rows)
    yield "`augmentation` is what would be in train but for its low weight."
    if "unpaired" in figures:
        down = figures["unpaired"].get("label", {}).get("false", 0)
        yield (
            f"Do not fine-tune on `unpaired` as if its answers were good (SFT): {down} of them are answers people rated down."
        )
    yield ""


def _files(files: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## Files", "")
    yield from table(
        ("file", "split", "records"), [(n, entry["split"] or "", entry["rows"]) for n, entry in files.items()]
    )


def _fields() -> Iterator[str]:
    yield "Each record carries `id`, `content_id` (of what it says: it stays when another row becomes the survivor), `source` (the"
    yield "rule that made it), `quality_weight`, `base_weight`, `tier`, `domain`, `origin_ids` (the feedback rows or the distilled"
    yield 'example behind it) and `context` (the conversation before the prompt, or null): train with it, a prompt like "Go on."'
    yield "means nothing alone. What was left out, and why, is counted in `manifest.json`."
    yield ""


def _mix(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## The mix", "")
    for kind in KINDS:
        values = sorted({value for told in figures.values() for value in told.get(kind, {})})
        if values:
            rows = [(value, *(told.get(kind, {}).get(value, 0) for told in figures.values())) for value in values]
            yield from table((kind, *figures), rows)


def _lengths(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (f"`{format}`", name, *told[kind].values())
        for format, told in figures.items()
        for kind, name in LENGTH_NAMES.items()
        if kind in told
    ]
    if rows:
        yield from ("## Lengths", "", "Tokens are characters / 4. Of a pair both answers together.", "")
        yield from table(("config", "of", "5 %", "50 %", "90 %", "95 %", "99 %", "longest"), rows)


def _weights(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## Weights", "")
    aged = sum(told.get("low_by_age", {}).get("true", 0) for told in figures.values())
    low = sum(told["tier"].get(tier, 0) for told in figures.values() for tier in LOW_TIERS)
    yield "`quality_weight` is mostly age: of feedback it falls towards half of what it was, half of that way in 30 days, whatever the"
    yield "answer is worth; of distilled examples it is their score. `base_weight` is the weight at age 0: take that, or none, unless"
    yield "recent feedback should count for more."
    yield f"Of {low} records of a low tier {aged} are so by age alone."
    yield ""


def _labels(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    labels = figures.get("unpaired", {}).get("label")
    if labels:
        up, down = labels.get("true", 0), labels.get("false", 0)
        yield from ("## Balance of labels", "", f"`unpaired` has {up} answers rated up and {down} rated down.")
        if up and down:
            yield (
                "KTO wants desirable_weight x up to lie between 1 and 4/3 of undesirable_weight x down: with undesirable_weight = 1, "
                f"desirable_weight from {down / up:.2f} to {4 * down / (3 * up):.2f}."
            )
        yield ""


def _masked(manifest: Mapping[str, Any]) -> Iterator[str]:
    masked = manifest.get("masked")
    if masked is not None:
        yield from ("## Masked", "", "Items of these kinds were replaced by a placeholder such as `<EMAIL_1>`:", "")
        yield from table(("kind", "items"), [(f"`{kind}`", count) for kind, count in masked.items()])


def _made(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from ("## How it was made", "")
    yield "By Gristmill, from feedback, reviews and distilled answers: every candidate was judged by fixed rules and left, or did not"
    yield "for the one reason counted in the manifest. The same sources, settings and as_of give the same bytes:"
    yield f"as_of {manifest.get('as_of', manifest['release_date'])}, settings `{manifest.get('config_hash', '')}`,"
    yield f"code `{manifest.get('code_hash', '')}`."
    yield ""
    yield from _repeated(manifest)
    yield from _dealt(manifest)
    yield from _proof(manifest.get("proof", {}))


def _left_out(manifest: Mapping[str, Any], reason: str) -> int:
    return sum(reasons.get(reason, 0) for reasons in manifest.get("excluded", {}).values())


def _repeated(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield f"Of records of a config that say the same only the heaviest left: {_left_out(manifest, 'duplicate')} others did not."
    if manifest.get("near_duplicates", True):
        yield "Nor did records that say nearly the same as one that left (prompt with context, and each answer by itself, share at least"
        yield f"four of five of their runs of 5 characters): {_left_out(manifest, 'near_duplicate')} of them."
        yield "Across configs the same may be said again."
    else:
        yield "Records that say nearly the same as another are still there (`near_duplicates = false`)."
    yield ""


def _dealt(manifest: Mapping[str, Any]) -> Iterator[str]:
    """How splits were drawn (T3), which is another way where they go by session or user."""
    yield from ("## Splits", "")
    owner, leaks = manifest.get("split_by", "prompt"), _left_out(manifest, "leak")
    if owner == "prompt":
        yield "Each prompt draws its split by its hash, the same in every config: 90 % train, 5 % validation, 5 % test. Prompts that belong"
        yield "together are dealt together, into the first of these that one of them drew: prompts that are alike (by their normal form,"
        yield "their runs of characters, their longest sentence), and prompts of which one stands, with its answer, in the conversation"
        yield f"before the other. {manifest.get('moved', 0)} prompts that drew validation or test are in train for that."
        yield "What too many prompts share is a template, and ties nothing."
    else:
        yield f"Each {owner} draws its split by the hash of its id: 90 % train, 5 % validation, 5 % test."
        yield f"Records whose {owner} nobody knows go by their prompt, together with prompts alike."
        yield "Evaluation records do not leave if their prompt belongs together with one in training:"
        yield "is alike, or stands with its answer in the conversation before it."
    if owner == "prompt" and manifest.get("eval_set") == "pin":
        yield "Prompts that a pinned release validates or tests with stay for evaluation, and so do those that belong together with them."
    yield f"{leaks} evaluation records did not leave (`leak`), because training would still have known their prompt or their answer."
    yield ""


def _proof(proof: Mapping[str, int]) -> Iterator[str]:
    """What was looked at, and what was found; all of it but templates would be a leak, and would have kept the release back."""
    if not proof:
        return
    looked = {name: proof[name] for name in LOOKED_AT if name in proof}
    found = {name: count for name, count in proof.items() if name not in LOOKED_AT}
    leaks = sum(count for name, count in found.items() if name != TEMPLATE_PROMPTS)
    yield "The files were read back and searched by another method for what stands on both sides of the split: of"
    counted = ", ".join(f"{count} {_words(name)}" for name, count in looked.items())
    yield f"{counted}, {leaks or 'no'} leaks were found."
    yield from ("", *table(("found", "count"), [(_words(name), count) for name, count in found.items()]))
    if proof.get(TEMPLATE_PROMPTS):
        yield "Template sentence prompts are evaluation prompts that share a sentence with a training prompt, one that more than 20"
        yield "different prompts have: a form of asking, counted and not kept apart."
        yield ""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _few(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for format in FORMATS:
        if format in figures:
            held_out = sum(figures[format]["split"].get(split, 0) for split in ("validation", "test"))
            if held_out < LEAST_EVALUATION:
                yield f"`{format}` has {held_out} evaluation records, fewer than {LEAST_EVALUATION}: figures on them say little."
