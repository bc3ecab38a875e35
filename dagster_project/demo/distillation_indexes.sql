-- The indexes of seed 2, made when the table is full.
create index idx_domain on distillation_examples(domain);
create index idx_quality on distillation_examples(quality_score);
create index idx_training_ready on distillation_examples(training_ready);
create index idx_created on distillation_examples(created_at);
create index idx_human_reviewed on distillation_examples(human_reviewed);
