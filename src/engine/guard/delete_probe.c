/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which counted deletes have a document in the index. */
#include "guard/deletes_private.h"

#include <string.h>

void delete_probe_begin(struct deletes *d)
{
    buf_reset(&d->probe.names);
    d->probe.named = 0;
    d->probe.level = 0;
    hashset_release(&d->probe.idle);
}

static uint64_t delete_probe_hash_of(struct span key)
{
    return text_hash(key.data, key.len);
}

/* Returns the name at offset `from`. Keys contain no NUL. */
static struct span delete_probe_name_at(const struct deletes *d, size_t from)
{
    const char *name = buf_text(&d->probe.names) + from;
    return span_make(name, strlen(name));
}

/* Drops the names that the guard does not keep any more. */
static void delete_probe_sort_out(struct deletes *d)
{
    size_t to = 0;
    for (size_t from = 0; from < d->probe.names.len;) {
        struct span name = delete_probe_name_at(d, from);
        from += name.len + 1;
        if (hashset_has(&d->guard.kept, delete_probe_hash_of(name))) {
            memmove(d->probe.names.data + to, name.data, name.len + 1);
            to += name.len + 1;
        }
    }
    d->probe.names.len = to;
    d->probe.level = d->guard.level;
}

void delete_probe_foresee(struct deletes *d, struct span key)
{
    if (guard_foresee(&d->guard, delete_probe_hash_of(key))) {
        buf_push(&d->probe.names, key.data, key.len);
        buf_push(&d->probe.names, "", 1);
    }
    if (d->probe.level != d->guard.level) {
        delete_probe_sort_out(d);
    }
}

static int delete_probe_ask(struct deletes *d, const struct span *keys, size_t count,
                            struct err *err)
{
    bool found[PRESENT_MAX];
    const struct service_port *s = &d->view->service;
    int rc = s->ops->present(s->self, d->view->target.index, keys, count, found, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!found[i]) {
            guard_unsee(&d->guard, delete_probe_hash_of(keys[i]));
            hashset_add(&d->probe.idle, delete_probe_hash_of(keys[i]));
        }
    }
    return rc;
}

int delete_probe_next(struct deletes *d, bool *more, struct err *err)
{
    struct span keys[PRESENT_MAX];
    size_t count = 0;
    size_t at = d->probe.named;
    while (count < PRESENT_MAX && at < d->probe.names.len) {
        keys[count] = delete_probe_name_at(d, at);
        at += keys[count++].len + 1;
    }
    int rc = count > 0 ? delete_probe_ask(d, keys, count, err) : 0;
    d->probe.named = rc == 0 ? at : d->probe.named;
    *more = d->probe.named < d->probe.names.len;
    return rc;
}

void delete_probe_one(struct deletes *d, struct span key)
{
    struct err ignored;
    (void)!delete_probe_ask(d, &key, 1, &ignored);
}
