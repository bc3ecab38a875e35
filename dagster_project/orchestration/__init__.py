"""The only room that knows Dagster: asset factories, resource, guard, history."""
