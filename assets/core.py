"""What is derived from the raw tables, one row per thing. Each is one query in sql/core."""

from dagster_project.publish import sql_table

# quarantine__rows lets go of the sources; nothing is computed before that
core__voices = sql_table("core__voices", after=["quarantine__rows"])
core__answers = sql_table("core__answers")
core__feedback = sql_table("core__feedback")
core__responses = sql_table("core__responses")
core__feedback_sessions = sql_table("core__feedback_sessions")
core__correction_requests = sql_table("core__correction_requests")
core__safety_queue = sql_table("core__safety_queue")
core__signals = sql_table("core__signals")
