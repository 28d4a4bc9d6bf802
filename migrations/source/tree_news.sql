-- $1 the capture: returns true if a member of the tree has no triggers, or is unknown to a consumer
-- returns one: bool
select exists (
    select from unnest(string_to_array(rowferry.members($1::integer), e'\n')) as m(line)
     where split_part(m.line, ' ', 2) = '-'
        or exists (select from rowferry.consumer k
                    where k.capture = $1::integer
                      and e'\n' || k.triggers not like
                          '%' || e'\n' || split_part(m.line, ' ', 1) || ' %'))
