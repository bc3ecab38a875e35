"""Pandera schemas: the one place where the rules about one row stand, a module per system and one for our own tables.

Nothing else imports Pandera, and nothing reads or writes a table without it: where it is missing no run starts.
"""

from dagster_project.errors import GristmillError

try:
    import pandera.polars  # noqa: F401
    from pandera.config import set_config
except ImportError as error:
    raise GristmillError(
        f"rows are checked with Pandera, which cannot be imported ({error}): install the locked requirements"
    ) from error

set_config(use_narwhals_backend=False)  # whatever the environment says: another backend has other failure cases
