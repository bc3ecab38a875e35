"""The documents' own tables: seed 4's, and conv_messages as sources.md describes it."""

from dagster_project.contracts.source_table import TableSpec

SESSIONS_DDL = (
    "create table tenants (id UUID PRIMARY KEY)",
    "create table workspaces (id UUID PRIMARY KEY)",
    "create table slices (id UUID PRIMARY KEY)",
    "create table users (id UUID PRIMARY KEY)",
    """CREATE TABLE ai_sessions (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  tenant_id UUID NOT NULL REFERENCES tenants(id),
  workspace_id UUID NOT NULL REFERENCES workspaces(id),
  slice_id UUID REFERENCES slices(id),
  user_id UUID NOT NULL REFERENCES users(id),

  -- Context snapshot
  context_document_ids UUID[] NOT NULL,
  context_token_count INTEGER NOT NULL,
  context_compiled_at TIMESTAMPTZ NOT NULL,

  -- Session
  query_hash VARCHAR(64), -- SHA256 of query (privacy)
  started_at TIMESTAMPTZ NOT NULL,
  ended_at TIMESTAMPTZ,

  created_at TIMESTAMPTZ DEFAULT NOW()
)""",
    """CREATE TABLE session_feedback (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  tenant_id UUID NOT NULL REFERENCES tenants(id),
  session_id UUID NOT NULL REFERENCES ai_sessions(id),

  -- Quick rating
  rating VARCHAR(20) NOT NULL, -- 'positive', 'negative', 'skipped'

  -- Error details
  error_categories TEXT[],
  missing_context TEXT,
  comment TEXT,

  -- Quality scores
  accuracy_score INTEGER,
  completeness_score INTEGER,
  style_match_score INTEGER,

  -- Output review
  review_verdict VARCHAR(20),
  edit_distance INTEGER,
  output_issues TEXT[],

  submitted_at TIMESTAMPTZ DEFAULT NOW(),
  submitted_by UUID NOT NULL REFERENCES users(id)
)""",
    "CREATE INDEX idx_ai_sessions_workspace ON ai_sessions(workspace_id)",
    "CREATE INDEX idx_session_feedback_session ON session_feedback(session_id)",
)
SESSIONS = TableSpec(
    system="sessions",
    name="ai_sessions",
    columns={
        "id": "id",
        "tenant_id": "id",
        "workspace_id": "id",
        "slice_id": "id",
        "user_id": "id",
        "context_document_ids": "list",
        "context_node_ids": "list",
        "context_token_count": "integer",
        "context_compiled_at": "time",
        "query_hash": "text",
        "started_at": "time",
        "ended_at": "time",
        "created_at": "time",
    },
    required=("id", "started_at"),
    key="id",
    event_time="started_at",
    edited=("ended_at", "context_token_count"),
)
FEEDBACK = TableSpec(
    system="sessions",
    name="session_feedback",
    columns={
        "id": "id",
        "tenant_id": "id",
        "session_id": "id",
        "rating": "text",
        "error_categories": "list",
        "missing_context": "text",
        "comment": "text",
        "accuracy_score": "integer",
        "completeness_score": "integer",
        "style_match_score": "integer",
        "review_verdict": "text",
        "edit_distance": "integer",
        "output_issues": "list",
        "submitted_at": "time",
        "submitted_by": "id",
        "submitted_by_id": "id",
    },
    required=("id", "session_id"),
    key="id",
    event_time="submitted_at",
    edited=("rating", "error_categories", "review_verdict", "edit_distance"),
    measured=("comment",),
)

MESSAGES_DDL = """CREATE TABLE conv_messages (
  id BIGSERIAL PRIMARY KEY, user_id TEXT NOT NULL, bundle_id TEXT, agent_id TEXT, conversation_id TEXT NOT NULL,
  message_id TEXT, role TEXT NOT NULL, text TEXT NOT NULL, hosted_uri TEXT, ts TIMESTAMPTZ NOT NULL DEFAULT now(),
  ttl_days INT NOT NULL DEFAULT 365, user_type TEXT NOT NULL DEFAULT 'anonymous', tags TEXT[] NOT NULL DEFAULT '{}',
  embedding FLOAT8[], turn_id TEXT, anchors_text TEXT, search_tsv TSVECTOR
)"""
MESSAGES = TableSpec(
    system="reactions",
    name="conv_messages",
    columns={
        "id": "integer",
        "user_id": "id",
        "bundle_id": "id",
        "agent_id": "id",
        "conversation_id": "id",
        "message_id": "id",
        "role": "text",
        "text": "text",
        "hosted_uri": "text",
        "s3_uri": "text",
        "ts": "time",
        "ttl_days": "integer",
        "user_type": "text",
        "tags": "list",
        "turn_id": "id",
        "anchors_text": "text",
        "track_id": "id",
    },
    required=("id", "user_id", "conversation_id", "role", "text", "ts", "tags"),
    key="id",
    event_time="ts",
    edited=("ts", "ttl_days", "tags"),
    measured=("text",),
    left_behind=("embedding", "search_tsv"),
)
ONLY_REACTIONS = (
    "role = 'artifact' and tags && array['artifact:turn.log.reaction', 'kind:turn.log.reaction', 'artifact:turn.log']"
)
