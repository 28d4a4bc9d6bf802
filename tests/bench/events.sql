-- SPDX-License-Identifier: Apache-2.0
-- The benchmark's table: 13 columns, about 576 bytes as JSON; :rows rows, identical each time.
create table events (
    id         bigint primary key,
    uuid       uuid not null,
    kind       text not null,
    user_id    integer not null,
    amount     numeric(12, 2) not null,
    score      double precision not null,
    active     boolean not null,
    created_at timestamptz not null,
    day        date not null,
    title      text not null,
    body       text,
    tags       text[] not null,
    payload    jsonb not null
);

insert into events
select i,
       md5(i::text)::uuid,
       (array['view', 'click', 'order', 'refund', 'signup'])[1 + i % 5],
       (i::bigint * 7919) % 100000,
       ((i::bigint * 104729) % 10000000) / 100.0,
       sqrt(i) * 1.0000001,
       i % 3 = 0,
       timestamptz '2024-01-01 00:00:00+00' + i * interval '1.000357 second',
       date '2024-01-01' + (i % 730)::integer,
       'Event ' || i || ' of "' || (array['ferry', 'harbour', 'island', 'night crossing'])[1 + i % 4] || '"',
       case when i % 50 > 0
            then repeat(substr('the quick ferry carries words — grüße — away over calm and rough water, day by day; ', 1 + i % 7), 1 + i % 3)
       end,
       array['tag' || i % 10, 'tag' || i % 100, 'group ' || i % 7],
       jsonb_build_object('source', 'web', 'path', '/crossings/' || i % 1000 || '/seats',
                          'ip', '10.0.' || i % 256 || '.' || i % 199,
                          'flags', jsonb_build_array(i % 2, i % 5), 'depth', i % 11)
  from generate_series(1, :rows) as i;

vacuum (analyze, freeze) events;
