"""The proof that a release leaks nothing (T3): its own files read back, and counted what stands on both sides of the split.

A second opinion, so it shares no code with what made the splits: texts are normalised by expressions of Polars, alike prompts
are found by comparing all with all (`compared_prompts.py`), answers in contexts by one automaton over their beginnings.
"""

import io
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import polars as pl

from dagster_project.training.compared_prompts import ComparedPrompts

BLOCK = 1 << 25  # bytes of a file read at once
PROMPTS_TOGETHER = 5_000
COMPARISONS = 1_500_000_000  # of an evaluation prompt with a training prompt: some 10 s of CPU; beyond 100,000 prompts not all of them
ANSWER_CHARACTERS = 40  # a shorter answer in a context proves nothing ...
PLAIN_CHARACTERS = 8  # ... nor one of which its normal form keeps less
ANCHOR_CHARACTERS = 80  # of an answer that are looked for first
TEMPLATE_PROMPTS = 20
SENTENCE_WORDS = 8
# Per format: the field the user's question is in, the fields of answers, and our templates' words around both (F6).
PLACES = {
    "instruction": ("instruction", ("output",)),
    "cot": ("instruction", ("output",)),
    "correction": ("input", ("output",)),
    "preference": ("prompt", ("chosen", "rejected")),
    "unpaired": ("prompt", ("completion",)),
}
OUR_WORDS = (
    (r"(?s)^Original question: (.*)\n\nMy answer: .*$", "${1}"),
    (r"(?s)^(?:The issue was: .*?\n\n)?Corrected answer: ", ""),
    (r"^Your answer has an error\. Here's what you should have said:\n\n", ""),
)
# Signs that take no room, as classes and ranges of their own.
_NO_WIDTH = (
    r"[\x00\p{Cf}\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{2065}\x{3164}\x{fe00}-\x{fe0f}\x{ffa0}"
    r"\x{fff0}-\x{fff8}\x{e0000}-\x{e0fff}]"
)
_ENDS = "[.!?。！？\n\r\u0085\u2028\u2029]+"


@dataclass
class Proof:
    """What is found, of prompts in their normal form and of evaluation records. All but what was looked at and the templates are leaks."""

    training_prompts: int = 0
    evaluation_prompts: int = 0
    training_contexts: int = 0
    shared_prompts: int = 0
    compared_prompts: int = 0  # of the evaluation prompts, those that all training prompts were compared with
    alike_prompts: int = 0  # of these, at Jaccard 0.7 of a training prompt
    same_sentence_prompts: int = 0
    template_sentence_prompts: int = (
        0  # share a sentence of more than 20 prompts, or one that is known to be of so many
    )
    exchanges_in_contexts: int = 0
    answers_in_contexts: int = 0

    def counts(self) -> dict[str, int]:
        return asdict(self)


def prove(folder: Path, work: Path, templates: Collection[str] = (), memory_mb: int = 1_000) -> Proof:
    """Read the JSONL files of a release folder and count. `work` is a folder for what does not fit into memory.

    templates: longest sentences (alike forms) that more than 20 prompts of all candidates have, though fewer may leave.
    """
    path = work / "leak_proof.duckdb"
    path.unlink(missing_ok=True)
    limits = {"threads": 1, "memory_limit": f"{memory_mb}MB", "temp_directory": str(work / "leak_proof.tmp")}
    with duckdb.connect(str(path), config=limits) as database:
        database.execute(
            "create table records (is_train boolean, id varchar, prompt varchar, sentence varchar);"
            "create table answers (id varchar, prompt varchar, answer varchar);"
            "create table contexts (context varchar);"
        )
        for file in sorted(folder.glob("*_*.jsonl")):
            if (format := file.name.split("_")[0]) in PLACES:
                is_train = not file.name.endswith((".validation.jsonl", ".test.jsonl"))
                for block in _blocks(file):
                    _keep(database, format, is_train, block)
        database.execute("create table known as select unnest($1::varchar[]) as sentence", [[*templates]])
        found = Proof()
        _count_prompts(database, found)
        _count_alike(database, found)
        _count_in_contexts(database, found)
    path.unlink()
    return found


