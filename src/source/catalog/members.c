/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the members of a table at two times. */
#include "catalog/members.h"

#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"

/* One parsed line. */
struct member {
    unsigned long oid;    /* past the last: the greatest of all */
    struct span triggers; /* or storage */
    struct span name;     /* or versions */
    const char *next;     /* line */
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

enum members_news members_compare(const char *was, const char *is, struct span *name)
{
    enum members_news worst = MEMBERS_SAME;
    while (*was != '\0' || *is != '\0') {
        struct member then = members_member_at(was);
        struct member now = members_member_at(is);
        enum members_news news = then.oid < now.oid                        ? MEMBERS_LEFT
                                 : then.oid > now.oid                      ? MEMBERS_JOINED
                                 : span_equal(then.triggers, now.triggers) ? MEMBERS_SAME
                                                                           : MEMBERS_CHANGED;
        if (news > worst) {
            worst = news;
            *name = news == MEMBERS_LEFT ? then.name : now.name;
        }
        was = then.oid <= now.oid ? then.next : was;
        is = now.oid <= then.oid ? now.next : is;
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
    while (*was != '\0') {
        struct member then = members_member_at(was);
        struct member now = members_member_at(is);
        if (then.oid == now.oid) {
            members_push_line(out, was);
        }
        was = then.oid <= now.oid ? then.next : was;
        is = now.oid <= then.oid ? now.next : is;
    }
}

bool members_rewritten(const char *was, const char *is)
{
    while (*was != '\0') {
        struct member then = members_member_at(was);
        struct member now = members_member_at(is);
        if (then.oid == now.oid && !span_equal(then.triggers, now.triggers) &&
            !span_equal(then.name, now.name)) {
            return true;
        }
        was = then.oid <= now.oid ? then.next : was;
        is = now.oid <= then.oid ? now.next : is;
    }
    return false;
}

void members_note_stored(struct buf *out, const char *was, const char *is, const char *relied)
{
    while (*was != '\0' || *is != '\0') {
        struct member then = members_member_at(was);
        struct member now = members_member_at(is);
        while (*relied != '\0' && members_member_at(relied).oid < then.oid) {
            relied = members_member_at(relied).next;
        }
        if (now.oid <= then.oid) {
            members_push_line(out, is);
        } else if (*relied != '\0' && members_member_at(relied).oid == then.oid) {
            members_push_line(out, was);
        }
        was = then.oid <= now.oid ? then.next : was;
        is = now.oid <= then.oid ? now.next : is;
    }
}

/* Runs one transaction of it; sets the number of members it added. */
static int members_join_some(struct pg *pg, const char *capture, int64_t *joined, struct err *err)
{
    struct err ignored;
    struct pg_result *r = NULL;
    const char *const params[] = {capture};
    int rc = pg_script(
        pg, "begin isolation level read committed read write;" PG_GUARD_PATH ";" PG_GUARD_ROWS,
        err);
    if (rc == 0) {
        rc = pg_ask(pg, &r, "tree_join", params, 1, err);
        *joined = rc == 0 ? pg_int(r, 0, 0) : 0;
        pg_result_release(r);
        int ended = pg_script(pg, rc == 0 ? "commit" : "rollback", rc == 0 ? err : &ignored);
        rc = rc == 0 ? ended : rc;
    }
    return rc;
}

int members_join(struct pg *pg, const char *capture, bool *joined, struct err *err)
{
    struct pg_result *r = NULL;
    const char *const params[] = {capture};
    int rc = pg_ask(pg, &r, "tree_news", params, 1, err);
    int64_t more = rc == 0 && pg_true(r, 0, 0);
    pg_result_release(r);
    *joined = false;
    while (rc == 0 && more > 0) {
        rc = members_join_some(pg, capture, &more, err);
        *joined = *joined || more > 0;
    }
    if (rc < 0 && strcmp(err->sqlstate, "42501") == 0) {
        err_hint(err, "as the owner of the new member, run: rowferry source install");
    }
    return rc < 0 ? err_context(err, "could not take in a new member of the table") : 0;
}
