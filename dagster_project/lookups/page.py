"""A page of ours: one file that holds everything and asks for nothing.

Whatever a user wrote is escaped, there is no script, and the policy of the page forbids all but the one style it carries.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from dagster_project.columns.printable import printable

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
th, td { border-bottom: 1px solid #8884; padding: .25rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .5rem .75rem; margin: 0 0 .75rem; }
.beside { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem; border-top: 2px solid #8886; padding-top: .75rem; }
.name { font-size: .8rem; opacity: .7; }
@media (max-width: 50rem) { .beside { grid-template-columns: 1fr; } }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page of parts that are HTML already."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    seen = '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">'
    start = (
        f'<!doctype html>\n<html lang="en"><head>{head}{seen}<title>{shown(title)}</title><style>{STYLE}</style></head>'
    )
    return "\n".join([start, f"<body><h1>{shown(title)}</h1>", *parts, "</body></html>", ""])


def shown(value: object) -> str:
    """Any text, safe in a page; what a reader cannot see is shown."""
    return "" if value is None else escape(printable(str(value)), quote=True)


def heading(text: str, level: int = 2) -> str:
    return f"<h{level}>{shown(text)}</h{level}>"


def paragraph(text: str) -> str:
    return f"<p>{shown(text)}</p>"


def text_block(name: str, text: object) -> str:
    return f'<div class="name">{shown(name)}</div><pre>{shown(text)}</pre>'


def beside(left: Iterable[str], right: Iterable[str]) -> str:
    return f'<div class="beside"><div>{"".join(left)}</div><div>{"".join(right)}</div></div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Numbers stand to the right."""
    body = ("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    head = "".join(f"<th>{shown(name)}</th>" for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _cell(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    told = f"{value:,}" if isinstance(value, int) and is_number else shown(value)
    return f'<td class="number">{told}</td>' if is_number else f"<td>{told}</td>"
