-- Created after the rows: an index is faster to build at once, and the trigger's work is done by hand (see feedback.py).
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
