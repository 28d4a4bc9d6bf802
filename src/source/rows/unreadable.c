/* SPDX-License-Identifier: Apache-2.0 */
/* Learns which characters UTF8 does not have, and wraps statements to leave them out. */
#include "rows/unreadable.h"

#include <stdio.h>
#include <string.h>

#include "pg/sqlstate.h"

#define SQL_MAX_BYTES ((size_t)4 << 20)

static bool unreadable_is_known(const struct unreadable *u, const char *character)
{
    char between[UNTRANSLATABLE_SIZE + 2];
    snprintf(between, sizeof(between), " %s ", character);
    return strstr(u->known, between) != NULL;
}

/* Returns 0 if the bytes, a text in the database's encoding, can be converted to UTF8. Otherwise
 * `why` may name the first character that cannot. */
static int unreadable_convert(struct pg *pg, const char *bytes, struct err *why)
{
    struct buf text;
    buf_init(&text, SQL_MAX_BYTES);
    buf_printf(&text, "\\x%s", bytes);
    int rc = pg_query(pg, NULL, NULL,
                      "select convert_to(convert_from($1::bytea, getdatabaseencoding()), 'UTF8')",
                      PG_PARAMS(buf_text(&text)), why);
    buf_release(&text);
    return rc;
}

/* A parameter of ours that does not exist in the database's encoding causes the same error. So test
 * the character separately. */
static bool unreadable_learn_character(struct unreadable *u, struct pg *pg, const struct err *why,
                                       char found[UNTRANSLATABLE_SIZE])
{
    struct err said;
    size_t len = strlen(u->known);
    if (!sqlstate_is_untranslatable(why) || !sqlstate_character(why->detail, found) ||
        unreadable_is_known(u, found) || len + UNTRANSLATABLE_SIZE + 2 > sizeof(u->known) ||
        unreadable_convert(pg, found, &said) == 0 || !sqlstate_is_untranslatable(&said)) {
        return false;
    }
    if (len == 0) {
        const char *encoding = PQparameterStatus(pg->conn, "server_encoding");
        snprintf(u->words, sizeof(u->words),
                 "a character of the source that UTF8 does not have, such as 0x%s of %s", found,
                 encoding != NULL ? encoding : "its encoding");
    }
    snprintf(u->known + len, sizeof(u->known) - len, " %s ", found);
    return true;
}

/* Characters that differ in the last byte only are likely to fail too, so all of them are tested at
 * once. If such bytes are invalid in the encoding, the server reports that error instead, and
 * nothing is learned. */
static bool unreadable_learn_alike(struct unreadable *u, struct pg *pg, const char *first)
{
    struct err why;
    struct buf bytes;
    char found[UNTRANSLATABLE_SIZE];
    int lead = (int)strlen(first) - 2; /* digits before the last byte's */
    unsigned least = lead > 0 ? 0xa1 : 0x80;
    unsigned most = lead > 0 ? 0xfe : 0xff;
    buf_init(&bytes, SQL_MAX_BYTES);
    for (unsigned byte = least; byte <= most; byte++) {
        snprintf(found, sizeof(found), "%.*s%02x", lead, first, byte & 0xff);
        buf_push_text(&bytes, unreadable_is_known(u, found) ? "" : found);
    }
    bool learned = unreadable_convert(pg, buf_text(&bytes), &why) < 0 &&
                   unreadable_learn_character(u, pg, &why, found);
    buf_release(&bytes);
    return learned;
}

bool unreadable_learn(struct unreadable *u, struct pg *pg, const struct err *why)
{
    char first[UNTRANSLATABLE_SIZE];
    bool learned = unreadable_learn_character(u, pg, why, first);
    for (bool more = learned; more;) {
        more = unreadable_learn_alike(u, pg, first);
    }
    return learned;
}

bool unreadable_end(struct unreadable *u, struct reader *r, const struct err *why)
{
    struct err ignored;
    return sqlstate_is_untranslatable(why) && reader_give_up(r, &ignored) == 0 &&
           unreadable_learn(u, r->pg, why);
}

static void unreadable_push_known(struct buf *out, const struct unreadable *u)
{
    buf_printf(out,
               "(select convert_from('\\x%s'::bytea, getdatabaseencoding()) as c offset 0) as f",
               u->known);
}

/* Wraps the statement as a table in FROM; the order of its rows is preserved. */
static void unreadable_push_wrapped(struct buf *out, const struct unreadable *u, size_t all,
                                    size_t columns, const char *sql)
{
    buf_push_literal(out, "select case when u.k then null else s.c0 end");
    for (size_t i = 1; i < all; i++) {
        buf_printf(out, i <= columns ? ", case when u.r then null else s.c%zu end" : ", s.c%zu", i);
    }
    buf_printf(out, ", u.r\n  from (\n%s\n) as s(c0", sql);
    for (size_t i = 1; i < all; i++) {
        buf_printf(out, ", c%zu", i);
    }
    buf_push_literal(out, "),\nlateral (select translate(t.k, f.c, '') <> t.k, "
                          "translate(t.r, f.c, '') <> t.r from (select s.c0 as k, row(s.c0");
    for (size_t i = 1; i <= columns; i++) {
        buf_printf(out, ", s.c%zu", i);
    }
    buf_push_literal(out, ")::text as r offset 0) as t, ");
    unreadable_push_known(out, u);
    buf_push_literal(out, " offset 0) as u(k, r)");
}

void unreadable_push_entries(struct buf *out, const struct unreadable *u, const char *sql)
{
    if (u == NULL || u->known[0] == '\0') {
        buf_push_text(out, sql);
        return;
    }
    buf_printf(out,
               "-- returns any: text, int, text, text?\n"
               "select s.xid, s.seq, case when u.k then '%c' else s.op end, "
               "case when u.k then null else s.key end\n  from (\n%s\n) as s(xid, seq, op, key),\n"
               "lateral (select translate(s.key, f.c, '') <> s.key from ",
               UNREADABLE_ENTRY, sql);
    unreadable_push_known(out, u);
    buf_push_literal(out, " offset 0) as u(k)");
}

int unreadable_send(const struct unreadable *u, struct reader *r, struct reader_form form,
                    size_t columns, const char *sql, const char *const *params, size_t count,
                    struct err *err)
{
    struct buf wrapped;
    if (u->known[0] == '\0') {
        return reader_send(r, form, sql, params, count, err);
    }
    buf_init(&wrapped, SQL_MAX_BYTES);
    unreadable_push_wrapped(&wrapped, u, form.columns, columns, sql);
    form.columns++;
    int rc = wrapped.failed
                 ? err_set(err, ERR_REJECTED, "the statement that reads rows would be too long")
                 : reader_send(r, form, buf_text(&wrapped), params, count, err);
    buf_release(&wrapped);
    return rc;
}

void unreadable_take(const struct unreadable *u, size_t columns, struct row *row)
{
    if (row->count != columns + 1) {
        return;
    }
    const struct value *hidden = &row->values[columns];
    row->count = columns;
    row->unreadable = !hidden->null && hidden->text[0] == 't' ? u->words : NULL;
}
