"""The lines of an export's files, encoded where the rows are at hand and brought into order of `key` on the way out."""

import io

import polars as pl

from dagster_project.training.record_lines import LINE_ENDS


def json_lines(rows: pl.DataFrame, without_null_keys: tuple[str, ...] = ()) -> bytes:
    """One line a row, for readers, too, that end a line at more characters than LF (T4).

    A key of `without_null_keys` that is null is left out. In a JSON text a quote is always behind a backslash, so `,"key":null`
    stands nowhere but between values.
    """
    lines = io.BytesIO()
    rows.write_ndjson(lines)
    written = lines.getvalue()
    for key in without_null_keys:
        written = written.replace(f',"{key}":null'.encode(), b"")
    for character in LINE_ENDS:
        if (raw := character.encode()) in written:
            written = written.replace(raw, f"\\u{ord(character):04x}".encode())
    return written
