/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log's capture and its five parts: the options; the catalogue, which is compared with
 * the source; the position; the page that is being read; and the prescan. changelog.c
 * moves from page to page.
 */
#pragma once

#include "catalog/xmin_holders.h"
#include "changelog/changelog_prescan.h"

#define CHANGELOG_HEARTBEAT_MS                                                                     \
    600000 /* an absent consumer expires after an hour at the earliest                             \
            */

struct changelog {
    struct capture capture; /* must be first */
    struct pg *pg;
    struct changelog_options *options; /* a copy */
    struct catalogue catalogue;
    struct changelog_position position;
    struct changelog_page page;
    struct prescan prescan;
    struct xmin_holders xmin_holders;
    int64_t heartbeat_ms; /* time of the consumer's last heartbeat; 0: none */
};

/* Copies the options, with defaults in place of zeros. */
struct changelog_options *changelog_options_copy(const struct changelog_options *from);
void changelog_options_free(struct changelog_options *o); /* null is allowed */

/* Operations with a single connection. There is no `fd` and no `progress`: source/copy has them. */
extern const struct capture_ops changelog_ops;

/* Makes a change log with a single connection; changelog_ops.free frees it. */
struct changelog *changelog_new(struct pg *pg, const struct changelog_options *options);
void changelog_init(struct changelog *c, struct pg *pg, const struct changelog_options *options);

/* Looks everything up again, after a start, a resume, or an error. */
int changelog_prepare(struct changelog *c, struct err *err) MUST_CHECK;

/* Sends the statements of an open page, and sets its end position. */
int changelog_send_page(struct changelog *c, struct err *err) MUST_CHECK;
