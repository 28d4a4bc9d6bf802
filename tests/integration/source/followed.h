/* SPDX-License-Identifier: Apache-2.0 */
/* A table of notes with the cursor column "at". */
#pragma once

#include "walk.h"

static const char *const followed_columns[] = {"body"};

#define NOTES                                                                                      \
    "create table note (id bigint primary key, body text, gone boolean not null default false, "   \
    "at timestamptz not null default now()); create index on note (at, id)"
#define NOTES_QUERY "select id::text as key, coalesce(body, '~') as content from note"
#define LIVE_QUERY "select id::text as key, coalesce(body, '~') as content from note where not gone"

static inline struct walk of_notes(void)
{
    return (struct walk){.table = "public.note",
                         .columns = followed_columns,
                         .column_count = 1,
                         .cursor = "at",
                         .overlap_ms = 1};
}

/* Loads twenty old rows. */
static inline void begin(struct walk *w, const char *ddl)
{
    walk_new(w, ddl);
    sql_exec(w->db,
             "insert into note (id, body) select i, 'old ' || i from generate_series(1, 20) i");
    walk_start(w);
    walk_copy(w);
    walk_drain(w);
    ck_assert_int_eq(walk_differences(w, NOTES_QUERY), 0);
}

/* Reads until the mirror equals the query, at most for this time. */
static inline bool becomes_equal(struct walk *w, const char *query, int64_t within_ms)
{
    struct deadline deadline = deadline_after(within_ms);
    do {
        walk_drain(w);
        if (walk_differences(w, query) == 0) {
            return true;
        }
    } while (deadline_wait(&deadline));
    return false;
}

/* An overlap far longer than the tests, on any machine. */
#define LONG_MS 600000

/* Pretends that the overlap has passed. */
static inline void overlap_is_over(struct walk *w)
{
    w->overlap_ms = 1;
    walk_again(w);
}

/* Reads until the position is behind all rows. */
static inline void pass_all(struct walk *w)
{
    char *last = sql_text(
        w->db, "set timezone = 'UTC'; select 'cursor in ' || 'note'::regclass::oid || "
               "' \"' || at || '\" after ' || id from note order by note.at desc, id desc limit 1");
    struct deadline deadline = deadline_after(WAIT_MS);
    while (strcmp(w->position, last) != 0) {
        walk_drain(w);
        ck_assert_msg(deadline_wait(&deadline), "%s, not %s", w->position, last);
    }
    free(last);
}
