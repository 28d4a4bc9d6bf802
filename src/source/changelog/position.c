/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of the change log: text and order. */
#include "changelog/position.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/text.h"

#define RANGES_MOST 64 /* eight connections leave at most eight ranges */

void position_copy_range_release(struct copy_range *r)
{
    free(r->key);
    free(r->until);
    *r = (struct copy_range){0};
}

void position_copy_range_copy(struct copy_range *to, const struct copy_range *from)
{
    struct copy_range copy = *from;
    copy.key = from->key != NULL ? text_copy(from->key) : NULL;
    copy.until = from->until != NULL ? text_copy(from->until) : NULL;
    position_copy_range_release(to);
    *to = copy;
}

void position_release(struct position *p)
{
    for (size_t i = 0; i < p->other_count; i++) {
        position_copy_range_release(&p->others[i]);
    }
    free(p->others);
    free(p->last);
    free(p->key);
    free(p->until);
    free(p->target);
    *p = (struct position){0};
}

void position_copy(struct position *to, const struct position *from)
{
    struct position copy = *from;
    copy.last = from->last != NULL ? text_copy(from->last) : NULL;
    copy.key = from->key != NULL ? text_copy(from->key) : NULL;
    copy.until = from->until != NULL ? text_copy(from->until) : NULL;
    copy.others = from->other_count > 0 ? mem_zero(from->other_count, sizeof(*copy.others)) : NULL;
    for (size_t i = 0; i < from->other_count; i++) {
        position_copy_range_copy(&copy.others[i], &from->others[i]);
    }
    copy.target = from->target != NULL ? text_copy(from->target) : NULL;
    position_release(to);
    *to = copy;
}

/* Reads digits; returns false if there are none or too many. */
static bool position_take_number(const char **at, uint64_t *out)
{
    if (!ascii_is_digit(**at)) {
        return false;
    }
    errno = 0;
    char *end = NULL;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

static bool position_take(const char **at, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(*at, word, len) != 0) {
        return false;
    }
    *at += len;
    return true;
}

/* Takes the bytes up to the next blank or the end; returns false if there are none. */
static bool position_take_word(const char **at, struct span *out)
{
    size_t len = strcspn(*at, " ");
    *out = span_make(*at, len);
    *at += len;
    return len > 0;
}

bool position_snapshot_parse(struct snapshot *out, const char *text)
{
    *out = (struct snapshot){0};
    if (!position_take_number(&text, &out->xmin) || !position_take(&text, ":") ||
        !position_take_number(&text, &out->xmax) || !position_take(&text, ":")) {
        return false;
    }
    while (*text != '\0') {
        uint64_t xid = 0;
        if ((out->running > 0 && !position_take(&text, ",")) ||
            !position_take_number(&text, &xid) || xid < out->xmin || xid >= out->xmax) {
            return false;
        }
        out->running++;
    }
    return out->xmin <= out->xmax;
}

static bool position_take_snapshot(const char **at, char **out)
{
    struct span word;
    struct snapshot checked;
    if (!position_take_word(at, &word)) {
        return false;
    }
    *out = text_copy_span(word);
    return position_snapshot_parse(&checked, *out);
}

/* Reverses push_word; returns null if the word is malformed. */
static char *position_word_decode(struct span word)
{
    char *out = mem_zero(word.len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] != '%') {
            out[n++] = word.data[i];
            continue;
        }
        int byte = ascii_hex_byte(word.data + i + 1, word.len - i - 1);
        if (byte <= 0) {
            free(out);
            return NULL;
        }
        out[n++] = (char)byte;
        i += 2;
    }
    return out;
}

/* Pushes a key as one word: blank, '%' and control characters as %hh. A final '.' makes the empty
 * key a word too. */
static void position_push_word(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c == '%' || c == 0x7f) {
            buf_printf(out, "%%%02x", c);
        } else {
            buf_push_char(out, *text);
        }
    }
    buf_push_literal(out, ".");
}

static struct copy_range *position_add_range(struct position *p)
{
    p->others = mem_grow(p->others, p->other_count + 1, sizeof(*p->others));
    p->others[p->other_count] = (struct copy_range){0};
    return &p->others[p->other_count++];
}

/* Takes an escaped key or value. */
static bool position_take_key(const char **at, char **out)
{
    struct span word;
    if (!position_take_word(at, &word) || word.data[word.len - 1] != '.') {
        return false;
    }
    *out = position_word_decode(span_make(word.data, word.len - 1));
    return *out != NULL;
}

static bool position_take_key_range(const char **at, struct copy_range *r)
{
    bool begins = true;
    if (position_take(at, "nulls")) {
        r->range = KEY_RANGE_NULLS;
    } else if (position_take(at, "first")) {
        r->range = KEY_RANGE_FIRST;
    } else if (position_take(at, "after ")) {
        r->range = KEY_RANGE_AFTER;
        begins = position_take_key(at, &r->key);
    } else {
        r->range = KEY_RANGE_BEYOND;
        begins = position_take(at, "beyond ") && position_take_key(at, &r->key);
    }
    return begins && (!position_take(at, " until ") || position_take_key(at, &r->until));
}

