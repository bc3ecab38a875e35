create index idx_turn_number on turn_index(turn_number);
create index idx_feedback_status on turn_index(user_feedback_status);
