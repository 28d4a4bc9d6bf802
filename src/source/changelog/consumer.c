/* SPDX-License-Identifier: Apache-2.0 */
/* The consumer's row in the source. */
#include "changelog/consumer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/members.h"
#include "pg/pg_private.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"

#define POSITION_MAX_BYTES ((size_t)1 << 20)
#define VERSIONS_MAX_BYTES ((size_t)64 << 20)
#define AWAIT_MS 5000
#define AWAIT_PAUSE_MS 20
#define PRUNE_MOST 5000 /* entries of one transaction */

void consumer_release(struct consumer *c)
{
    position_release(&c->mirror);
    free(c->triggers);
    free(c->definition);
    free(c->versions);
    free(c->written);
    free(c->unpruned);
    *c = (struct consumer){0};
}

/* Runs a text of migrations/source in a transaction whose commit is always synchronous, because
 * later steps rely on the row. */
static int consumer_write(struct consumer *c, struct pg_result **r, const char *name,
                          const char *const *params, size_t count, struct err *err)
{
    struct err ignored;
    int rc = pg_script(c->pg,
                       "begin isolation level read committed read write;"
                       "set local synchronous_commit = on;" PG_GUARD_PATH ";" PG_GUARD_ROWS,
                       err);
    if (rc < 0) {
        return rc;
    }
    rc = pg_ask(c->pg, r, name, params, count, err);
    if (rc == 0) {
        return pg_script(c->pg, "commit", err);
    }
    return pg_script(c->pg, "rollback", &ignored) == 0 ? rc : ERR_TRANSIENT;
}

int consumer_connect(struct consumer *c, struct pg *source, struct err *err)
{
    int rc = pg_writer(source, &c->pg, err);
    c->standby = rc == 0 && c->pg != source ? source : NULL;
    return rc;
}

void consumer_forget(struct consumer *c)
{
    free(c->triggers);
    free(c->definition);
    c->triggers = NULL;
    c->definition = NULL;
}

static void consumer_take_text(char **at, const struct pg_result *r, size_t column)
{
    free(*at);
    *at = text_copy(pg_text(r, 0, column));
}

static void consumer_take_relied(struct consumer *c, const struct pg_result *r)
{
    consumer_take_text(&c->triggers, r, 1);
    consumer_take_text(&c->definition, r, 4);
    c->filenode = (uint32_t)strtoul(pg_text(r, 0, 5), NULL, 10);
    consumer_take_text(&c->versions, r, 6);
}

static int consumer_ask_row(const struct consumer *c, struct pg *pg, struct pg_result **r,
                            bool *found, struct err *err)
{
    const char *system = *pg->history.system != '\0' ? pg->history.system : NULL;
    int rc = pg_ask(pg, r, "consumer_look", PG_PARAMS(c->name, c->capture, system), err);
    *found = rc == 0 && pg_rows(*r) > 0 && pg_text(*r, 0, 0) != NULL;
    return rc;
}

static int consumer_behind(const struct consumer *c, struct err *err)
{
    return err_set(err, ERR_TRANSIENT,
                   "the standby has not replayed the primary's record of the consumer \"%s\" yet",
                   c->name);
}

/* Checks if the standby has the primary's current row. */
static int consumer_look_arrived(struct consumer *c, bool *same, struct err *err)
{
    struct pg_result *there = NULL;
    struct pg_result *here = NULL;
    bool known = false;
    bool arrived = false;
    int rc = consumer_ask_row(c, c->pg, &there, &known, err);
    if (rc == 0) {
        rc = consumer_ask_row(c, c->standby, &here, &arrived, err);
    }
    *same = known && arrived && strcmp(pg_text(there, 0, 12), pg_text(here, 0, 12)) == 0;
    pg_result_release(there);
    pg_result_release(here);
    return rc;
}

static int consumer_look_standby(struct consumer *c, struct err *err)
{
    struct pg_result *r = NULL;
    bool found;
    int rc = consumer_ask_row(c, c->standby, &r, &found, err);
    if (rc == 0 && !found) {
        rc = consumer_behind(c, err);
    } else if (rc == 0) {
        consumer_take_relied(c, r);
    }
    pg_result_release(r);
    return rc;
}

