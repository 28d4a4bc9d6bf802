/* SPDX-License-Identifier: Apache-2.0 */
/* Counts rejected operations by reason, and decides. */
#include "guard/reject_stats.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* --- name of a reason ------------------------------------------------------------------------ */

/* Returns the text between two markers, or an empty one if they are missing. */
static struct span reject_stats_between(struct span text, const char *before, const char *after)
{
    const char *at = text.len > 0 ? memmem(text.data, text.len, before, strlen(before)) : NULL;
    if (at == NULL) {
        return span_make("", 0);
    }
    at += strlen(before);
    size_t left = text.len - (size_t)(at - text.data);
    const char *end = memmem(at, left, after, strlen(after));
    return end != NULL ? span_make(at, (size_t)(end - at)) : span_make("", 0);
}

/* Extracts the field name from an error of either product: "failed to parse field [price] of type
 * [long]", "dynamic introduction of [price] within", "immense term in field=\"price\"". */
static struct span reject_stats_field_of(struct span reason)
{
    static const char *const marks[][2] = {{"mapping for [", "]"},
                                           {"field [", "]"},
                                           {"introduction of [", "]"},
                                           {"mapper [", "]"},
                                           {"field=\"", "\""}};
    struct span field = span_make("", 0);
    for (size_t i = 0; field.len == 0 && i < sizeof(marks) / sizeof(marks[0]); i++) {
        field = reject_stats_between(reason, marks[i][0], marks[i][1]);
    }
    return field;
}

/* Extracts the column from our own reasons, which have the form: column "price": problem: start of
 * the value. */
static struct span reject_stats_own_reason(struct span reason)
{
    struct span column = reject_stats_between(reason, "column \"", "\": ");
    if (column.len > 0 && reason.data + strlen("column \"") == column.data) {
        return span_make(reason.data, strlen("column \"") + column.len + 1);
    }
    const char *end = reason.len > 0 ? memmem(reason.data, reason.len, ": ", 2) : NULL;
    return span_make(reason.data, end != NULL ? (size_t)(end - reason.data) : reason.len);
}

static void reject_stats_name_reason(char *out, const struct new_letter *letter)
{
    struct buf name;
    buf_init(&name, 2048);
    if (letter->http_status == 0) {
        struct span own = reject_stats_own_reason(letter->reason);
        buf_push(&name, own.data, own.len);
    } else {
        struct span field = reject_stats_field_of(letter->reason);
        if (letter->error_type.len > 0) {
            buf_push(&name, letter->error_type.data, letter->error_type.len);
        } else {
            buf_printf(&name, "status %d", letter->http_status);
        }
        if (field.len > 0) {
            buf_printf(&name, " of field \"%.*s\"", (int)field.len, field.data);
        }
    }
    size_t len = text_cut(buf_text(&name), name.len, GUARD_STOP_REASON_BYTES - 1);
    snprintf(out, GUARD_STOP_REASON_BYTES, "%.*s", (int)len, buf_text(&name));
    buf_release(&name);
}

/* --- counting -------------------------------------------------------------------------------- */

static uint64_t reject_stats_hash_name(const char *name)
{
    return text_hash(name, strlen(name));
}

void reject_stats_init(struct reject_stats *r, const char *permitted, const char *suspect)
{
    *r = (struct reject_stats){.permitted =
                                   permitted[0] != '\0' ? reject_stats_hash_name(permitted) : 0,
                               .suspect = suspect[0] != '\0' ? reject_stats_hash_name(suspect) : 0};
}

void reject_stats_permit(struct reject_stats *r, const char *permitted)
{
    r->permitted = reject_stats_hash_name(permitted);
    for (size_t i = 0; i < r->count; i++) {
        if (r->reasons[i].hash == r->permitted) {
            r->reasons[i] = r->reasons[--r->count];
            return;
        }
    }
}

void reject_stats_begin(struct reject_stats *r)
{
    r->operations = 0;
    r->count = 0;
    r->suspect = 0;
}

/* Counts an operation. A full stretch is checked at once, and kept if too many were rejected. */
void reject_stats_done(struct reject_stats *r)
{
    if (++r->operations >= REJECT_STATS_STRETCH && reject_stats_trips(r, true) == NULL) {
        reject_stats_begin(r);
    }
}

/* Returns the counter of a reason. If all are in use, replaces the rarest one, which cannot be
 * decisive. */
static struct reject_reason *reject_stats_place_of(struct reject_stats *r, uint64_t hash)
{
    struct reject_reason *rarest = r->reasons;
    for (size_t i = 0; i < r->count; i++) {
        if (r->reasons[i].hash == hash) {
            return &r->reasons[i];
        }
        rarest = r->reasons[i].count < rarest->count ? &r->reasons[i] : rarest;
    }
    struct reject_reason *place =
        r->count < REJECT_STATS_REASONS ? &r->reasons[r->count++] : rarest;
    *place = (struct reject_reason){.hash = hash};
    return place;
}

void reject_stats_add(struct reject_stats *r, const struct new_letter *letter)
{
    char name[GUARD_STOP_REASON_BYTES];
    reject_stats_name_reason(name, letter);
    uint64_t hash = reject_stats_hash_name(name);
    if (hash != r->permitted) {
        struct reject_reason *place = reject_stats_place_of(r, hash);
        place->count++;
        memcpy(place->name, name, sizeof(name));
    }
    reject_stats_done(r);
}

/* --- judging --------------------------------------------------------------------------------- */

bool reject_stats_doubt(const struct reject_stats *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->reasons[i].count > REJECT_STATS_COUNT || r->reasons[i].hash == r->suspect) {
            return true;
        }
    }
    return false;
}

const struct reject_reason *reject_stats_trips(const struct reject_stats *r, bool ended)
{
    const struct reject_reason *worst = NULL;
    bool shorter = r->operations < REJECT_STATS_STRETCH;
    double most =
        REJECT_STATS_SHARE * (double)(shorter && !ended ? REJECT_STATS_STRETCH : r->operations);
    for (size_t i = 0; i < r->count; i++) {
        const struct reject_reason *reason = &r->reasons[i];
        if (reason->count > REJECT_STATS_COUNT && (double)reason->count > most &&
            (worst == NULL || reason->count > worst->count)) {
            worst = reason;
        }
    }
    return worst;
}
