/* SPDX-License-Identifier: Apache-2.0 */
/* resync: reads the rows of given keys, or of a condition, again and sends them now. */
#include <string.h>

#include "client/holder_request.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/source/listing/listing.h"

#define PART_KEYS ((size_t)10000) /* keys of a condition per part */
#define PAGE_KEYS ((size_t)1000)
#define KEY_BYTES ((size_t)64 << 10)

struct resync {
    struct holder_request ask;
    struct listing *listing;
    struct buf after; /* the last key that was listed */
    bool begun;
    size_t page; /* keys in the last page */
};

/* Opens a listing. The condition is user input, so the connection only reads. */
static int resync_open_listing(struct resync *r, const char *where, struct err *err)
{
    const struct session *s = &r->ask.session;
    struct listing_options options;
    struct source_options source;
    struct pg *pg = NULL;
    int rc = setup_secrets(&r->ask.setup, err);
    if (rc < 0) {
        return rc;
    }
    r->ask.secrets = true;
    session_listing(s, where, &options);
    session_source_options(s, &source);
    rc = pg_open(&pg, &source, err);
    if (rc == 0) {
        rc = pg_script(pg, "set default_transaction_read_only = on", err);
    }
    if (rc < 0) {
        pg_close(pg);
        return rc;
    }
    return listing_open(&r->listing, pg, &options, err);
}

/* --- by key -------------------------------------------------------------------------------- */

/* Adds a key. A text that cannot be a key has no row and would cause an unintended delete, so it is
 * refused. */
static int resync_push_id(struct resync *r, const char *id, struct err *err)
{
    struct span key = span_make(id, strlen(id));
    struct buf text;
    bool possible;
    buf_init(&text, KEY_BYTES);
    int rc = listing_text(r->listing, key, &text, &possible, err);
    if (rc == 0 && !possible) {
        rc = err_set(err, ERR_REJECTED, "no row of \"%s\" can have the key \"%s\"",
                     r->ask.session.pipeline->from.table, id);
    } else if (rc == 0 && strcmp(buf_text(&text), id) != 0) {
        rc = err_set(err, ERR_REJECTED, "\"%s\" is not how the key \"%s\" is written", id,
                     buf_text(&text));
    } else if (rc == 0) {
        holder_request_push(&r->ask, key);
    }
    buf_release(&text);
    return rc;
}

static int resync_push_ids(struct resync *r, const struct arguments *a, struct err *err)
{
    int rc = resync_open_listing(r, NULL, err);
    for (size_t i = 0; rc == 0 && i < a->operand_count; i++) {
        rc = resync_push_id(r, a->operands[i], err);
    }
    listing_free(r->listing);
    r->listing = NULL;
    return rc;
}

/* --- by a condition ------------------------------------------------------------------------ */

static void resync_push_listed(void *context, struct span key)
{
    struct resync *r = context;
    holder_request_push(&r->ask, key);
    buf_reset(&r->after);
    buf_push(&r->after, key.data, key.len);
    r->page++;
}

static int resync_push_part(void *context, struct holder_request *k, bool *last, struct err *err)
{
    struct resync *r = context;
    size_t before = k->client.keys;
    *last = false;
    while (!*last && k->client.keys - before < PART_KEYS) {
        struct span after = span_make(r->begun ? buf_text(&r->after) : NULL, r->after.len);
        r->begun = true;
        r->page = 0;
        int rc = listing_next(r->listing, after, PAGE_KEYS, resync_push_listed, r, err);
        if (rc < 0) {
            return rc == ERR_REJECTED ? err_context(err, "option \"--where\"") : rc;
        }
        *last = r->page < PAGE_KEYS;
    }
    return 0;
}

static int resync(struct resync *r, const struct arguments *a, struct err *err)
{
    const char *where = a->values[OPTION_WHERE];
    int rc = holder_request_open(&r->ask, a, "resync", REQUEST_RESYNC, err);
    if (rc == 0) {
        rc = where != NULL ? resync_open_listing(r, where, err) : resync_push_ids(r, a, err);
    }
    if (rc == 0 && where != NULL) {
        r->ask.more = resync_push_part;
        r->ask.context = r;
    }
    return rc == 0 ? holder_request_run(&r->ask, err) : rc;
}

int command_resync(const struct arguments *a, struct err *err)
{
    struct resync r = {0};
    if ((a->values[OPTION_WHERE] != NULL) == (a->operand_count > 0)) {
        return err_set(err, ERR_CONFIG, "command \"resync\" needs either ID... or --where SQL");
    }
    buf_init(&r.after, KEY_BYTES);
    int rc = resync(&r, a, err);
    rc = holder_request_end(&r.ask, rc, err);
    listing_free(r.listing);
    buf_release(&r.after);
    holder_request_release(&r.ask);
    return rc;
}
