/* SPDX-License-Identifier: Apache-2.0 */
/* The consumer of the change log that belongs to a generation. */
#include "generation/generation.h"

#include "rowferry/base/buf.h"

/* The index may have been deleted and another one created with its name. */
void generation_consumer_name(const struct generation *t, const char *index, const char *uuid,
                              struct buf *out)
{
    buf_reset(out);
    buf_printf(out, "%s/%s/%.8s", t->pipeline, index, uuid);
}

const char *generation_replaced(const struct generation *t)
{
    return buf_text(&t->replaced);
}

void generation_consumer(const struct generation *t, struct buf *out)
{
    const struct checkpoint *c = &t->checkpoint;
    generation_consumer_name(t, c->generation, c->index_uuid != NULL ? c->index_uuid : "", out);
}
