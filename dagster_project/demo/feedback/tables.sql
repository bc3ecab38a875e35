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

-- after the rows
create index idx_feedback_response on feedback(response_id);
create index idx_feedback_session on feedback(session_id);
create index idx_feedback_type on feedback(feedback_type);
create index idx_feedback_rating on feedback(rating);
create index idx_feedback_processed on feedback(processed);
create index idx_feedback_domain on feedback(domain);
create index idx_feedback_timestamp on feedback(timestamp);
create index idx_feedback_quality on feedback(quality_weight);

create trigger update_feedback_aggregates
after insert on feedback
begin
    insert into feedback_aggregates (response_id, first_feedback_at, last_feedback_at)
    values (new.response_id, new.timestamp, new.timestamp)
    on conflict(response_id) do update set
        thumbs_up_count = thumbs_up_count + case when new.rating = 1 then 1 else 0 end,
        thumbs_down_count = thumbs_down_count + case when new.rating = -1 then 1 else 0 end,
        correction_count = correction_count + case when new.feedback_type = 'correction' then 1 else 0 end,
        preference_count = preference_count + case when new.feedback_type = 'preference' then 1 else 0 end,
        flag_count = flag_count + case when new.feedback_type = 'flag' then 1 else 0 end,
        last_feedback_at = new.timestamp,
        updated_at = unixepoch('now');
end;