def _blocks(file: Path) -> Iterator[pl.DataFrame]:
    fields = dict.fromkeys(
        ("id", "context", *{name for prompt, answers in PLACES.values() for name in (prompt, *answers)})
    )
    with file.open("rb") as lines:
        while block := lines.read(BLOCK):
            yield pl.read_ndjson(io.BytesIO(block + lines.readline()), schema=dict.fromkeys(fields, pl.String))


def _plain(text: pl.Expr) -> pl.Expr:
    """Without signs that take no room, in compatible and small letters, without punctuation, single spaces."""
    bare = text.str.replace_all(_NO_WIDTH, "").str.replace_all("[`´ʼ]", "").str.normalize("NFKC").str.to_lowercase()
    folded = bare.str.replace_many(["ß", "ς"], ["ss", "σ"]).str.replace_all(r"[\p{P}`ʼ]|" + _NO_WIDTH, "")
    return folded.str.replace_all(r"[\s\x1c-\x1f]+", " ").str.strip_chars(" ")


def _unmasked(text: pl.Expr) -> pl.Expr:
    """A masked item by its kind alone: its number counts within one record (T8)."""
    return text.str.replace_all(r"<([A-Z]+(?:_[A-Z]+)*)_[0-9]+>", "<${1}>")


def _without_our_words(text: pl.Expr) -> pl.Expr:
    for pattern, kept in OUR_WORDS:
        text = text.str.replace(pattern, kept)
    return text


def _keep(database: duckdb.DuckDBPyConnection, format: str, is_train: bool, block: pl.DataFrame) -> None:
    prompt, answers = PLACES[format]
    question = _without_our_words(_unmasked(pl.col(prompt)))
    told = block.select("id", _plain(question).alias("prompt"), _longest(block.select(question.alias("text"))["text"]))
    database.register("told", told.to_arrow())
    database.execute("insert into records select $1, id, prompt, sentence from told", [is_train])
    if is_train:
        said = block.select(pl.col("context").drop_nulls().unique())
        database.register("said", said.to_arrow())
        # a JSON list of turns is what its turns say, else escapes would stand between the words
        turns = database.execute(
            "select case when json_valid(context) and json_type(context) = 'ARRAY' then "
            "array_to_string(json_extract_string(context, '$[*].content'), ' ') else context end as context from said"
        ).pl()
        plain = turns.select(_plain(_unmasked(pl.col("context"))).alias("context")).filter(pl.col("context") != "")
        database.register("plain", plain.to_arrow())
        database.execute("insert into contexts select context from plain")
        return
    for name in answers:
        own = _without_our_words(_unmasked(pl.col(name)))
        given = block.select("id", _plain(question).alias("prompt"), own.alias("own"), _plain(own).alias("answer"))
        is_long = (pl.col("own").str.len_chars() >= ANSWER_CHARACTERS) & (
            pl.col("answer").str.len_chars() >= PLAIN_CHARACTERS
        )
        database.register("long", given.filter(is_long).drop("own").to_arrow())
        database.execute("insert into answers select id, prompt, answer from long")


def _longest(texts: pl.Series) -> pl.Series:
    """The first of the longest sentences, if it has eight words."""
    pieces = (
        texts.to_frame("text")
        .with_row_index("row")
        .with_columns(pl.col("text").str.replace_all(_ENDS, "\n").str.split("\n"))
    )
    plain = pieces.explode("text").select("row", _plain(pl.col("text")).alias("sentence"))
    longest = plain.sort(pl.col("sentence").str.len_chars(), descending=True, nulls_last=True, maintain_order=True)
    first = longest.unique("row", keep="first", maintain_order=True).sort("row")["sentence"]
    words = first.str.split(" ").list.len()
    return pl.select(pl.when(words >= SENTENCE_WORDS).then(first)).to_series().rename("sentence")


