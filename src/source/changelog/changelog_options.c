/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a change log: a copy of its own. */
#include <stdlib.h>

#include "changelog/changelog_private.h"
#include "rowferry/base/text.h"

#define PAGE_ROWS 5000
#define PAGE_BLOCKS_COUNT 1024
#define CHUNK_BYTES ((size_t)1 << 20)
#define TEXTS 5

struct options_copy {
    struct changelog_options options; /* must be first; points into the rest */
    char *texts[TEXTS];
    char **key;
    char **columns;
    char **zones;
    struct dependency *dependencies;
};

struct changelog_options *changelog_options_copy(const struct changelog_options *from)
{
    struct options_copy *copy = mem_zero(1, sizeof(*copy));
    struct changelog_options *o = &copy->options;
    *o = *from;
    const char **const texts[TEXTS] = {&o->consumer, &o->table, &o->where, &o->query,
                                       &o->fingerprint};
    for (size_t i = 0; i < TEXTS; i++) {
        copy->texts[i] = *texts[i] != NULL ? text_copy(*texts[i]) : NULL;
        *texts[i] = copy->texts[i];
    }
    copy->key = text_copy_list(from->key, from->key_count);
    copy->columns = text_copy_list(from->columns, from->column_count);
    copy->zones = from->zones != NULL ? text_copy_list(from->zones, from->column_count) : NULL;
    copy->dependencies = depend_copy_all(from->dependencies, from->dependency_count);
    o->key = (const char *const *)copy->key;
    o->columns = (const char *const *)copy->columns;
    o->zones = (const char *const *)copy->zones;
    o->dependencies = copy->dependencies;
    o->page_rows = from->page_rows > 0 ? from->page_rows : PAGE_ROWS;
    o->page_blocks = from->page_blocks > 0 ? from->page_blocks : PAGE_BLOCKS_COUNT;
    o->chunk_bytes = from->chunk_bytes > 0 ? from->chunk_bytes : CHUNK_BYTES;
    return o;
}

void changelog_options_free(struct changelog_options *o)
{
    struct options_copy *copy = (struct options_copy *)o;
    if (copy == NULL) {
        return;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        free(copy->texts[i]);
    }
    text_free_list(copy->key, o->key_count);
    text_free_list(copy->columns, o->column_count);
    text_free_list(copy->zones, o->column_count);
    depend_free_all(copy->dependencies, o->dependency_count);
    free(copy);
}
