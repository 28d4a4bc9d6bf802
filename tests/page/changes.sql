-- SPDX-License-Identifier: Apache-2.0
-- Changes rows of every table once a second, for ever: a different number in each, in waves of some minutes.
do $$
declare
    name text;
    number int;
    second int := 0;
begin
    loop
        for name, number in select relname, row_number() over (order by oid) from pg_class
            where relnamespace = 'public'::regnamespace and relkind = 'r' loop
            execute format('update %I set title = md5(random()::text) where id in
                (select (random() * 1000)::int from generate_series(1, %s))', name,
                round(60.0 / (1 + number % 7) * (1.05 + sin(second / 60.0 + number)) * random()));
        end loop;
        commit;
        perform pg_sleep(1);
        second := second + 1;
    end loop;
end
$$
