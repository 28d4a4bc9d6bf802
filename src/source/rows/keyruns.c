/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of integers. */
#include "rows/keyruns.h"

#include <inttypes.h>

#define DIGITS_MAX 19
#define ARRAY_MAX_BYTES ((size_t)256 << 20)

struct key_run {
    int64_t first, last;
    bool open;
};

void keyruns_release(struct keyruns *r)
{
    buf_release(&r->first);
    buf_release(&r->last);
}

static bool keyruns_parse(struct span text, int64_t *out)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    size_t digits = text.len - (negative ? 1 : 0);
    const char *at = text.data + (negative ? 1 : 0);
    int64_t value = 0;
    if (digits == 0 || digits > DIGITS_MAX || (at[0] == '0' && text.len > 1)) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        int digit = at[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

static bool keyruns_extends(struct key_run *run, int64_t value)
{
    if (run->open && value > run->last && value - 1 == run->last) {
        run->last = value;
    } else if (run->open && value < run->first && value + 1 == run->first) {
        run->first = value;
    } else {
        return false;
    }
    return true;
}

static void keyruns_push(struct keyruns *r, const struct key_run *run)
{
    if (run->open) {
        const char *between = r->runs++ > 0 ? "," : "";
        buf_printf(&r->first, "%s%" PRId64, between, run->first);
        buf_printf(&r->last, "%s%" PRId64, between, run->last);
    }
}

void keyruns_make(struct keyruns *r, struct keyset *keys)
{
    struct key_run open[2][DIGITS_MAX + 1] = {{{0}}};
    *r = (struct keyruns){0};
    buf_init(&r->first, ARRAY_MAX_BYTES);
    buf_init(&r->last, ARRAY_MAX_BYTES);
    buf_push_char(&r->first, '{');
    buf_push_char(&r->last, '{');
    for (size_t i = 0; i < keys->count; i++) {
        struct span key = keyset_get(keys, i);
        int64_t value = 0;
        keys->items[i].strange = !keyruns_parse(key, &value);
        if (keys->items[i].strange) {
            continue;
        }
        struct key_run *run = value < 0 ? &open[1][key.len - 1] : &open[0][key.len];
        r->keys++;
        if (!keyruns_extends(run, value)) {
            keyruns_push(r, run);
            *run = (struct key_run){value, value, true};
        }
    }
    for (size_t i = 0; i < 2 * (DIGITS_MAX + 1); i++) {
        keyruns_push(r, &open[i / (DIGITS_MAX + 1)][i % (DIGITS_MAX + 1)]);
    }
    buf_push_char(&r->first, '}');
    buf_push_char(&r->last, '}');
}