static bool position_take_key_ranges(const char **at, struct position *p)
{
    struct copy_range first = {0};
    p->kind = POSITION_KEYS;
    bool good = position_take_key_range(at, &first);
    p->range = first.range;
    p->key = first.key;
    p->until = first.until;
    while (good && position_take(at, " and ")) {
        good = p->other_count < RANGES_MOST && position_take_key_range(at, position_add_range(p));
    }
    return good;
}

/* Takes the ranges in progress, then the start of the rest. */
static bool position_take_block_ranges(const char **at, struct position *p)
{
    uint64_t filenode = 0;
    p->kind = POSITION_BLOCKS;
    if (!position_take_number(at, &filenode) || filenode > UINT32_MAX || !position_take(at, " ") ||
        !position_take_number(at, &p->block)) {
        return false;
    }
    p->filenode = (uint32_t)filenode;
    while (position_take(at, "-")) {
        struct copy_range *r = position_add_range(p);
        r->block = p->block;
        if (!position_take_number(at, &r->end) || r->end < r->block || !position_take(at, " ") ||
            !position_take_number(at, &p->block) || p->other_count > RANGES_MOST) {
            return false;
        }
    }
    return position_take(at, "/") && position_take_number(at, &p->blocks);
}

static bool position_take_log(const char **at, struct position *p)
{
    p->kind = POSITION_LOG;
    if (!position_take_snapshot(at, &p->last)) {
        return false;
    }
    if (**at == '\0' || strncmp(*at, " on ", 4) == 0) {
        return true;
    }
    uint64_t part = 0;
    uint64_t seq = 0;
    if (!position_take(at, " to ") || !position_take_snapshot(at, &p->target) ||
        !position_take(at, " after ") || !position_take_number(at, &part) || part < 1 || part > 2 ||
        !position_take(at, " ") || !position_take_number(at, &p->after_xid) ||
        !position_take(at, " ") || !position_take_number(at, &seq) || seq > INT64_MAX) {
        return false;
    }
    p->part = (int)part;
    p->after_seq = (int64_t)seq;
    return !position_take(at, " of ") || (position_take_number(at, &p->of) && p->of > 0);
}

static bool position_take_oid(const char **at, uint32_t *out)
{
    uint64_t oid = 0;
    bool good = position_take_number(at, &oid) && oid > 0 && oid <= UINT32_MAX;
    *out = (uint32_t)oid;
    return good;
}

static bool position_take_timeline(const char **at, struct position *p)
{
    if (!position_take(at, " on ")) {
        return **at == '\0';
    }
    bool known = position_take_number(at, &p->timeline);
    p->again = position_take(at, " again");
    if (known && position_take(at, " since ")) {
        known = position_take_number(at, &p->since) && p->since > 0 && position_take(at, " in ") &&
                position_take_oid(at, &p->table);
        if (known && position_take(at, " of ")) {
            known = position_take_oid(at, &p->database) && position_take(at, " at ") &&
                    position_take_number(at, &p->life) && p->life > 0;
        }
    }
    return known && (p->timeline > 0 || p->since > 0) && **at == '\0';
}

static bool position_parse_fields(struct position *p, const char *at)
{
    if (position_take(&at, "log ")) {
        return position_take_log(&at, p) && position_take_timeline(&at, p);
    }
    if (!position_take(&at, "copy ")) {
        return false;
    }
    bool copy = position_take(&at, "keys ") ? position_take_key_ranges(&at, p)
                                            : position_take_block_ranges(&at, p);
    return copy && position_take(&at, " from ") && position_take_snapshot(&at, &p->last) &&
           position_take_timeline(&at, p);
}

int position_parse(struct position *out, const char *text, struct err *err)
{
    struct position p = {0};
    if (!position_parse_fields(&p, text)) {
        position_release(&p);
        err_set(err, ERR_STATE, "\"%.100s\" is not a position of a change log", text);
        err_hint(err, POSITION_REBUILD_HINT);
        return err_drift(err);
    }
    position_release(out);
    *out = p;
    return 0;
}

static void position_print_key_range(struct buf *out, const struct copy_range *r)
{
    static const char *const names[] = {"nulls", "first", "after ", "beyond "};
    buf_push_text(out, names[r->range]);
    if (r->key != NULL) {
        position_push_word(out, r->key);
    }
    if (r->until != NULL) {
        buf_push_literal(out, " until ");
        position_push_word(out, r->until);
    }
}

