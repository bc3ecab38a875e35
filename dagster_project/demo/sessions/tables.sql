-- Seed 4's tables as a SQLite copy has them: ids, arrays (JSON) and times (ISO) are texts.
create table ai_sessions (
    id text primary key,
    tenant_id text,
    workspace_id text,
    slice_id text,
    user_id text,
    context_document_ids text,
    context_token_count integer,
    context_compiled_at text,
    query_hash text,
    started_at text,
    ended_at text,
    created_at text
);
create table session_feedback (
    id text primary key,
    tenant_id text,
    session_id text,
    rating text,
    error_categories text,
    missing_context text,
    comment text,
    accuracy_score integer,
    completeness_score integer,
    style_match_score integer,
    review_verdict text,
    edit_distance integer,
    output_issues text,
    submitted_at text,
    submitted_by text
);
create table context_nodes (
    id text primary key,
    tenant_id text,
    type text,
    layer text,
    name text,
    freshness real,
    token_count integer,
    deleted_at text
);
create table session_outputs (
    session_id text primary key,
    original text,
    revised text
);
