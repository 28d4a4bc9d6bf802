/* SPDX-License-Identifier: Apache-2.0 */
/* What a page of the change log must find as it was, before anything of it is believed. */
#include <string.h>

#include "changelog_private.h"
#include "pg_private.h"

/* The columns that decide what a document is. */
void changelog_name_watched(struct changelog *c)
{
    buf_reset(&c->watched);
    buf_push_literal(&c->watched, "{");
    for (size_t i = 0; i < c->table->key_count; i++) {
        buf_push_text(&c->watched, i > 0 ? "," : "");
        pg_push_array_item(&c->watched, c->table->key[i]);
    }
    for (size_t i = 0; i < c->column_count; i++) {
        buf_push_literal(&c->watched, ",");
        pg_push_array_item(&c->watched, c->columns[i]);
    }
    buf_push_literal(&c->watched, "}");
}

/* A condition may look at any column. */
static struct page_request request_of(const struct changelog *c, const struct position *at)
{
    const char *watched = c->where == NULL ? buf_text(&c->watched) : NULL;
    return (struct page_request){c->table, c->installed.capture, watched, at};
}

/* What must be as it was, or reading on would be wrong. */
static int check_look(const struct changelog *c, const struct page_look *l, struct err *err)
{
    if (l->in_recovery) {
        err_set(err, ERR_REJECTED,
                "the source is a standby, which the change log does not cover yet");
        return err_hint(err, "connect to the primary");
    }
    if (!l->same_table) {
        return err_set(err, ERR_STATE, "table %s was created anew or renamed", c->table->quoted);
    }
    const char *was = c->consumer.definition;
    struct drift drift = {was != NULL ? was : c->table->definition, l->definition,
                          (const char *const *)c->columns, c->column_count};
    int rc = catalog_drift(c->table, &drift, err);
    if (rc < 0) {
        return rc;
    }
    if (c->consumer.triggers != NULL && strcmp(l->triggers, c->consumer.triggers) != 0) {
        err_set(err, ERR_STATE, "the triggers of %s were changed: changes may have been missed",
                c->table->quoted);
        return err_hint(err, "run \"rowferry source install\", then remove the pipeline's state "
                             "file to build the index anew");
    }
    return 0;
}

int changelog_look_now(struct changelog *c, struct page_look *look, struct err *err)
{
    struct page_request request = request_of(c, NULL);
    int rc = page_look_now(look, c->pg, &request, err);
    return rc == 0 ? check_look(c, look, err) : rc;
}

void changelog_clear_page(struct changelog *c)
{
    page_look_release(&c->page.look);
    c->page.window =
        (struct page_window){.keys = &c->keys, .befores = &c->befores, .limit = c->page_rows};
    keyset_reset(&c->keys);
    c->befores.count = 0;
    c->chunk = (struct chunk){0};
    c->page_rows_read = 0;
    c->gone = c->gone_end = 0;
    c->marks = false;
    c->drained = false;
}

int changelog_read_page(struct changelog *c, struct err *err)
{
    struct page_request request = request_of(c, c->kind == PAGE_LOG ? &c->at : NULL);
    int rc = page_open(&c->page, c->pg, &request, err);
    return rc == 0 ? check_look(c, &c->page.look, err) : rc;
}

/* A copy by blocks begins again by itself where the rows are stored elsewhere; what was read in
 * another way may be old now. */
static int check_news(const struct changelog *c, enum consumer_news news, struct err *err)
{
    if (news != CONSUMER_REWRITTEN || c->kind == PAGE_BLOCKS) {
        return 0;
    }
    err_set(err, ERR_STATE,
            "table %s was rewritten by ALTER TABLE: its rows may have changed without an entry in "
            "the change log",
            c->table->quoted);
    return err_hint(err, "remove the pipeline's state file to build the index anew");
}

/* What is new but harmless is noted at once: with the next such thing it would look like a rewrite.
 */
int changelog_open_page(struct changelog *c, struct err *err)
{
    int rc = changelog_read_page(c, err);
    enum consumer_news news = rc == 0 ? consumer_news(&c->consumer, &c->page.look) : CONSUMER_SAME;
    if (rc < 0 || news == CONSUMER_SAME) {
        return rc;
    }
    rc = check_news(c, news, err);
    if (rc == 0) {
        rc = pg_script(c->pg, "commit", err);
    }
    if (rc == 0) {
        rc = consumer_note(&c->consumer, &c->page.look, err);
    }
    if (rc == 0) {
        changelog_clear_page(c);
        rc = changelog_read_page(c, err);
    }
    return rc == 0 ? check_news(c, consumer_news(&c->consumer, &c->page.look), err) : rc;
}
