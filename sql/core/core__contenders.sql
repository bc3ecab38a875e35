-- One candidate that nothing speaks against but what a release looks at: masked texts, weights, sets to keep apart from (T1, T3, T8).
-- grain: id
-- inputs: core__feedback_candidates, core__distillation_candidates, core__candidate_rivals, core__pair_votes, core__feedback_traits, core__distilled_traits, core__prompts
-- params: min_weight, low_tier, synthetic_pairs

with proposed as (
    select
        id, format, source, origin_id, partner_id, event_date, partner_event_date, occurred_at, quality_weight, base_weight,
        tier, domain, error_type, label, false as is_distilled, prompt_key, thread_key, side_a, side_b
    from core__feedback_candidates
    where early_reason is null and late_reason is null

    union all

    select
        id, format, source, origin_id, partner_id, event_date, partner_event_date, occurred_at, quality_weight, base_weight,
        tier, domain, error_type, label, true as is_distilled, prompt_key, thread_key, side_a, side_b
    from core__distillation_candidates
    where early_reason is null and late_reason is null
),

traits as (
    select
        origin_id, false as is_distilled, session_id, user_id, record_split, has_items, masked_prompt_key, masked_thread_key,
        masked_answer_hash, masked_better_hash, masked_record_hash, language, is_refusal, asked_has_tokens,
        answer_has_tokens, better_has_tokens, note_has_tokens, asked_item, answer_item, better_item, note_item,
        asked_length, answer_length, better_length, note_length
    from core__feedback_traits

    union all

    select
        origin_id, true as is_distilled, session_id, user_id, record_split, has_items, masked_prompt_key, masked_thread_key,
        masked_answer_hash, masked_better_hash, masked_record_hash, language, is_refusal, asked_has_tokens,
        answer_has_tokens, better_has_tokens, note_has_tokens, asked_item, answer_item, better_item, note_item,
        asked_length, answer_length, better_length, note_length
    from core__distilled_traits
),

-- which texts of its row a record is made of: the answer that was given, the better one, the note on what was wrong
formed as (
    select
        proposed.*,
        format in ('instruction', 'unpaired', 'preference', 'correction') and not (is_distilled and format = 'instruction')
            as has_answer_role,
        is_distilled or format = 'correction' or source in ('feedback_preference', 'feedback_correction_pair')
            as has_better_role,
        format = 'correction' as has_note_role
    from proposed
    anti join core__candidate_rivals on proposed.id = core__candidate_rivals.id
),

-- the better answer of a pair of ratings is another row's
told as (
    select
        formed.*,
        traits.session_id,
        traits.user_id,
        traits.record_split,
        coalesce(traits.masked_prompt_key, formed.prompt_key) as masked_prompt_key,
        coalesce(traits.masked_thread_key, formed.thread_key) as masked_thread_key,
        case
            when formed.partner_id is not null then coalesce(partners.masked_answer_hash, formed.side_a)
            when formed.format = 'correction' and not formed.is_distilled then coalesce(traits.masked_record_hash, formed.side_a)
            when formed.has_better_role then coalesce(traits.masked_better_hash, formed.side_a)
            else coalesce(traits.masked_answer_hash, formed.side_a)
        end as masked_side_a,
        if(
            formed.format = 'preference' or (formed.format = 'correction' and formed.is_distilled),
            coalesce(traits.masked_answer_hash, formed.side_b),
            formed.side_b
        ) as masked_side_b,
        if(formed.partner_id is null, traits.language, partners.language) as language,
        if(formed.partner_id is null, traits.is_refusal, partners.is_refusal) as is_refusal,
        traits.has_items or coalesce(partners.has_items, false) as has_items,
        traits.asked_has_tokens
            or (has_answer_role and traits.answer_has_tokens)
            or (has_better_role and traits.better_has_tokens)
            or (has_note_role and traits.note_has_tokens)
            or coalesce(partners.answer_has_tokens, false) as has_tokens,
        coalesce(
            traits.asked_item,
            if(has_better_role, traits.better_item, partners.answer_item),
            if(has_answer_role, traits.answer_item, null),
            if(has_note_role, traits.note_item, null)
        ) as item,
        traits.asked_length
            + if(has_answer_role, traits.answer_length, 0)
            + if(has_better_role, traits.better_length, 0)
            + if(has_note_role, traits.note_length, 0)
            + coalesce(partners.answer_length, 0) as char_count
    from formed
    join traits on formed.origin_id = traits.origin_id and formed.is_distilled = traits.is_distilled
    left join core__feedback_traits as partners on formed.partner_id = partners.origin_id
),

placed as (
    select
        told.*,
        core__prompts.component,
        coalesce(told.record_split, core__prompts.split) as whole_split
    from told
    join core__prompts on told.masked_prompt_key = core__prompts.prompt_key
),

-- F5: where the training split would have a low tier, validation and test take every one
judged as (
    select
        *,
        if(
            whole_split = 'train' and is_low(quality_weight) and $low_tier = 'augmentation', 'augmentation', whole_split
        ) as record_split_at_last,
        case
            when has_tokens then 'control_tokens'
            when quality_weight < $min_weight then 'low_weight'
            when whole_split = 'train' and is_low(quality_weight) and $low_tier = 'exclude' then 'low_weight'
            when item is not null then 'contaminated'
            when source = 'synthetic_pair' and not $synthetic_pairs then 'recipe'
        end as reason
    from placed
)

select
    judged.id,
    format,
    source,
    origin_id,
    partner_id,
    event_date,
    partner_event_date,
    occurred_at,
    quality_weight,
    base_weight,
    tier,
    domain,
    error_type,
    label,
    is_distilled,
    masked_prompt_key as prompt_key,
    component,
    record_split_at_last as split,
    masked_thread_key as thread_key,
    masked_side_a as side_a,
    masked_side_b as side_b,
    core__pair_votes.votes_for,
    core__pair_votes.votes_against,
    language,
    is_refusal,
    has_items,
    char_count,
    session_id,
    user_id,
    reason,
    case reason when 'contaminated' then item when 'recipe' then 'synthetic_pairs' end as detail
from judged
-- votes are about explicit pairs alone (F13); a join on equality, by the keys of the source's texts
left join core__pair_votes
    on if(judged.source in ('feedback_preference', 'feedback_correction_pair'), judged.thread_key, null)
        = core__pair_votes.thread_key
    and judged.side_a = core__pair_votes.side_a
    and judged.side_b = core__pair_votes.side_b
order by judged.id
