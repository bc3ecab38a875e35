-- The tables of seed 0, column for column, and `responses` (its section "Response Tracking").
create table feedback (
    feedback_id TEXT PRIMARY KEY,
    response_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT,
    timestamp REAL NOT NULL,
    response_timestamp REAL,
    feedback_type TEXT NOT NULL,
    rating INTEGER,
    correction TEXT,
    correction_type TEXT,
    what_was_wrong TEXT,
    preferred_response TEXT,
    comparison_basis TEXT,
    flag_type TEXT,
    flag_details TEXT,
    original_query TEXT NOT NULL,
    original_response TEXT NOT NULL,
    conversation_context TEXT,
    domain TEXT DEFAULT 'general',
    response_confidence REAL,
    escalated_to_claude INTEGER DEFAULT 0,
    processed INTEGER DEFAULT 0,
    training_format TEXT,
    quality_weight REAL DEFAULT 0.5,
    processed_at REAL,
    created_at REAL DEFAULT (unixepoch('now'))
);

create table feedback_aggregates (
    response_id TEXT PRIMARY KEY,
    thumbs_up_count INTEGER DEFAULT 0,
    thumbs_down_count INTEGER DEFAULT 0,
    avg_rating REAL,
    correction_count INTEGER DEFAULT 0,
    preference_count INTEGER DEFAULT 0,
    flag_count INTEGER DEFAULT 0,
    net_sentiment REAL,
    confidence_delta REAL,
    first_feedback_at REAL,
    last_feedback_at REAL,
    session_ids TEXT,
    updated_at REAL DEFAULT (unixepoch('now'))
);

create table feedback_sessions (
    session_id TEXT PRIMARY KEY,
    total_responses INTEGER DEFAULT 0,
    feedback_given INTEGER DEFAULT 0,
    feedback_rate REAL,
    positive_count INTEGER DEFAULT 0,
    negative_count INTEGER DEFAULT 0,
    correction_count INTEGER DEFAULT 0,
    session_quality REAL,
    started_at REAL,
    last_activity_at REAL,
    primary_domain TEXT,
    topics TEXT
);

create table responses (
    response_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    query TEXT NOT NULL,
    response TEXT NOT NULL,
    timestamp REAL NOT NULL,
    confidence REAL,
    escalated INTEGER DEFAULT 0
);
