-- What does a column mean, in which unit is it, and where is it?
select "schema", "table", "column", type, unit, comment
from data_dictionary
where "column" = 'quality_score'
order by "schema", "table"