int consumer_look(struct consumer *c, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = consumer_ask_row(c, c->pg, &r, &c->known, err);
    if (rc == 0 && pg_rows(r) > 0) {
        c->server.life = (uint64_t)pg_int(r, 0, 2);
        c->horizon = strtoull(pg_text(r, 0, 3), NULL, 10);
        c->server.next = strtoull(pg_text(r, 0, 13), NULL, 10);
        c->server.timeline = (uint64_t)c->pg->history.timeline;
        c->server.database = (uint32_t)pg_int(r, 0, 15);
    }
    if (rc == 0 && c->known) {
        consumer_take_relied(c, r);
        consumer_take_text(&c->written, r, 12);
        c->expired = pg_true(r, 0, 11);
        c->since = strtoull(pg_text(r, 0, 14), NULL, 10);
        c->keeps = pg_true(r, 0, 7);
        c->more = pg_true(r, 0, 8);
        c->clock = pg_int(r, 0, 9);
        c->letters_sum = pg_int(r, 0, 10);
        rc = position_parse(&c->mirror, pg_text(r, 0, 0), err);
    }
    pg_result_release(r);
    return rc == 0 && c->known && c->standby != NULL ? consumer_look_standby(c, err) : rc;
}

/* The members' lines, behind the table's own; null: a version before this one noted none. */
static const char *consumer_stored_lines(const char *versions)
{
    const char *end = strchr(versions, '\n');
    return end != NULL ? end + 1 : NULL;
}

/* What is to be noted: what is there, and members that are gone and not yet dealt with. */
static char *consumer_versions_to_note(const struct consumer *c, const struct page_look *l)
{
    struct buf out;
    struct buf members;
    const char *was = consumer_stored_lines(c->versions);
    const char *is = consumer_stored_lines(l->versions);
    buf_init(&out, VERSIONS_MAX_BYTES);
    buf_init(&members, VERSIONS_MAX_BYTES);
    buf_push(&out, l->versions, strcspn(l->versions, "\n"));
    members_note_stored(&members, was != NULL ? was : "", is != NULL ? is : "",
                        c->triggers != NULL ? c->triggers : "");
    buf_push_literal(&out, "\n");
    buf_push(&out, members.data, members.len);
    buf_release(&members);
    return buf_detach(&out);
}

enum consumer_news consumer_news(const struct consumer *c, const struct page_look *l)
{
    const char *was = consumer_stored_lines(c->versions);
    const char *is = consumer_stored_lines(l->versions);
    size_t own = strcspn(l->versions, "\n");
    bool elsewhere = l->filenode != c->filenode;
    if (was != NULL && is != NULL) {
        if (members_rewritten(was, is)) {
            return CONSUMER_REWRITTEN;
        }
    } else if (elsewhere &&
               (strcspn(c->versions, "\n") != own || strncmp(c->versions, l->versions, own) != 0)) {
        return CONSUMER_REWRITTEN;
    }
    char *noted = consumer_versions_to_note(c, l);
    bool altered = strcmp(noted, c->versions) != 0;
    free(noted);
    return elsewhere || altered ? CONSUMER_MOVED : CONSUMER_SAME;
}

/* Returns true if an earlier try has written the row. */
static bool consumer_is_registered(struct consumer *c, const struct page_look *l)
{
    struct err ignored;
    return c->standby != NULL && consumer_look(c, &ignored) == 0 && c->known && !c->expired &&
           c->clock == 0 && strcmp(c->triggers, l->triggers) == 0 &&
           strcmp(c->definition, l->definition) == 0 && consumer_news(c, l) == CONSUMER_SAME;
}

