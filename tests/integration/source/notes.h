/* SPDX-License-Identifier: Apache-2.0 */
/* A small table of notes, and a walk through its changes. */
#pragma once

#include "walk.h"

static const char *const note_columns[] = {"body"};

#define NOTES "create table note (id bigint primary key, body text)"
#define NOTES_QUERY "select id::text, coalesce(body, '~') from note"

static inline struct walk notes(void)
{
    return (struct walk){.table = "public.note", .columns = note_columns, .column_count = 1};
}

/* Starts a walk that has finished the initial load and waits for changes. */
static inline struct walk following(size_t page_rows)
{
    struct walk w = notes();
    w.page_rows = page_rows;
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'old ' || i from generate_series(1, 20) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    return w;
}
