/* SPDX-License-Identifier: Apache-2.0 */
/* A page of the change log: its beginning; then the rows of a chunk, its keys without a row, a
 * safepoint, and so on. */
#include "changelog/changelog_page.h"

#include <assert.h>
#include <stdlib.h>

#include "pg/pg_private.h"
#include "pg/sqlstate.h"
#include "rowferry/base/text.h"

#define POSITION_MAX_BYTES ((size_t)1 << 20)
#define KEYS_MAX_BYTES ((size_t)64 << 20)
#define ROW_GUESS_BYTES 2048 /* for the first chunk; later ones use the measured size */
#define BLOCK_GUESS_BYTES 32768
#define ROW_BYTES 128 /* estimated size of a document beside its values */

void changelog_page_init(struct changelog_page *p, const struct changelog_options *options)
{
    p->options = options;
    p->unreadable = mem_zero(1, sizeof(*p->unreadable));
    p->chunks.block_target = 1 + options->chunk_bytes / BLOCK_GUESS_BYTES;
    p->chunks.key_target = 1 + options->chunk_bytes / ROW_GUESS_BYTES;
    keyset_init(&p->keys.set, KEYS_MAX_BYTES);
    keyset_init(&p->keys.changed, KEYS_MAX_BYTES);
    buf_init(&p->last_key, KEYS_MAX_BYTES);
    buf_init(&p->text, POSITION_MAX_BYTES);
}

void changelog_page_release(struct changelog_page *p)
{
    reader_release(&p->reader);
    page_look_release(&p->page.look);
    keyset_release(&p->keys.set);
    keyset_release(&p->keys.changed);
    free(p->keys.places.items);
    buf_release(&p->last_key);
    buf_release(&p->text);
    position_release(&p->end);
    position_release(&p->safepoint.position);
    if (!p->worker) {
        free(p->unreadable);
    }
}

/* --- the beginning --------------------------------------------------------------------------- */

enum page_kind changelog_page_next_kind(const struct changelog_page *p)
{
    const struct position *at = &p->position->at;
    switch (at->kind) {
    case POSITION_BLOCKS:
        return PAGE_BLOCKS;
    case POSITION_KEYS:
        return p->options->query != NULL && at->range != KEY_RANGE_NULLS ? PAGE_LISTED : PAGE_RANGE;
    case POSITION_LOG:
    default:
        return at->target != NULL && at->of > 0 ? PAGE_FAN : PAGE_LOG;
    }
}

void changelog_page_reset(struct changelog_page *p, enum page_kind kind)
{
    bool fan = kind == PAGE_FAN;
    p->kind = kind;
    p->content = CONTENT_ROWS;
    page_look_release(&p->page.look);
    p->page.stretch = (struct page_stretch){.keys = fan ? &p->keys.changed : &p->keys.set,
                                            .befores = &p->keys.places,
                                            .recorded = fan,
                                            .limit = p->options->page_rows};
    keyset_reset(&p->keys.set);
    keyset_reset(&p->keys.changed);
    p->keys.places.count = 0;
    p->keys.gone = p->keys.gone_end = 0;
    p->chunks.now = (struct chunk){0};
    p->rows = 0;
    p->safepoint.due = false;
    p->existence.way = KEY_EXISTENCE_LIST;
    p->unfinished = false;
    p->reread = false;
}

int changelog_page_open(struct changelog_page *p, struct err *err)
{
    bool log = p->kind == PAGE_LOG || p->kind == PAGE_FAN;
    struct pg *pg = p->catalogue->pg;
    struct page_request request = catalogue_request(p->catalogue, log ? &p->position->at : NULL);
    struct err ignored;
    request.nowait = p->worker;
    request.unreadable = p->unreadable;
    int rc = page_open(&p->page, pg, &request, err);
    if (rc < 0 && log && sqlstate_is_untranslatable(err) && pg_recover(pg, &ignored) == 0 &&
        unreadable_learn(p->unreadable, pg, err)) {
        p->capture->adapted = CAPTURE_ADAPTED_CHARACTER;
        return err_set(err, ERR_TRANSIENT, "a key holds %s", p->unreadable->words);
    }
    if (rc == 0) {
        rc = catalogue_check(p->catalogue, &p->page.look, p->position->at.last, err);
        if (rc < 0 && p->catalogue->gap == GAP_MEMBER_JOINED) {
            p->capture->adapted = CAPTURE_ADAPTED_MEMBER;
        } else if (rc < 0 && p->catalogue->gap == GAP_MISSED) {
            p->capture->adapted = CAPTURE_ADAPTED_MISSED;
        }
    }
    return rc;
}

static int changelog_page_check_altered(struct changelog_page *p, bool *altered, struct err *err)
{
    return catalogue_check_rewritten(p->catalogue, &p->page.look, p->kind == PAGE_BLOCKS, altered,
                                     err);
}

/* Harmless changes are recorded at once. Otherwise the next such change would look like a
 * rewrite. */
