/* SPDX-License-Identifier: Apache-2.0 */
/* Several sessions driven by one thread. Each runs one statement at a time or waits for a lock. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "sql.h"
#include "wait.h"

#define STATEMENT_MS WAIT_MS
#define SESSION_SETTINGS                                                                           \
    "set client_min_messages = error; set lock_timeout = '3s'; set deadlock_timeout = '20ms'"

void history_log(struct history *h, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    buf_printf(&h->log, "%4u %s\n", h->dice.step, line);
}

static unsigned number_of(const struct history *h, const struct session *s)
{
    return (unsigned)(s - h->sessions);
}

void sessions_open(struct history *h)
{
    for (unsigned i = 0; i < h->session_count; i++) {
        struct session *s = &h->sessions[i];
        bool beside = h->mode->publisher_ddl != NULL && i == 0; /* the subscriber's application */
        s->conn = sql_open(beside ? h->w->uri : h->uri);
        s->control = beside ? h->w->conn : h->control;
        s->pid = PQbackendPID(s->conn);
        buf_init(&s->rows, 65536);
        sql_exec(s->conn, SESSION_SETTINGS);
    }
}

void sessions_close(struct history *h)
{
    for (unsigned i = 0; i < h->session_count; i++) {
        PQfinish(h->sessions[i].conn);
        buf_release(&h->sessions[i].rows);
    }
}

static bool idle(const struct session *s)
{
    return !s->busy && PQtransactionStatus(s->conn) == PQTRANS_IDLE;
}

/* Reads the results of the statement. An error is a valid result. */
static void take_results(struct history *h, struct session *s)
{
    PGresult *r;
    while ((r = PQgetResult(s->conn)) != NULL) {
        ExecStatusType status = PQresultStatus(r);
        if (status == PGRES_COPY_IN) {
            PQputCopyData(s->conn, buf_text(&s->rows), (int)s->rows.len);
            PQputCopyEnd(s->conn, NULL);
        } else if (status == PGRES_FATAL_ERROR) {
            history_log(h, "%u: %s %s", number_of(h, s), PQresultErrorField(r, PG_DIAG_SQLSTATE),
                        PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY));
        }
        PQclear(r);
    }
    ck_assert_msg(PQstatus(s->conn) == CONNECTION_OK, "%s", PQerrorMessage(s->conn));
    s->busy = false;
}

static bool blocked(const struct session *s)
{
    return sql_int(s->control, "select (cardinality(pg_blocking_pids(%d)) > 0)::int", s->pid) == 1;
}

/* Waits until the statement is done or waits for another session. */
static void await(struct history *h, struct session *s)
{
    struct deadline deadline = deadline_after(STATEMENT_MS);
    for (unsigned turn = 0; s->busy; turn++) {
        ck_assert(PQconsumeInput(s->conn) == 1);
        if (PQisBusy(s->conn) == 0) {
            take_results(h, s);
        } else if (turn > 0 && blocked(s)) {
            return;
        } else {
            ck_assert_msg(deadline_wait(&deadline), "a statement does not end");
        }
    }
}

static void say(struct history *h, struct session *s, const char *sql)
{
    history_log(h, "%u> %s", number_of(h, s), sql);
    ck_assert(PQsendQuery(s->conn, sql) == 1);
    s->busy = true;
    await(h, s);
    if (s->busy) {
        history_log(h, "%u: waits", number_of(h, s));
    }
}

/* Rolls a failed transaction back, to its savepoint or completely. */
static void recover(struct history *h, struct session *s)
{
    if (!s->busy && PQtransactionStatus(s->conn) == PQTRANS_INERROR &&
        dice_roll(&h->dice, 2) == 0) {
        say(h, s, "rollback to savepoint s");
    }
    if (!s->busy && PQtransactionStatus(s->conn) == PQTRANS_INERROR) {
        say(h, s, "rollback");
    }
}

static void prepare(struct history *h, struct session *s)
{
    char *name = h->prepared[h->prepared_count];
    char sql[128];
    if (h->prepared_count == PREPARED_MAX || s->control != h->control ||
        PQtransactionStatus(s->conn) != PQTRANS_INTRANS) {
        return;
    }
    snprintf(name, sizeof(h->prepared[0]), "%d %llu %u", (int)getpid(), (unsigned long long)h->seed,
             h->dice.step);
    snprintf(sql, sizeof(sql), "prepare transaction '%s'", name);
    say(h, s, sql);
    h->prepared_count += (unsigned)sql_int(
        s->control, "select count(*) from pg_prepared_xacts where gid = '%s'", name);
}

