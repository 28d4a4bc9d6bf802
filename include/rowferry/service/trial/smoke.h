/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of the smoke test, each one request that people know from the service's own manual, on
 * an index that is there for it alone: PUT /<index>, POST /<index>/_doc?refresh=wait_for,
 * GET /<index>/_search?q=field:value, DELETE /<index>.
 *
 * The caller orders the steps and removes the index whatever happens. Only an index that these
 * steps made is removed: one that was created bears the trial's token in `_meta`, one that came
 * with its first document must hold that document alone. A 403 names the index privilege that is
 * missing (facts: both products' security documentation names them by action).
 */
#ifndef ROWFERRY_SERVICE_SMOKE_H
#define ROWFERRY_SERVICE_SMOKE_H

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/product.h"

#define SMOKE_TOKEN_BYTES 33
#define SMOKE_ID_BYTES 520

enum smoke_state {
    SMOKE_ABSENT,  /* nothing to remove */
    SMOKE_UNSURE,  /* asked for, the answer was lost */
    SMOKE_PRESENT, /* made by this trial */
};

struct smoke {
    char index[256];
    char token[SMOKE_TOKEN_BYTES]; /* letters and digits: a word that no other document has */
    bool implicit;                 /* the index comes with its first document */
    enum product product;          /* whose words privileges have */
    enum smoke_state state;
    char id[SMOKE_ID_BYTES]; /* of the document, once it is there */
    bool updated;            /* the service said "updated", not "created" */
};

/* The index with a mapping of the document's three fields; of an implicit one only that the name is
 * free. ERR_REJECTED where it is taken. */
int smoke_create(struct service *s, struct smoke *t, struct err *err) MUST_CHECK;

/* Posts the document and waits until it is searchable; wall_us becomes its `@timestamp`. */
int smoke_index(struct service *s, struct smoke *t, int64_t wall_us, struct err *err) MUST_CHECK;

/* Finds the document by `q=message:<token>`; ERR_REJECTED where it is not among the hits. */
int smoke_search(struct service *s, const struct smoke *t, struct err *err) MUST_CHECK;

/* Removes the index and makes the state SMOKE_ABSENT; does nothing where there is none. */
int smoke_remove(struct service *s, struct smoke *t, struct err *err) MUST_CHECK;

#endif
