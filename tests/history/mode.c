/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of histories, and how the program reads them. */
#include <string.h>

#include "history.h"

#define COLUMNS                                                                                    \
    "id bigint not null, region int not null default 1, owner int, editor int, body text, "        \
    "gone boolean not null default false"
#define PARENTS                                                                                    \
    "create table owner (id int primary key, name text);"                                          \
    "create table editor (id int primary key, name text);"
#define REFERENCES(on_delete)                                                                      \
    "foreign key (owner) references owner on delete " on_delete " on update cascade, "             \
    "foreign key (editor) references editor on delete set null"

#define PARENT_ROWS                                                                                \
    "insert into owner select i, 'owner ' || i from generate_series(1, 8) i;"                      \
    "insert into editor select i, 'editor ' || i from generate_series(1, 8) i;"
#define ROWS                                                                                       \
    "insert into note select i, 1 + i % 5, 1 + i % 8, 1 + i % 7, repeat('old ', 1 + (i % "         \
    "90)::int)"                                                                                    \
    " from generate_series(1, 60) i;"

#define PROPERTIES                                                                                 \
    "\"id\": {\"type\": \"long\"}, \"region\": {\"type\": \"integer\"}, "                          \
    "\"owner\": {\"type\": \"integer\"}, \"editor\": {\"type\": \"integer\"}, "                    \
    "\"body\": {\"type\": \"text\"}"
#define WANTED                                                                                     \
    "select id::text, jsonb_build_object('source_id', id::text, 'id', id, 'region', region, "      \
    "'owner', owner, 'editor', editor, 'body', body) from note"

/* A trigger sets the followed column, also for writes of a replica. */
#define FOLLOWED(on_delete)                                                                        \
    PARENTS                                                                                        \
    "create table note (" COLUMNS ", at timestamptz not null, primary key (id), " REFERENCES(      \
        on_delete) "); create index on note (at, id);"                                             \
                   "create function touch() returns trigger language plpgsql as $$ begin "         \
                   "new.at := now(); "                                                             \
                   "return new; end $$; create trigger touch before insert or update on note "     \
                   "for each row "                                                                 \
                   "execute function touch(); alter table note enable always trigger touch"

#define BY_ID "\"key\": [\"id\"]"

#define CURSOR(more)                                                                               \
    BY_ID ", \"where\": \"not gone\", \"capture\": {\"mode\": \"cursor\", \"column\": \"at\"" more \
          "}"
#define SHORT ", \"overlap\": \"50ms\""
#define RECONCILE ", \"deletes\": {\"reconcile\": \"1s\"}"

#define PLAIN                                                                                      \
    .ddl = PARENTS "create table note (" COLUMNS ", primary key (id), " REFERENCES("cascade") ")", \
    .fill = PARENT_ROWS ROWS, .from = BY_ID, .properties = PROPERTIES, .wanted = WANTED,           \
    .allows = NEED_DELETES | NEED_ONE_KEY | NEED_PARENTS | NEED_TRUNCATE | NEED_SUBSCRIBER

