/* SPDX-License-Identifier: Apache-2.0 */
/* The server from which an index was last written with this state file. */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct written_place {
    char uuid[64];   /* of the index */
    char place[512]; /* of the server (engine/generation/place.h) */
    bool lost;       /* the place is the one that another process wrote there meanwhile */
};

static inline MUST_CHECK int written_place_write(struct state *s, const struct written_place *p,
                                                 struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_PLACE, p, err);
}

/* *known is false, and *out zero, if nothing was written yet. */
static inline MUST_CHECK int written_place_read(struct state *s, struct written_place *out,
                                                bool *known, struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_PLACE, out, known, err);
}