static void position_print_key_ranges(struct buf *out, const struct position *p)
{
    const struct copy_range first = {.range = p->range, .key = p->key, .until = p->until};
    buf_push_literal(out, "copy keys ");
    position_print_key_range(out, &first);
    for (size_t i = 0; i < p->other_count; i++) {
        buf_push_literal(out, " and ");
        position_print_key_range(out, &p->others[i]);
    }
}

static void position_print_block_ranges(struct buf *out, const struct position *p)
{
    buf_printf(out, "copy %" PRIu32 " ", p->filenode);
    for (size_t i = 0; i < p->other_count; i++) {
        buf_printf(out, "%" PRIu64 "-%" PRIu64 " ", p->others[i].block, p->others[i].end);
    }
    buf_printf(out, "%" PRIu64 "/%" PRIu64, p->block, p->blocks);
}

static void position_print_stretch(struct buf *out, const struct position *p)
{
    buf_printf(out, " to %s after %d %" PRIu64 " %" PRId64, p->target, p->part, p->after_xid,
               p->after_seq);
    if (p->of > 0) {
        buf_printf(out, " of %" PRIu64, p->of);
    }
}

static void position_print_place(struct buf *out, const struct position *p)
{
    if (p->kind == POSITION_LOG) {
        buf_printf(out, "log %s", p->last);
        if (p->target != NULL) {
            position_print_stretch(out, p);
        }
        return;
    }
    if (p->kind == POSITION_BLOCKS) {
        position_print_block_ranges(out, p);
    } else {
        position_print_key_ranges(out, p);
    }
    buf_printf(out, " from %s", p->last);
}

void position_print_history(struct buf *out, const struct position *p)
{
    if (p->timeline > 0 || p->since > 0) {
        buf_printf(out, " on %" PRIu64 "%s", p->timeline, p->again ? " again" : "");
    }
    if (p->since > 0) {
        buf_printf(out, " since %" PRIu64 " in %" PRIu32, p->since, p->table);
        if (p->life > 0) {
            buf_printf(out, " of %" PRIu32 " at %" PRIu64, p->database, p->life);
        }
    }
}

void position_print(struct buf *out, const struct position *p)
{
    position_print_place(out, p);
    position_print_history(out, p);
}

static int position_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Of two snapshots with the same bounds, the one with fewer running transactions is later. */
static int position_snapshot_compare(const char *a, const char *b)
{
    struct snapshot x, y;
    if (!position_snapshot_parse(&x, a) || !position_snapshot_parse(&y, b)) {
        return 0;
    }
    int by_xmax = position_order(x.xmax, y.xmax);
    int by_xmin = position_order(x.xmin, y.xmin);
    return by_xmax != 0 ? by_xmax : by_xmin != 0 ? by_xmin : position_order(y.running, x.running);
}

static uint64_t position_blocks_left(const struct position *p)
{
    uint64_t left = p->blocks > p->block ? p->blocks - p->block : 0;
    for (size_t i = 0; i < p->other_count; i++) {
        left += p->others[i].end - p->others[i].block;
    }
    return left;
}

double position_share(const struct position *p)
{
    uint64_t left = position_blocks_left(p);
    return left < p->blocks ? 1 - (double)left / (double)p->blocks : p->blocks == 0;
}

/* Compares by the remaining blocks, because ranges only shrink. */
static int position_compare_copy(const struct position *a, const struct position *b)
{
    if (a->kind != b->kind || a->kind != POSITION_BLOCKS || a->filenode != b->filenode) {
        return 0; /* restarted load: not comparable */
    }
    return position_order(position_blocks_left(b), position_blocks_left(a));
}

static int position_compare_stretch(const struct position *a, const struct position *b)
{
    if (a->target == NULL || b->target == NULL) {
        return (a->target != NULL) - (b->target != NULL);
    }
    int by_capture = position_order(a->of, b->of);
    int by_part = by_capture != 0 ? by_capture : a->part - b->part;
    int by_xid = position_order(a->after_xid, b->after_xid);
    return by_part != 0  ? by_part
           : by_xid != 0 ? by_xid
                         : position_order((uint64_t)a->after_seq, (uint64_t)b->after_seq);
}

int position_compare(const struct position *a, const struct position *b)
{
    bool log_a = a->kind == POSITION_LOG;
    bool log_b = b->kind == POSITION_LOG;
    int by_last = position_snapshot_compare(a->last, b->last);
    if (by_last != 0) {
        return by_last;
    }
    if (log_a != log_b) {
        return log_a - log_b;
    }
    return log_a ? position_compare_stretch(a, b) : position_compare_copy(a, b);
}

int position_check_table(uint32_t was, uint32_t is, const char *quoted, struct err *err)
{
    if (was == 0 || was == is) {
        return 0;
    }
    err_set(err, ERR_STATE, "table %s was re-created since the load of the index began", quoted);
    err_hint(err, POSITION_REBUILD_HINT);
    return err_drift(err);
}
