/* SPDX-License-Identifier: Apache-2.0 */
/* A partitioned table of events, followed. */
#pragma once

#include "walk.h"

static const char *const columns[] = {"region", "body"};
static const char *const key[] = {"id"};

#define EVENTS                                                                                     \
    "create table event (id bigint not null, region text not null, body text) "                    \
    "partition by list (region);"                                                                  \
    "create index on event (id);"                                                                  \
    "create table event_a partition of event for values in ('a');"                                 \
    "create table event_b partition of event for values in ('b');"                                 \
    "create table event_cd partition of event for values in ('c', 'd') partition by list "         \
    "(region);"                                                                                    \
    "create table event_c partition of event_cd for values in ('c');"                              \
    "create table event_d partition of event_cd for values in ('d');"                              \
    "insert into event select i, chr(97 + i % 4), 'old ' || i from generate_series(1, 40) i"
#define EVENTS_QUERY "select id::text as key, region || '|' || body as content from event"

static inline struct walk events(void)
{
    return (struct walk){
        .table = "event", .key = key, .key_count = 1, .columns = columns, .column_count = 2};
}

/* Starts a walk that has finished the initial load and waits for changes. */
static inline struct walk following(const char *ddl)
{
    struct walk w = events();
    w.page_rows = 7;
    walk_new(&w, ddl);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    return w;
}

static inline void must_follow(struct walk *w, const char *sql, size_t changes)
{
    sql_exec(w->db, "%s", sql);
    ck_assert_msg(walk_drain(w) == changes, "%s", sql);
    ck_assert_msg(walk_differences(w, EVENTS_QUERY) == 0, "%s", sql);
}

/* Expects a page that only reports that a member left, then continues without the member. */
static inline void must_leave(struct walk *w)
{
    walk_page(w);
    ck_assert(w->judged && w->left);
    ck_assert_uint_eq(w->rows + w->gone, 0);
    walk_page(w);
    ck_assert(!w->judged);
}
