-- The turns of docs/sources/1-conversations.md with its optional text columns. Several users count from one, hence the composite key.
create table turns (
    turn_number INTEGER,
    user_id TEXT,
    session_id TEXT,
    timestamp REAL,
    topic TEXT,
    intent TEXT,
    keywords TEXT,
    validation_outcome TEXT,
    strategy_summary TEXT,
    quality_score REAL,
    user_feedback_status TEXT DEFAULT 'neutral',
    feedback_confidence REAL DEFAULT 0.5,
    rejection_detected_in TEXT,
    goals_json TEXT,
    query TEXT,
    response TEXT,
    PRIMARY KEY (user_id, turn_number)
);

-- after the rows
create index idx_session on turns(session_id);
create index idx_timestamp on turns(timestamp);
create index idx_feedback_status on turns(user_feedback_status);
