"""Pandera, as the contracts use it: the one module that imports it, so that a run without it says so and does not start."""

from dagster_project.errors import GristmillError

try:
    import pandera.polars as pa
    from pandera.config import ValidationDepth, config_context, set_config
    from pandera.errors import SchemaErrors
except ImportError as error:
    raise GristmillError(
        f"rows are checked with Pandera, which cannot be imported ({error}): install the locked requirements"
    ) from error

set_config(use_narwhals_backend=False)  # whatever the environment says: another backend has other failure cases

__all__ = ["SchemaErrors", "ValidationDepth", "config_context", "pa"]
