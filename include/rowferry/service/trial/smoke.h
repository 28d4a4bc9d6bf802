/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the smoke test. Each is one well-known request of the service's manual on a separate
 * index: PUT /<index>, POST /<index>/_doc?refresh=wait_for, GET /<index>/_search?q=field:value,
 * DELETE /<index>.
 *
 * The caller orders the steps and always removes the index. Only an index that these steps made is
 * removed. A created index carries the trial's token in `_meta`; an index that came with its first
 * document must hold only that document. On a 403 the error names the missing index privilege
 * (source: both products' security documentation, which lists privileges by action).
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/product.h"

#define SMOKE_TOKEN_BYTES 33
#define SMOKE_ID_BYTES 520

enum smoke_state {
    SMOKE_ABSENT,  /* nothing to remove */
    SMOKE_UNSURE,  /* requested, but the answer was lost */
    SMOKE_PRESENT, /* made by this trial */
};

struct smoke {
    char index[256];
    char token[SMOKE_TOKEN_BYTES]; /* letters and digits: a word that no other document contains */
    bool implicit;                 /* the index is created by its first document */
    enum product product;          /* selects the names of privileges */
    enum smoke_state state;
    char id[SMOKE_ID_BYTES]; /* id of the document, once it exists */
    bool updated;            /* the service answered "updated", not "created" */
};

/* Creates the index with a mapping of the document's three fields. If the index is implicit, only
 * checks that the name is free. ERR_REJECTED if the name is taken. */
int smoke_create(struct service *s, struct smoke *t, struct err *err) MUST_CHECK;

/* Posts the document and waits until it is searchable; wall_us becomes its `@timestamp`. */
int smoke_index(struct service *s, struct smoke *t, int64_t wall_us, struct err *err) MUST_CHECK;

/* Searches for `q=message:<token>`; ERR_REJECTED if the document is not among the hits. */
int smoke_search(struct service *s, const struct smoke *t, struct err *err) MUST_CHECK;

/* Removes the index and sets SMOKE_ABSENT; does nothing if the state is SMOKE_ABSENT. */
int smoke_remove(struct service *s, struct smoke *t, struct err *err) MUST_CHECK;
