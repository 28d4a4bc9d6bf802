/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the privileges of the configured account: missing ones, surplus ones, or unknown. Changes
 * nothing.
 *
 * Elasticsearch reports them (_security/user/_has_privileges answers for the calling account).
 * OpenSearch has no such request. There we send harmless requests about an index name that cannot
 * exist (random, with upper case letters), and read the missing privilege from the error text.
 * Every name that a pipeline sends is its alias or begins with it.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/product.h"

enum account_state {
    ACCOUNT_KNOWN,
    ACCOUNT_OPEN,   /* the service does not authenticate */
    ACCOUNT_UNSEEN, /* unknown; `why` has the reason */
};

struct account {
    enum account_state state;
    char name[128];
    char administrator[160]; /* evidence that it is an administrator; empty if none is visible */
    struct buf
        surplus; /* privileges beyond its pipelines' needs, "a, b"; empty if none is visible */
    char why[256];
};

/* Looks up the account of the credential. Negative only if no answer arrives. */
int privilege_account_look(struct service *s, const struct product_info *product,
                           struct account *out, struct err *err) MUST_CHECK;
void privilege_account_release(struct account *a);

/* Returns ERR_REJECTED if options.refuse_admin is set and the account is visibly an administrator.
 * *accounts is false if the service does not authenticate. Costs one or two requests. */
int privilege_refuse_admin(struct service *s, const struct product_info *product, bool *accounts,
                           struct err *err) MUST_CHECK;

/* Appends the privileges that the account lacks for a pipeline of this alias, "a, b" in the
 * product's terms; nothing if none is visibly missing. *told is false if the privileges cannot be
 * determined. */
int privilege_missing(struct service *s, const struct product_info *product, const char *alias,
                      struct buf *missing, bool *told, struct err *err) MUST_CHECK;

/* Appends the request that creates a role with exactly the privileges for a pipeline of this alias.
 * If key is true, for Elasticsearch also an API key with privileges of its own. */
void privilege_push_grant(struct buf *out, enum product product, bool key, const char *alias);