int changelog_page_open_checked(struct changelog_page *p, struct err *err)
{
    bool altered = false;
    int rc = changelog_page_open(p, err);
    if (rc == 0) {
        rc = changelog_page_check_altered(p, &altered, err);
    }
    if (rc == 0 && p->page.stretch.anything) {
        err_set(err, ERR_TRANSIENT,
                "rows of %s were changed while a column of its key was renamed or dropped: any of "
                "them may have changed",
                p->catalogue->table->quoted);
        return catalogue_miss(p->catalogue, err);
    }
    if (rc < 0 || !altered) {
        return rc;
    }
    rc = pg_script(p->catalogue->pg, "commit", err);
    if (rc == 0) {
        rc = catalogue_note_altered(p->catalogue, &p->page.look, err);
    }
    if (rc == 0) {
        changelog_page_reset(p, p->kind);
        rc = changelog_page_open(p, err);
    }
    return rc == 0 ? changelog_page_check_altered(p, &altered, err) : rc;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Returns 1 if the row was requested, 0 if not, or an error if it was already read. */
static int changelog_page_wanted(struct changelog_page *p, struct span key, struct err *err)
{
    if (p->kind == PAGE_BLOCKS || p->kind == PAGE_RANGE) {
        return 1;
    }
    switch (keyset_mark(&p->keys.set, key, p->chunks.now.from, p->chunks.now.to)) {
    case KEYSET_FIRST:
        return 1;
    case KEYSET_STRANGER:           /* equal, but another text: requested separately */
        return p->kind == PAGE_FAN; /* the key texts of a query are unknown */
    default:
        if (p->reread) { /* already delivered */
            return 0;
        }
        err_set(err, ERR_REJECTED, "the key \"%.*s\" identifies two rows of %s%s",
                (int)(key.len < 200 ? key.len : 200), key.data,
                p->options->query != NULL ? "from.query, the keys being those of " : "",
                p->catalogue->table->quoted);
        return err_hint(err, p->options->query != NULL
                                 ? "let the query give one row for each key"
                                 : "name columns as \"key\" that identify a row");
    }
}

static void changelog_page_count_bytes(struct changelog_page *p, const struct row *row)
{
    p->chunks.now.bytes += ROW_BYTES;
    for (size_t i = 0; i < row->count; i++) {
        p->chunks.now.bytes += row->values[i].len;
    }
}

static int changelog_page_give_row(struct changelog_page *p, struct row *row, struct change *change,
                                   struct err *err)
{
    const struct value *key = &row->values[0];
    int rc = 1;
    if (p->content == CONTENT_GONE && p->existence.way == KEY_EXISTENCE_COUNT) {
        key_existence_take(&p->existence, row);
        return 0;
    }
    unreadable_take(p->unreadable, p->options->column_count + 1, row);
    *change = (struct change){.kind = CHANGE_UPSERT, .row = *row, .key_null = key->null};
    if (!key->null) {
        change->key = span_make(key->text, key->len);
        rc = changelog_page_wanted(p, change->key, err);
    }
    if (p->content == CONTENT_GONE) {
        return rc < 0 ? rc : 0;
    }
    if (rc == 1) {
        p->rows++;
        changelog_page_count_bytes(p, row);
        if (p->kind == PAGE_RANGE && !key->null) {
            buf_reset(&p->last_key);
            buf_push(&p->last_key, key->text, key->len);
        }
    }
    return rc;
}

/* Delivers a row with only its key, which is too long: the receiver rejects the key before it uses
 * a column. */
static void changelog_page_give_cut(struct changelog_page *p, struct span key,
                                    struct change *change)
{
    p->keys.cut = (struct value){.text = key.data, .len = key.len};
    *change = (struct change){.kind = CHANGE_UPSERT,
                              .row = {.values = &p->keys.cut, .count = 1},
                              .key = key,
                              .key_cut = true};
}

/* Returns true if it filled `change`. */
static bool changelog_page_give_gone(struct changelog_page *p, struct change *change)
{
    bool prescan = p->content == CONTENT_GONE && p->kind != PAGE_ASKED;
    while (p->keys.gone < p->keys.gone_end) {
        size_t i = p->keys.gone++;
        struct keyset_item *item = &p->keys.set.items[i];
        if (item->cut == KEYSET_CUT_ROW) {
            if (p->content != CONTENT_GONE) {
                changelog_page_give_cut(p, keyset_get(&p->keys.set, i), change);
                return true;
            }
        } else if (!item->found) {
            item->found = true; /* delivered, in case that the page is read again */
            *change = (struct change){.kind = prescan ? CHANGE_PRESCAN_DELETE : CHANGE_DELETE,
                                      .key = keyset_get(&p->keys.set, i),
                                      .key_cut = item->cut == KEYSET_CUT_GONE};
            return true;
        }
    }
    return false;
}

/* If the key of an entry cannot be read, its row cannot be found. It becomes a dead letter,
 * whatever the row is now. */
static bool changelog_page_give_unreadable(struct changelog_page *p, struct change *change)
{
    static const struct value null = {.null = true};
    if (!p->page.stretch.unreadable || p->content != CONTENT_ROWS) {
        return false;
    }
    p->page.stretch.unreadable = false;
    *change =
        (struct change){.kind = CHANGE_UPSERT,
                        .key_null = true,
                        .row = {.values = &null, .count = 1, .unreadable = p->unreadable->words}};
    return true;
}

/* --- safepoints ------------------------------------------------------------------------------ */

void changelog_page_report_position(struct changelog_page *p, const struct position *at,
                                    struct change *change)
{
    struct position place = *at;
    place.timeline = 0;
    place.since = 0;
    buf_reset(&p->text);
    position_print(&p->text, &place);
    changelog_position_print_history(p->position, p->catalogue, &p->text);
    change->position = buf_text(&p->text);
}

static bool changelog_page_give_safepoint(struct changelog_page *p, struct change *change)
{
    if (!p->safepoint.due) {
        return false;
    }
    p->safepoint.due = false;
    *change = (struct change){.kind = CHANGE_SAFEPOINT};
    changelog_page_report_position(p, &p->safepoint.position, change);
    return true;
}

/* Sets a safepoint within a page by key ranges. It is ordered by key, so that is possible after any
 * row. */
static bool changelog_page_divides_range(struct changelog_page *p)
{
    if (p->kind != PAGE_RANGE || p->stage != STAGE_ROWS ||
        p->position->at.range == KEY_RANGE_NULLS || p->chunks.now.bytes < p->options->chunk_bytes) {
        return false;
    }
    changelog_chunk_set_key(&p->safepoint.position, &p->position->at, buf_text(&p->last_key));
    p->chunks.now.bytes = 0;
    p->safepoint.due = true;
    return true;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* Reads the page again with another snapshot; missing rows are determined from that snapshot
 * only. */
static int changelog_page_read_again(struct changelog_page *p, struct err *err)
{
    p->unfinished = false;
    p->stage = STAGE_CLOSED;
    int rc = changelog_page_open(p, err);
    return rc == 0 ? changelog_list_send(p, err) : rc;
}

/* If a text is not a valid value of the key's type, the keys are looked up in the next way. After
 * an unreadable row, requested keys are read again here; other pages are read again from the last
 * safepoint. */
static int changelog_page_handle_error(struct changelog_page *p, struct err *err)
{
    if (p->kind == PAGE_ASKED &&
        key_existence_again(&p->existence, &p->reader, &p->keys.set, err)) {
        return changelog_page_read_again(p, err);
    }
    if (unreadable_end(p->unreadable, &p->reader, err)) {
        if (p->kind == PAGE_ASKED) {
            p->reread = true;
            return changelog_page_read_again(p, err);
        }
        p->capture->adapted = CAPTURE_ADAPTED_CHARACTER;
        err_set(err, ERR_TRANSIENT, "a row holds %s", p->unreadable->words);
    }
    return err_context(err, "could not read %s", p->catalogue->table->quoted);
}

/* Makes one step. Returns 1 if `change` was filled, 0 to continue. */
static int changelog_page_step(struct changelog_page *p, struct change *change, struct err *err)
{
    struct row row;
    if (changelog_page_give_unreadable(p, change)) {
        return 1;
    }
    if (p->stage == STAGE_GONE) {
        if (changelog_page_give_gone(p, change) || changelog_page_give_safepoint(p, change)) {
            return 1;
        }
        p->stage = p->keys.then;
    } else if (changelog_page_divides_range(p)) {
        return changelog_page_give_safepoint(p, change);
    }
    int rc = reader_next(&p->reader, &row, err);
    if (rc < 0) {
        return changelog_page_handle_error(p, err);
    }
    if (rc == READER_WAIT) {
        *change = (struct change){.kind = CHANGE_WAIT};
        return 1;
    }
    if (rc == READER_ROW) {
        return changelog_page_give_row(p, &row, change, err);
    }
    if (p->stage == STAGE_COMMIT && p->unfinished) {
        return changelog_page_read_again(p, err);
    }
    if (p->stage == STAGE_COMMIT) {
        p->stage = STAGE_CLOSED;
        return 0;
    }
    return changelog_chunk_send_next(p, err);
}

bool changelog_page_drained(const struct changelog_page *p)
{
    const struct page_stretch *w = &p->page.stretch;
    return p->kind == PAGE_LOG && p->position->at.target == NULL && !w->full && w->due == 0;
}

int changelog_page_next(struct changelog_page *p, struct change *change, struct err *err)
{
    int rc = 0;
    if (p->stage == STAGE_CLOSED) {
        return err_set(err, ERR_INTERNAL, "next was called between pages");
    }
    while (rc == 0 && p->stage != STAGE_CLOSED) {
        rc = changelog_page_step(p, change, err);
    }
    return rc;
}