def _count_prompts(database: duckdb.DuckDBPyConnection, found: Proof) -> None:
    """Equal prompts, and those with the same longest sentence."""
    database.execute(
        "create table prompts as select prompt, bool_or(is_train) as in_train, bool_or(not is_train) as in_evaluation, "
        "row_number() over (order by prompt) as number from records group by prompt"
    )
    counted = (
        "select count(*) filter (in_train), count(*) filter (in_evaluation), "
        "count(*) filter (in_train and in_evaluation) from prompts"
    )
    found.training_prompts, found.evaluation_prompts, found.shared_prompts = _row(database, counted)
    database.execute(
        f"""
        create table sentences as
        select sentence, count(distinct prompt) > {TEMPLATE_PROMPTS} or sentence in (select sentence from known) as is_template
        from records
        where sentence is not null
        group by sentence
        having bool_or(is_train) and bool_or(not is_train)
        """
    )
    found.same_sentence_prompts, found.template_sentence_prompts = _row(
        database,
        """
        select count(distinct prompt) filter (not is_template), count(distinct prompt) filter (is_template)
        from records join sentences using (sentence)
        where not is_train and prompt not in (select prompt from prompts where in_train)
        """,
    )


def _row(database: duckdb.DuckDBPyConnection, query: str) -> tuple[int, ...]:
    row = database.execute(query).fetchone()
    assert row is not None
    return row


def _count_alike(database: duckdb.DuckDBPyConnection, found: Proof) -> None:
    """Evaluation prompts at Jaccard 0.7 of a training prompt, those compared first whose hash is smallest."""
    most = COMPARISONS // max(1, found.training_prompts)
    rows = database.execute(
        "select prompt from prompts where in_evaluation and not in_train order by md5(prompt), prompt limit $1", [most]
    ).fetchall()
    compared = ComparedPrompts([prompt for (prompt,) in rows])
    found.compared_prompts = len(compared.prompts) + found.shared_prompts
    height = _row(database, "select count(*) from prompts")[0]
    for first in range(1, height + 1, PROMPTS_TOGETHER):
        trained = database.execute(
            "select prompt from prompts where number between $1 and $2 and in_train order by number",
            [first, first + PROMPTS_TOGETHER - 1],
        ).fetchall()
        compared.compare([prompt for (prompt,) in trained])
    found.alike_prompts = len(compared.alike)


def _count_in_contexts(database: duckdb.DuckDBPyConnection, found: Proof) -> None:
    """Evaluation records one of whose answers, and those whose prompt, too, stands in the context of a training record."""
    found.training_contexts = _row(database, "select count(distinct context) from contexts")[0]
    answers = database.execute("select distinct prompt, answer from answers").pl()
    answers = answers.with_columns(pl.col("answer").str.head(ANCHOR_CHARACTERS).alias("anchor"))
    anchors = answers["anchor"].unique().sort()
    if not len(anchors):
        return
    told, exchanged = [], []
    reader = database.execute("select distinct context from contexts").to_arrow_reader(PROMPTS_TOGETHER)
    for batch in reader:
        contexts = pl.DataFrame(pl.from_arrow(batch))
        met = contexts.with_columns(
            pl.col("context").str.extract_many(anchors.to_list(), overlapping=True).list.unique().alias("anchor")
        ).explode("anchor", keep_nulls=False)
        whole = met.join(answers, on="anchor").filter(pl.col("context").str.contains(pl.col("answer"), literal=True))
        is_exchange = (pl.col("prompt") != "") & pl.col("context").str.contains(pl.col("prompt"), literal=True)
        told.append(whole.select("answer").unique())
        exchanged.append(whole.filter(is_exchange).select("prompt", "answer").unique())
    for name, frames in (("told", told), ("exchanged", exchanged)):
        database.register(name, pl.concat(frames).unique().to_arrow() if frames else answers.head(0).to_arrow())
    count = "select count(distinct id) from answers semi join {} using ({})"
    found.answers_in_contexts = _row(database, count.format("told", "answer"))[0]
    found.exchanges_in_contexts = _row(database, count.format("exchanged", "prompt, answer"))[0]
