/* SPDX-License-Identifier: Apache-2.0 */
/* Columns from the catalogue: lookup and release. */
#include "rowferry/document/model/row.h"

#include <stdlib.h>
#include <string.h>

void row_column_release(struct column *c)
{
    for (size_t i = 0; i < c->part_count; i++) {
        row_column_release(&c->parts[i]);
    }
    free(c->parts);
    free(c->name);
    free(c->type);
    free(c->declared);
    *c = (struct column){0};
}

void row_columns_release(struct columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        row_column_release(&c->items[i]);
    }
    free(c->items);
    *c = (struct columns){0};
}

const struct column *row_columns_find(const struct columns *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->items[i].name, name) == 0) {
            return &c->items[i];
        }
    }
    return NULL;
}
