-- The table of seed 2, column for column.
create table distillation_examples (
    id TEXT PRIMARY KEY,
    session_id TEXT,
    created_at REAL NOT NULL,
    query TEXT NOT NULL,
    query_context TEXT,
    sam_attempt TEXT,
    sam_confidence REAL,
    sam_reasoning TEXT,
    claude_response TEXT NOT NULL,
    reasoning_type TEXT NOT NULL,
    reasoning_steps TEXT,
    tool_usage TEXT,
    corrections TEXT,
    principles TEXT,
    domain TEXT NOT NULL,
    subdomain TEXT,
    task_type TEXT,
    complexity INTEGER,
    quality_score REAL,
    quality_flags TEXT,
    human_reviewed INTEGER DEFAULT 0,
    reviewer_notes TEXT,
    training_ready INTEGER DEFAULT 0,
    training_format TEXT,
    export_count INTEGER DEFAULT 0,
    last_exported_at REAL
);

-- The normalised set.
create table examples (
    id TEXT PRIMARY KEY,
    query TEXT,
    sam_attempt TEXT,
    claude_response TEXT,
    reasoning_type TEXT,
    domain TEXT,
    complexity INTEGER,
    quality_score REAL,
    human_reviewed INTEGER DEFAULT 0,
    approved INTEGER DEFAULT 0,
    reviewer_notes TEXT,
    reasoning_pattern_id TEXT,
    created_at REAL,
    reviewed_at REAL,
    exported_at REAL
);

create table reasoning_patterns (
    id TEXT PRIMARY KEY,
    example_id TEXT,
    reasoning_type TEXT,
    reasoning_steps TEXT,
    tool_usage TEXT,
    complexity INTEGER,
    confidence REAL,
    created_at REAL
);

create table corrections (
    id TEXT PRIMARY KEY,
    example_id TEXT,
    error_type TEXT,
    what_sam_said TEXT,
    what_was_wrong TEXT,
    correct_answer TEXT,
    improvements TEXT,
    lesson_learned TEXT,
    created_at REAL
);

create table review_queue (
    id TEXT PRIMARY KEY,
    example_id TEXT,
    priority INTEGER,
    reason TEXT,
    status TEXT,
    assigned_to TEXT,
    created_at REAL,
    updated_at REAL
);

-- The legacy tables.
create table chain_of_thought (
    id TEXT PRIMARY KEY,
    prompt TEXT,
    reasoning_steps TEXT,
    final_answer TEXT,
    domain TEXT,
    complexity INTEGER,
    success INTEGER,
    created_at REAL
);

create table principles (
    id TEXT PRIMARY KEY,
    domain TEXT,
    principle TEXT,
    examples TEXT,
    importance REAL,
    source_count INTEGER,
    verified INTEGER,
    created_at REAL,
    updated_at REAL
);

create table preference_pairs (
    id TEXT PRIMARY KEY,
    prompt TEXT,
    good_response TEXT,
    bad_response TEXT,
    reason TEXT,
    domain TEXT,
    created_at REAL
);

create table skill_templates (
    id TEXT PRIMARY KEY,
    name TEXT,
    description TEXT,
    pattern TEXT,
    examples TEXT,
    domains TEXT,
    created_at REAL
);

create table raw_interactions (
    id TEXT PRIMARY KEY,
    prompt TEXT,
    response TEXT,
    domain TEXT,
    quality_score REAL,
    processed INTEGER DEFAULT 0,
    created_at REAL
);

-- after the rows
create index idx_domain on distillation_examples(domain);
create index idx_quality on distillation_examples(quality_score);
create index idx_training_ready on distillation_examples(training_ready);
create index idx_created on distillation_examples(created_at);
create index idx_human_reviewed on distillation_examples(human_reviewed);
