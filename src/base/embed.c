/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup in the tables of embedded files. */
#include "rowferry/base/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *embed_text(const struct embedded *table, const char *name)
{
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0) {
            return table->text;
        }
    }
    fprintf(stderr, "rowferry: no embedded file \"%s\"\n", name);
    abort();
}
