/* SPDX-License-Identifier: Apache-2.0 */
/* Articles with their author and comments in three tables, and a walk through their changes. */
#pragma once

#include "walk.h"

/* The options have the type of the configuration's, which are not const. */
#define TEXT(text) ((char[]){text})

static char *author_key[] = {TEXT("id")};
static char *comment_key[] = {TEXT("article_id")};

static const struct dependency dependencies[] = {
    {TEXT("public.author"), author_key, 1,
     TEXT("select id from public.article where author_id = any($1)")},
    {TEXT("public.comment"), comment_key, 1, TEXT("select unnest($1)")},
};

static const char *const article_columns[] = {"title", "author", "comments"};

#define SHOP                                                                                       \
    "create table author (id int primary key, name text);"                                         \
    "create table article (id bigint primary key, title text, author_id int references author);"   \
    "create table comment (id int primary key, article_id bigint, body text);"                     \
    "create index on article (author_id); create index on comment (article_id);"                   \
    "insert into author select i, 'author ' || i from generate_series(1, 5) i;"                    \
    "insert into article select i, 'article ' || i, 1 + i % 5 from generate_series(1, 50) i;"      \
    "insert into comment select i, 1 + i % 40, 'comment ' || i from generate_series(1, 100) i"

#define COMMENTS                                                                                   \
    "(select jsonb_agg(c.body order by c.id) from public.comment c where c.article_id = a.id)"

#define ARTICLES                                                                                   \
    "select a.id, a.title, u.name as author, " COMMENTS " as comments "                            \
    "from public.article a join public.author u on u.id = a.author_id -- as people see them"

#define EXPECTED                                                                                   \
    "select a.id::text, concat_ws('|', coalesce(a.title, '~'), coalesce(u.name, '~'), "            \
    "coalesce(" COMMENTS "::text, '~')) from article a join author u on u.id = a.author_id"

static inline struct walk articles(size_t page_rows)
{
    return (struct walk){.table = "public.article",
                         .columns = article_columns,
                         .column_count = 3,
                         .query = ARTICLES,
                         .dependencies = dependencies,
                         .dependency_count = 2,
                         .page_rows = page_rows};
}

/* Starts a walk that has finished the initial load and waits for changes. */
static inline struct walk following_articles(size_t page_rows)
{
    struct walk w = articles(page_rows);
    walk_new(&w, SHOP);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    return w;
}