/* Uses any free session, not necessarily the one that prepared it. */
static void finish_prepared(struct history *h, struct session *s)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "%s prepared '%s'",
             dice_roll(&h->dice, 3) == 0 ? "rollback" : "commit", h->prepared[0]);
    say(h, s, sql);
    ck_assert(!s->busy);
    h->prepared_count--;
    memmove(h->prepared[0], h->prepared[1], sizeof(h->prepared[0]));
}

static bool allowed(const struct history *h, const struct session *s, const struct statement *t)
{
    const unsigned beside = NEED_SUBSCRIBER | NEED_OPEN | NEED_IDLE;
    unsigned allows = h->mode->allows | (idle(s) ? NEED_IDLE : NEED_OPEN);
    allows |= PQserverVersion(s->conn) >= 150000 ? NEED_MERGE : 0;
    if (!h->truncates) {
        allows &= ~(unsigned)NEED_TRUNCATE;
    }
    return (t->needs & ~allows) == 0 && (s->control == h->control || (t->needs & beside) != 0);
}

static const struct statement *choose(struct history *h, const struct session *s)
{
    unsigned sum = 0;
    for (const struct statement *t = statements; t->sql != NULL; t++) {
        sum += allowed(h, s, t) ? t->weight : 0;
    }
    unsigned at = dice_roll(&h->dice, sum);
    for (const struct statement *t = statements;; t++) {
        unsigned weight = allowed(h, s, t) ? t->weight : 0;
        if (at < weight) {
            return t;
        }
        at -= weight;
    }
}

static void say_one(struct history *h, struct session *s, const struct statement *t)
{
    struct buf sql;
    buf_init(&sql, 65536);
    statement_expand(&sql, t->sql, &h->dice);
    buf_reset(&s->rows);
    if (t->rows != NULL) {
        statement_expand(&s->rows, t->rows, &h->dice);
    }
    h->exclusive = h->exclusive || (t->needs & (NEED_TRUNCATE | NEED_PARTITIONS)) != 0;
    say(h, s, buf_text(&sql));
    recover(h, s);
    buf_release(&sql);
}

void sessions_step(struct history *h)
{
    struct session *s = &h->sessions[dice_roll(&h->dice, h->session_count)];
    bool ends_prepared = dice_roll(&h->dice, 30) == 0 && h->prepared_count > 0;
    await(h, s);
    recover(h, s);
    if (s->busy) {
        return;
    }
    const struct statement *t = choose(h, s);
    if (ends_prepared && idle(s) && s->control == h->control) {
        finish_prepared(h, s);
    } else if (strcmp(t->sql, "prepare transaction") == 0) {
        prepare(h, s);
    } else {
        say_one(h, s, t);
    }
}

static bool end_one(struct history *h, struct session *s)
{
    await(h, s);
    recover(h, s);
    if (!s->busy && !idle(s)) {
        say(h, s, dice_roll(&h->dice, 3) == 0 ? "rollback" : "commit");
    }
    return idle(s);
}

static void end_prepared(struct history *h)
{
    while (h->prepared_count > 0) {
        const char *word = dice_roll(&h->dice, 3) == 0 ? "rollback" : "commit";
        history_log(h, "-> %s prepared '%s'", word, h->prepared[h->prepared_count - 1]);
        sql_exec(h->control, "%s prepared '%s'", word, h->prepared[--h->prepared_count]);
    }
}

/* Sessions that wait for each other end within as many turns as there are sessions. A session that
 * still waits then is blocked by a prepared transaction. */
void sessions_end_all(struct history *h, bool keep_prepared)
{
    struct deadline deadline = deadline_after(STATEMENT_MS);
    bool ended = false;
    for (unsigned turn = 0; !ended; turn++) {
        ended = true;
        if (!keep_prepared || h->exclusive || turn > h->session_count) {
            end_prepared(h);
        }
        for (unsigned i = 0; i < h->session_count; i++) {
            ended = end_one(h, &h->sessions[i]) && ended;
        }
        ck_assert_msg(ended || deadline_wait(&deadline), "transactions do not end");
    }
    h->exclusive = false;
}
