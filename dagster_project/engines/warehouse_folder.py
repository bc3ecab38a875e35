"""Where the views of a warehouse find the files of their publication: in the home the warehouse lies in, wherever that is now.

DuckDB has no path relative to the database, but its temporary folder is called after the file that was opened, and a view's
path may be made of settings. So a home that was copied reads its own files, never those of the home it was copied from. Who
attaches the file to another database, or has the temporary folder elsewhere, reads the home the file was published in, if that is
the file they opened; else they must say where the home is: `set variable gristmill_home = '/path/of/the/home'`.
"""

from dataclasses import dataclass
from pathlib import Path

from dagster_project.lake.lake import WAREHOUSE
from dagster_project.lake.parquet import as_pattern

HOME = "gristmill_home"  # the variable by which a client says where the home is
_OPENED = f"current_setting('temp_directory') like '%{WAREHOUSE}.tmp'"
_OPENED_HOME = (
    r"regexp_replace(current_setting('temp_directory'), "
    rf"'(snapshots/[0-9]+/)?{WAREHOUSE.replace('.', '[.]')}[.]tmp$', '')"
)


def quoted(text: object) -> str:
    return "'{}'".format(str(text).replace("'", "''"))


@dataclass(frozen=True)
class FolderSql:
    """A folder as SQL says it: its path with a slash, and that as a pattern that matches just it."""

    path: str
    pattern: str

    @classmethod
    def of(cls, folder: Path) -> "FolderSql":
        return cls(quoted(f"{folder}/"), quoted(f"{as_pattern(folder)}/"))

    @classmethod
    def in_home(cls, home: Path, below: Path) -> "FolderSql":
        """The same of a folder below the home, for whoever opens that home's warehouse wherever it lies."""
        place = (
            f"case when getvariable('{HOME}') is not null then rtrim(getvariable('{HOME}'), '/') || '/' "
            f"when {_OPENED} then {_OPENED_HOME} else {quoted(f'{home}/')} end"
        )
        inside = quoted(f"{below.relative_to(home)}/")
        return cls(f"({place} || {inside})", rf"(regexp_replace({place}, '([*?\[])', '[\1]', 'g') || {inside})")

    def file(self, name: str) -> str:
        return f"{self.path} || {quoted(name)}"

    def matching(self, name: str) -> str:
        return f"{self.pattern} || {quoted(name)}"


def is_right_home(home: Path, publication_folder: Path) -> str:
    """A condition that holds where the home is known for sure, and else says in one line what to do about it."""
    opened = ", ".join(quoted(folder / WAREHOUSE) for folder in (home, publication_folder))
    hint = quoted(
        f"this file reads the tables of its home, and was opened where that is not known: open <home>/{WAREHOUSE} itself, or "
        f"say `set variable {HOME} = '/path/of/the/home'`; `gristmill warehouse --portable FILE` makes one to be copied alone"
    )
    return (
        f"(getvariable('{HOME}') is not null or {_OPENED} or (select case when bool_or(path in ({opened})) then true "
        f"else error({hint}) end from duckdb_databases()))"
    )