/* Waits until the standby has the row that was written. */
static int consumer_await_row(struct consumer *c, struct err *err)
{
    int64_t end_ms = pg_now_ms() + AWAIT_MS;
    for (;;) {
        bool same = false;
        int rc = consumer_look_arrived(c, &same, err);
        if (rc < 0 || same) {
            return rc;
        }
        if (pg_now_ms() >= end_ms) {
            return consumer_behind(c, err);
        }
        clock_sleep(AWAIT_PAUSE_MS, NULL);
    }
}

int consumer_register(struct consumer *c, const struct page_look *l, struct err *err)
{
    if (consumer_is_registered(c, l)) {
        return 0;
    }
    int rc =
        consumer_write(c, NULL, "consumer_register",
                       PG_PARAMS(c->name, c->capture, l->triggers, l->definition,
                                 PG_INT(l->filenode), l->versions, PG_INT(c->pg->history.timeline)),
                       err);
    if (rc == 0 && c->standby != NULL) {
        rc = consumer_await_row(c, err);
    }
    if (rc == 0) {
        rc = consumer_look(c, err);
    }
    return rc < 0 ? err_context(err, "could not register the consumer \"%s\"", c->name) : 0;
}

int consumer_note(struct consumer *c, const struct page_look *l, struct err *err)
{
    char *versions = consumer_versions_to_note(c, l);
    int rc = consumer_write(c, NULL, "consumer_note",
                            PG_PARAMS(c->name, PG_INT(l->filenode), versions), err);
    if (rc < 0) {
        free(versions);
        return err_context(err, "could not record the state of the table for \"%s\"", c->name);
    }
    c->filenode = l->filenode;
    free(c->versions);
    c->versions = versions;
    return 0;
}

int consumer_extend(struct consumer *c, uint32_t table, const char *columns, const char *types,
                    struct err *err)
{
    int rc = consumer_write(c, NULL, "consumer_extend",
                            PG_PARAMS(c->name, PG_INT(table), columns, types), err);
    if (rc == 0 && c->standby != NULL) {
        rc = consumer_await_row(c, err);
    }
    return rc < 0 ? err_context(err, "could not record the columns for \"%s\"", c->name) : 0;
}

int consumer_leave(struct consumer *c, const char *left, struct err *err)
{
    int rc =
        consumer_write(c, NULL, "consumer_members", PG_PARAMS(c->name, c->triggers, left), err);
    if (rc < 0) {
        return err_context(err, "could not record the members of the table for \"%s\"", c->name);
    }
    free(c->triggers);
    c->triggers = text_copy(left);
    return 0;
}

/* Returns the oldest transaction whose entries a reader at this position still needs. */
static int64_t consumer_keep_of(const struct position *p)
{
    struct snapshot last;
    position_snapshot_parse(&last, p->last);
    return (int64_t)last.xmin;
}

int64_t consumer_letters_sum(const char *letters)
{
    return (int64_t)text_hash(letters, strlen(letters));
}

static int consumer_write_mirror(struct consumer *c, const struct position *p, int64_t clock,
                                 const char *letters, struct err *err)
{
    struct buf text;
    struct pg_result *r = NULL;
    const char *sum = letters != NULL ? PG_INT(consumer_letters_sum(letters)) : NULL;
    buf_init(&text, POSITION_MAX_BYTES);
    position_print(&text, p);
    int rc = consumer_write(c, &r, "consumer_mirror",
                            PG_PARAMS(c->name, buf_text(&text), PG_INT(consumer_keep_of(p)),
                                      PG_INT(clock), letters, sum, PG_INT(c->pg->history.timeline)),
                            err);
    if (rc == 0 && !pg_true(r, 0, 0)) { /* looks at the log again */
        rc = err_set(err, ERR_TRANSIENT, "the consumer was removed or has expired");
    }
    pg_result_release(r);
    buf_release(&text);
    return rc;
}

static int consumer_prune_batch(struct consumer *c, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(c->pg, &r, "consumer_prune", PG_PARAMS(c->capture, PG_INT(PRUNE_MOST)), err);
    c->more = rc == 0 && pg_int(r, 0, 0) >= PRUNE_MOST;
    pg_result_release(r);
    return rc;
}

