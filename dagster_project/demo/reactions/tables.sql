-- A SQLite copy of the Postgres table that holds reaction artifacts beside chat messages and turn logs (seed 3).
create table conv_messages (
    id integer primary key,
    user_id text not null,
    bundle_id text,
    agent_id text,
    conversation_id text,
    message_id text,
    role text not null,
    text text,
    hosted_uri text,
    ts text,
    ttl_days integer default 365,
    user_type text not null default 'anonymous',
    tags text not null default '[]',
    embedding blob,
    turn_id text,
    anchors_text text,
    search_tsv text,
    track_id text
);

-- after the rows
create index conv_messages_conversation on conv_messages (conversation_id, turn_id);
