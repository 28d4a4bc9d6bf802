/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the members of a table at two times. */
#include "catalog/members.h"

#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"

/* A parsed line. */
struct member {
    unsigned long oid;    /* behind the last line: the greatest number */
    struct span triggers; /* or storage */
    struct span name;     /* or versions */
    const char *next;     /* the next line */
};

static struct span members_word(const char *from, const char *end)
{
    const char *blank = memchr(from, ' ', (size_t)(end - from));
    return span_make(from, (size_t)((blank != NULL ? blank : end) - from));
}

static struct member members_member_at(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    struct member m = {.oid = (unsigned long)-1, .next = end + (*end != '\0')};
    if (*line != '\0') {
        struct span oid = members_word(line, end);
        const char *rest = oid.data + oid.len + (oid.data + oid.len < end);
        m.oid = strtoul(line, NULL, 10);
        m.triggers = members_word(rest, end);
        rest += m.triggers.len + (rest + m.triggers.len < end);
        m.name = span_make(rest, (size_t)(end - rest));
    }
    return m;
}

/* A walk over two lists in the order of the oids. */
struct members_walk {
    const char *was, *is;
    struct member then, now; /* the next ones; only the one with the smaller oid is at hand */
};

/* Goes to the next member of either list; begins with a walk that has only the lists. */
static bool members_next(struct members_walk *w)
{
    bool begun = w->then.next != NULL;
    bool past = begun && w->then.oid <= w->now.oid;
    bool past_now = begun && w->now.oid <= w->then.oid;
    w->was = past ? w->then.next : w->was;
    w->is = past_now ? w->now.next : w->is;
    w->then = members_member_at(w->was);
    w->now = members_member_at(w->is);
    return *w->was != '\0' || *w->is != '\0';
}

enum members_news members_compare(const char *was, const char *is, struct span *name)
{
    enum members_news worst = MEMBERS_SAME;
    struct members_walk w = {.was = was, .is = is};
    while (members_next(&w)) {
        enum members_news news = w.then.oid < w.now.oid                        ? MEMBERS_LEFT
                                 : w.then.oid > w.now.oid                      ? MEMBERS_JOINED
                                 : span_equal(w.then.triggers, w.now.triggers) ? MEMBERS_SAME
                                                                               : MEMBERS_CHANGED;
        if (news > worst) {
            worst = news;
            *name = news == MEMBERS_LEFT ? w.then.name : w.now.name;
        }
    }
    return worst;
}

bool members_uncovered(const char *members, struct span *name)
{
    while (*members != '\0') {
        struct member m = members_member_at(members);
        if (span_is(m.triggers, "-")) {
            *name = m.name;
            return true;
        }
        members = m.next;
    }
    return false;
}

static void members_push_line(struct buf *out, const char *line)
{
    buf_push_text(out, out->len > 0 ? "\n" : "");
    buf_push(out, line, strcspn(line, "\n"));
}

void members_keep(struct buf *out, const char *was, const char *is)
{
    struct members_walk w = {.was = was, .is = is};
    while (members_next(&w)) {
        if (w.then.oid == w.now.oid) {
            members_push_line(out, w.was);
        }
    }
}

bool members_rewritten(const char *was, const char *is)
{
    bool rewritten = false;
    struct members_walk w = {.was = was, .is = is};
    while (!rewritten && members_next(&w)) {
        rewritten = w.then.oid == w.now.oid && !span_equal(w.then.triggers, w.now.triggers) &&
                    !span_equal(w.then.name, w.now.name);
    }
    return rewritten;
}

void members_note_stored(struct buf *out, const char *was, const char *is, const char *relied)
{
    struct members_walk w = {.was = was, .is = is};
    while (members_next(&w)) {
        while (*relied != '\0' && members_member_at(relied).oid < w.then.oid) {
            relied = members_member_at(relied).next;
        }
        if (w.now.oid <= w.then.oid) {
            members_push_line(out, w.is);
        } else if (*relied != '\0' && members_member_at(relied).oid == w.then.oid) {
            members_push_line(out, w.was);
        }
    }
}

/* Adds some members in one transaction; sets their number. */
static int members_join_some(struct pg *pg, const char *capture, int64_t *joined, struct err *err)
{
    struct err ignored;
    struct pg_result *r = NULL;
    int rc = pg_script(
        pg, "begin isolation level read committed read write;" PG_GUARD_PATH ";" PG_GUARD_ROWS,
        err);
    if (rc == 0) {
        rc = pg_ask(pg, &r, "tree_join", PG_PARAMS(capture), err);
        *joined = rc == 0 ? pg_int(r, 0, 0) : 0;
        pg_result_release(r);
        int ended = pg_script(pg, rc == 0 ? "commit" : "rollback", rc == 0 ? err : &ignored);
        rc = rc == 0 ? ended : rc;
    }
    return rc;
}

int members_join(struct pg *pg, const char *capture, bool *joined, struct err *err)
{
    bool news;
    int rc = pg_ask_bool(pg, "tree_news", PG_PARAMS(capture), &news, err);
    int64_t more = news;
    *joined = false;
    while (rc == 0 && more > 0) {
        rc = members_join_some(pg, capture, &more, err);
        *joined = *joined || more > 0;
    }
    if (rc < 0 && strcmp(err->sqlstate, "42501") == 0) {
        err_hint(err, "run: rowferry source install " ERR_PIPELINE
                      " --as ROLE, the owner of the new member");
    }
    return rc < 0 ? err_context(err, "could not take in a new member of the table") : 0;
}