int consumer_prune(struct consumer *c, int64_t most_ms, struct err *err)
{
    int64_t end_ms = pg_now_ms() + most_ms;
    int rc = consumer_prune_batch(c, err);
    while (rc == 0 && c->more && pg_now_ms() < end_ms) {
        rc = consumer_prune_batch(c, err);
    }
    free(c->unpruned);
    c->unpruned = rc == ERR_REJECTED ? text_copy(err->message) : NULL;
    rc = rc == ERR_REJECTED ? 0 : rc;
    return rc < 0 ? err_context(err, "could not prune the change log") : 0;
}

int consumer_mirror(struct consumer *c, const struct position *p, int64_t clock,
                    const char *letters, struct err *err)
{
    if (position_compare(p, &c->mirror) < 0) {
        return 0;
    }
    int rc = consumer_write_mirror(c, p, clock, letters, err);
    if (rc < 0) {
        return err_context(err, "could not write the checkpoint backup of \"%s\"", c->name);
    }
    position_copy(&c->mirror, p);
    c->clock = clock;
    c->letters_sum = letters != NULL ? consumer_letters_sum(letters) : c->letters_sum;
    rc = consumer_prune(c, CONSUMER_PRUNE_MS, err);
    return rc == 0 ? pg_ask_bool(c->pg, "consumer_entries",
                                 PG_PARAMS(c->capture, PG_INT(consumer_keep_of(p))), &c->keeps, err)
                   : rc;
}

int consumer_attend(struct consumer *c, bool *expired, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(c->pg, &r, "consumer_attend", PG_PARAMS(c->name), err);
    *expired = false;
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        *expired = *expired || pg_true(r, i, 0);
    }
    pg_result_release(r);
    return rc < 0 ? err_context(err, "could not send the heartbeat of the consumer \"%s\"", c->name)
                  : 0;
}

int consumer_expire(struct consumer *c, int64_t age_ms, int64_t max_size, struct err *err)
{
    char age[40];
    if (age_ms == 0 && max_size == 0) {
        return 0;
    }
    snprintf(age, sizeof(age), "%" PRId64 " milliseconds", age_ms);
    struct pg_result *r = NULL;
    const char *size = max_size > 0 ? PG_INT(max_size) : NULL;
    int rc = pg_ask(c->pg, &r, "consumer_expire",
                    PG_PARAMS(c->capture, age_ms > 0 ? age : NULL, size), err);
    c->more = c->more || (rc == 0 && pg_rows(r) > 0);
    pg_result_release(r);
    return rc < 0 ? err_context(err, "could not expire absent consumers") : 0;
}

int consumer_spoil(struct consumer *c, struct err *err)
{
    int rc = consumer_write(c, NULL, "consumer_spoil", PG_PARAMS(c->name), err);
    c->clock = rc == 0 ? 0 : c->clock;
    return rc;
}

int consumer_drop(struct consumer *c, struct err *err)
{
    return consumer_write(c, NULL, "consumer_left", PG_PARAMS(c->name, NULL), err);
}

int consumer_mirrored(struct pg *pg, const char *consumer, struct mirrored *out, struct err *err)
{
    struct pg_result *r = NULL;
    *out = (struct mirrored){0};
    int rc = pg_writer(pg, &pg, err);
    if (rc == 0) {
        rc = pg_ask(pg, &r, "consumer_mirrored", PG_PARAMS(consumer, PG_INT(pg->history.timeline)),
                    err);
    }
    if (rc == 0 && pg_rows(r) == 0) {
        err_set(&out->why, ERR_STATE, "the source has no checkpoint backup");
    } else if (rc == 0 && !pg_true(r, 0, 3)) {
        err_set(&out->why, ERR_STATE, "the source was restored or promoted since");
    } else if (rc == 0) {
        out->usable = true;
        out->position = text_copy(pg_text(r, 0, 0));
        out->clock = pg_int(r, 0, 1);
        out->letters = text_copy(pg_text(r, 0, 2));
    }
    pg_result_release(r);
    return rc;
}
