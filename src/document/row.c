/* SPDX-License-Identifier: Apache-2.0 */
/* The columns that the catalogue described: finding one, giving them back. */
#include "rowferry/document/row.h"

#include <stdlib.h>
#include <string.h>

void columns_release(struct columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->items[i].name);
        free(c->items[i].type);
        free(c->items[i].element_type);
        free(c->items[i].declared);
    }
    free(c->items);
    *c = (struct columns){0};
}

const struct column *columns_find(const struct columns *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->items[i].name, name) == 0) {
            return &c->items[i];
        }
    }
    return NULL;
}
