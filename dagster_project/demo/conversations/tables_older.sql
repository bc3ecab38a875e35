-- The older variant: no user, no text, and times as whatever the release of the day wrote.
create table turn_index (
    id INTEGER PRIMARY KEY,
    turn_number INTEGER,
    session_id TEXT,
    topic TEXT,
    intent TEXT,
    validation_outcome TEXT,
    strategy_summary TEXT,
    quality_score REAL,
    user_feedback_status TEXT DEFAULT 'neutral',
    rejection_detected_in TEXT,
    created_at TIMESTAMP,
    keywords TEXT,
    doc_path TEXT
);

-- after the rows
create index idx_turn_number on turn_index(turn_number);
create index idx_feedback_status on turn_index(user_feedback_status);
