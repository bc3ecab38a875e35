-- Formulas of more than one query. A query calls them by name; before an engine sees it, the call is replaced by the formula
-- (dagster_project/engines/sql_functions.py), so no engine needs to know them, and the query is another one if a formula is.
-- Written as DuckDB has them: `.read sql/functions.sql` in its shell, and the queries can be tried there.

-- F5: what a record of this weight is called. These are the only rungs.
create macro tier(weight) as
case
    when weight >= 0.9 then 'premium'
    when weight >= 0.7 then 'high'
    when weight >= 0.5 then 'standard'
    when weight >= 0.3 then 'low'
    else 'very_low'
end;

-- F5: the tiers that `low_tier` is about.
create macro is_low(weight) as tier(weight) in ('low', 'very_low');

-- G2: six decimals, half away from zero, of a double that is no fraction of whole numbers. Its twelve decimals are the number it
-- stands for; a half is a half there.
create macro six_decimals(x) as round(round(x * 1e12) / 1e6) / 1e6;

-- F4: what of a weight is left at as_of, and the weight: of its type, what is left, and its bonuses together.
create macro temporal_factor(occurred_at, as_of) as
0.5 + 0.5 * pow(0.5, greatest(0, epoch_us(as_of) - epoch_us(occurred_at)) / 3600000000.0 / 720.0);

create macro weight_left(type_weight, factor, bonuses) as
six_decimals(greatest(0.0, least(1.0, (0.5 + type_weight) * factor + bonuses)));

-- G2: n of d, or a mean of whole numbers, to six decimals in whole numbers; neither is negative.
create macro share(n, d) as ((2000000 * n + d) // nullif(2 * d, 0)) / 1e6;

-- The same where n is in millionths already: a mean of fractions, added up as `millionths`.
create macro share_of_millionths(n, d) as ((2 * n + d) // nullif(2 * d, 0)) / 1e6;

create macro millionths(x) as round(x * 1e6)::bigint;

-- The same to two decimals, half up.
create macro two_decimals(n, d) as ((200 * n + d) // nullif(2 * d, 0)) / 100.0::double;

-- Shares whose n or d is decimal(38, 0), which `//` would make doubles of. What is left without its remainder divides evenly,
-- so the nearest whole number is the exact one as long as it has 15 digits or fewer.
create macro wide_share_of_millionths(n, d) as
round((2 * n + d - (2 * n + d) % nullif(2 * d, 0)) / nullif(2 * d, 0)) / 1e6;

create macro wide_share(n, d) as wide_share_of_millionths(1000000 * n, d);

-- S7: how many there would be of what was counted in a sample. The rate is a whole number, so that the count is rounded as it is.
create macro estimate(n, rate) as
wide_share(1000000000000 * n::decimal(38, 0), round(rate * 1e12)::decimal(38, 0));

-- The quantile of the normal distribution behind every 95 % interval.
create macro z() as 1.959963984540054;

-- N: a correction, a preference and a flag are negative; a rating is what it says.
create macro feedback_polarity(sentiment) as coalesce(sentiment, 'negative');

-- Wilson's interval of a share p of m.
create macro wilson_low(p, m) as
(p + z() * z() / nullif(2 * m, 0) - z() * sqrt(p * (1 - p) / nullif(m, 0) + z() * z() / nullif(4 * m * m, 0)))
/ nullif(1 + z() * z() / nullif(m, 0), 0);

create macro wilson_high(p, m) as
(p + z() * z() / nullif(2 * m, 0) + z() * sqrt(p * (1 - p) / nullif(m, 0) + z() * z() / nullif(4 * m * m, 0)))
/ nullif(1 + z() * z() / nullif(m, 0), 0);

-- The ends of the 95 % interval of share(n, d), to six decimals; null where there is no share.
create macro share_low(n, d) as
if(d > 0, greatest(six_decimals(wilson_low(n / nullif(d, 0), d)), 0.0::double), null);

create macro share_high(n, d) as
if(d > 0, least(six_decimals(wilson_high(n / nullif(d, 0), d)), 1.0::double), null);

-- Newcombe's interval of the difference of two shares, p1 of m1 and p2 of m2 (S5, F12).
create macro difference_low(p1, m1, p2, m2) as
p1 - p2 - sqrt(pow(p1 - wilson_low(p1, m1), 2) + pow(wilson_high(p2, m2) - p2, 2));

create macro difference_high(p1, m1, p2, m2) as
p1 - p2 + sqrt(pow(wilson_high(p1, m1) - p1, 2) + pow(p2 - wilson_low(p2, m2), 2));
