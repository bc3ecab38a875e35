"""Formulas of more than one query: `sql/functions.sql` has each once, a query calls them like functions.

A call is replaced by its formula before anybody runs the query, keeps it as a view or takes its hash: a changed formula is a
changed query (G12), and no engine needs to know functions of ours. Whatever a formula holds, it becomes one line, so that an
error's line is the file's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import polars as pl

FILE = Path(__file__).parent.parent / "sql" / "functions.sql"
DEFINITION = re.compile(r"^create macro (\w+)\(([^)]*)\) as(.+?);$", re.MULTILINE | re.DOTALL)
OPENING, CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Function:
    parameters: tuple[str, ...]
    formula: str

    def applied(self, arguments: list[str]) -> str:
        """The formula of these arguments."""
        given = dict(zip(self.parameters, arguments, strict=True))
        formula = re.sub(r"\w+", lambda word: given.get(word[0], word[0]), self.formula)
        return f"({formula})"


@cache
def functions() -> dict[str, Function]:
    text = "\n".join(line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("--"))
    return {
        name: Function(tuple(word.strip() for word in parameters.split(",") if word.strip()), " ".join(formula.split()))
        for name, parameters, formula in DEFINITION.findall(text)
    }


def formula(call: str) -> pl.Expr:
    """The same over columns of a frame, for what counts rows that are in memory anyway."""
    return pl.sql_expr(expanded(call))


def expanded(sql: str) -> str:
    """A query with the formulas in the places of their calls."""
    call = re.compile(rf"(?<![\w.$])({'|'.join(functions())})\(")
    done: list[str] = []
    at = 0
    while found := call.search(sql, at):
        arguments, end = _arguments(sql, found.end())
        function = functions()[found[1]]
        whole = [argument if re.fullmatch(r"[\w.]+", argument) else f"({argument})" for argument in arguments]
        done += [sql[at : found.start()], expanded(function.applied(whole))]
        at = end
    return "".join([*done, sql[at:]])


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """What stands between the parentheses of a call, and where it ends."""
    cuts, end = [start], start
    for at, sign in _outer_signs(sql, start):
        cuts.append(at + 1)
        end = at
        if sign == ")":
            break
    pieces = (" ".join(sql[first : last - 1].split()) for first, last in pairwise(cuts))
    return [piece for piece in pieces if piece], end + 1


def _outer_signs(sql: str, start: int) -> Iterator[tuple[int, str]]:
    """Commas and the closing parenthesis of the call itself, not of what is nested in it or quoted."""
    depth, is_quoted = 0, False
    for at in range(start, len(sql)):
        sign = sql[at]
        is_quoted ^= sign == "'"
        if is_quoted:
            continue
        if depth == 0 and sign in (",", ")"):
            yield at, sign
        depth += (sign in OPENING) - (sign in CLOSING)
