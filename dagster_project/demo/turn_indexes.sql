create index idx_session on turns(session_id);
create index idx_timestamp on turns(timestamp);
create index idx_feedback_status on turns(user_feedback_status);
