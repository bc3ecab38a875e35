-- Duplicates that do not name a candidate which leaves, and ids that occur twice (G3, T2).
-- grain: id
-- inputs: core__training_candidates
-- params: none

with leaving as (
    select id
    from core__training_candidates
    where reason is null
),

orphaned as (
    select id
    from core__training_candidates
    anti join leaving on core__training_candidates.duplicate_of = leaving.id
    where reason = 'duplicate'
),

repeated as (
    select id
    from core__training_candidates
    group by id
    having count(*) > 1
)

select id from orphaned
union
select id from repeated
order by id
