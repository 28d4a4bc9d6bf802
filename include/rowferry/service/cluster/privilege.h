/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the account of the credential may do: too little, too much, or not to be told. Changes
 * nothing.
 *
 * Elasticsearch is asked (_security/user/_has_privileges answers for whoever asks). OpenSearch has
 * no such question for an account of its own: requests are sent that can do nothing, because no
 * index can have the name that they are about (upper case letters, by chance), and the words of a
 * refusal name the privilege. Every name that a pipeline sends is its alias or begins with it.
 */
#ifndef ROWFERRY_SERVICE_PRIVILEGE_H
#define ROWFERRY_SERVICE_PRIVILEGE_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/product.h"

enum account_state {
    ACCOUNT_KNOWN,
    ACCOUNT_OPEN,   /* the service asks nobody who he is */
    ACCOUNT_UNSEEN, /* `why` says what kept it from being seen */
};

struct account {
    enum account_state state;
    char name[128];
    char administrator[160]; /* what makes it one; empty: nothing that can be seen */
    struct buf surplus;      /* what it may do beyond its pipelines, "a, b"; empty: nothing seen */
    char why[256];
};

/* aliases: of all pipelines, null-terminated. Negative only where no answer arrives. */
int account_look(struct service *s, const struct product_info *product, struct account *out,
                 struct err *err) MUST_CHECK;
void account_release(struct account *a);

/* Appends what the account lacks for a pipeline of this alias, "a, b" in the product's words;
 * nothing where it lacks nothing that can be seen. *told: false where nothing can be told. */
int privilege_missing(struct service *s, const struct product_info *product, const char *alias,
                      struct buf *missing, bool *told, struct err *err) MUST_CHECK;

/* Appends the request that makes a role with exactly what a pipeline of this alias needs; of
 * Elasticsearch also an API key, whose privileges are its own. */
void privilege_push_grant(struct buf *out, enum product product, bool key, const char *alias);

#endif