static const struct mode modes[] = {
    {.name = "plain", PLAIN, .published = true},
    {.name = "standby", PLAIN, .standby = true},
    {
        .name = "where",
        .ddl =
            PARENTS "create table note (" COLUMNS ", primary key (id), " REFERENCES("cascade") ")",
        .fill = PARENT_ROWS ROWS,
        .from = BY_ID ", \"where\": \"not gone and region < 4\"",
        .properties = PROPERTIES,
        .wanted = WANTED " where not gone and region < 4",
        .allows = NEED_DELETES | NEED_ONE_KEY | NEED_PARENTS | NEED_TRUNCATE | NEED_SUBSCRIBER,
    },
    {
        .name = "partitions",
        .ddl = PARENTS "create table note (" COLUMNS ", primary key (id, region), " REFERENCES(
            "cascade") ") "
                       "partition by list (region);"
                       "create table note_1 partition of note for values in (1);"
                       "create table note_2 partition of note for values in (2) partition by hash "
                       "(id);"
                       "create table note_2_even partition of note_2 for values with (modulus 2, "
                       "remainder 0);"
                       "create table note_2_odd partition of note_2 for values with (modulus 2, "
                       "remainder 1);"
                       "create table note_3 partition of note for values in (3);"
                       "create table note_rest partition of note default",
        .fill = PARENT_ROWS ROWS,
        .from = "\"key\": [\"id\", \"region\"]",
        .properties = PROPERTIES,
        .wanted =
            "select id || ':' || region, jsonb_build_object('source_id', id || ':' || region, "
            "'id', id, 'region', region, 'owner', owner, 'editor', editor, 'body', body) from note",
        .allows = NEED_DELETES | NEED_PARENTS | NEED_TRUNCATE | NEED_SUBSCRIBER | NEED_PARTITIONS,
    },
    {
        .name = "children",
        .ddl = PARENTS "create table note (" COLUMNS ", primary key (id), " REFERENCES(
            "cascade") ");"
                       "create table note_1 (primary key (id), " REFERENCES(
                           "cascade") ") inherits (note);"
                                      "create table note_2 (primary key (id), " REFERENCES(
                                          "cascade") ") inherits (note)",
        .fill = PARENT_ROWS ROWS "insert into note_1 (id, body) select i, 'child' from "
                                 "generate_series(61, 70) i",
        .from = BY_ID,
        .properties = PROPERTIES,
        .wanted = WANTED,
        .allows = NEED_DELETES | NEED_PARENTS | NEED_TRUNCATE | NEED_SUBSCRIBER | NEED_CHILDREN,
    },
    {
        .name = "query",
        .ddl = PARENTS "create table note (" COLUMNS ", primary key (id), " REFERENCES(
            "cascade") ");"
                       "create table comment (id bigint primary key, note bigint references note "
                       "on delete cascade on update cascade, body text)",
        .fill = PARENT_ROWS ROWS "insert into comment select i, 1 + i % 50, 'comment ' || i from "
                                 "generate_series(1, 120) i",
        .from = BY_ID
        ", \"query\": \"select n.id, n.body, o.name as author, "
        "(select string_agg(c.id || '=' || c.body, ',' order by c.id) from public.comment c "
        "where c.note = n.id) as talk from public.note n "
        "left join public.owner o on o.id = n.owner\", \"depends_on\": ["
        "{\"table\": \"public.owner\", \"key\": [\"id\"], "
        "\"keys\": \"select id from public.note where owner = any($1)\"}, "
        "{\"table\": \"public.comment\", \"key\": [\"note\"], \"keys\": \"select unnest($1)\"}]",
        .properties = "\"id\": {\"type\": \"long\"}, \"body\": {\"type\": \"text\"}, "
                      "\"author\": {\"type\": \"keyword\"}, \"talk\": {\"type\": \"text\"}",
        .wanted = "select n.id::text, jsonb_build_object('source_id', n.id::text, 'id', n.id, "
                  "'body', n.body, 'author', o.name, 'talk', c.talk) from note n "
                  "left join owner o on o.id = n.owner left join lateral "
                  "(select string_agg(id || '=' || body, ',' order by id) as talk from comment "
                  "where note = n.id) c on true",
        .allows = NEED_DELETES | NEED_ONE_KEY | NEED_PARENTS | NEED_TRUNCATE | NEED_SUBSCRIBER |
                  NEED_COMMENTS,
    },
    {
        .name = "cursor",
        .ddl = FOLLOWED("set null"),
        .fill = PARENT_ROWS ROWS,
        .from = CURSOR(SHORT),
        .from_beside = CURSOR(""),
        .properties = PROPERTIES,
        .wanted = WANTED " where not gone",
        .allows = NEED_ONE_KEY | NEED_PARENTS | NEED_SUBSCRIBER,
        .cursor = true,
    },
    {
        .name = "reconcile",
        .ddl = FOLLOWED("cascade"),
        .fill = PARENT_ROWS ROWS,
        .from = CURSOR(SHORT RECONCILE),
        .from_beside = CURSOR(RECONCILE),
        .properties = PROPERTIES,
        .wanted = WANTED " where not gone",
        .allows = NEED_DELETES | NEED_ONE_KEY | NEED_PARENTS | NEED_SUBSCRIBER,
        .cursor = true,
        .reconciles = true,
    },
    {
        .name = "subscription",
        .ddl = "create table note (" COLUMNS ", primary key (id)); "
               "create table tick (id int primary key, n bigint)",
        .publisher_ddl = PARENTS "create table note (" COLUMNS ", primary key (id), " REFERENCES(
            "cascade") ");"
                       "create table tick (id int primary key, n bigint)",
        .fill = PARENT_ROWS ROWS,
        .from = BY_ID,
        .properties = PROPERTIES,
        .wanted = WANTED,
        .allows = NEED_DELETES | NEED_ONE_KEY | NEED_PARENTS | NEED_TRUNCATE | NEED_SUBSCRIBER,
    },
};

const struct mode *mode_find(const char *name)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(modes[i].name, name) == 0) {
            return &modes[i];
        }
    }
    return NULL;
}
