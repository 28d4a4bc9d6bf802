/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much room an index takes and how much is left: _stats of the index, and where the credential
 * may ask, the fullest disk of the cluster and its low watermark.
 */
#ifndef ROWFERRY_SERVICE_STORAGE_H
#define ROWFERRY_SERVICE_STORAGE_H

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

struct storage {
    int64_t bytes;      /* of all copies of the index */
    int64_t room_bytes; /* until the low watermark of the fullest node; negative = not known */
};

/* ERR_REJECTED where the credential may not ask for the index's own numbers. */
int storage_look(struct service *s, const char *index, struct storage *out,
                 struct err *err) MUST_CHECK;

/* The room alone; negative where the credential may not ask. */
int storage_room_of_cluster(struct service *s, int64_t *room_bytes, struct err *err) MUST_CHECK;

/* The room that a disk has below a watermark as the products write it: "85%", "0.85" (of the total
 * that may be used) or "50gb" (that must stay free). Negative where the text is neither. Pure. */
int64_t storage_room(const char *watermark, int64_t total_bytes, int64_t available_bytes);

#endif
