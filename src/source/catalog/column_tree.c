/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a tree for each column from types that refer to their parts. */
#include "catalog/catalog_private.h"

#include <inttypes.h>

#include "rowferry/base/text.h"

enum { OWNER, TYPE, NAME, DECLARED, TYPE_NAME, KIND, DELIMITER, NOT_NULL, OPERATORS };

struct tree {
    const struct pg_result *rows;
    size_t count;
    size_t parts_left;
};

struct stretch {
    size_t first;
    size_t count;
};

/* Returns the rows of one owner's parts; rows are ordered by owner. */
static struct stretch column_tree_parts_of(const struct tree *t, int64_t owner)
{
    size_t low = 0;
    size_t high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pg_int(t->rows, middle, OWNER) < owner) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct stretch s = {.first = low};
    while (low + s.count < t->count && pg_int(t->rows, low + s.count, OWNER) == owner) {
        s.count++;
    }
    return s;
}

/* Returns the row of a domain's base type, through nested domains; the row itself if it is not a
 * domain. Missing types and cycles are not followed. */
static size_t column_tree_base_row(const struct tree *t, size_t row)
{
    for (size_t i = 0; i < t->count && pg_text(t->rows, row, KIND)[0] == 'd'; i++) {
        struct stretch parts = column_tree_parts_of(t, pg_int(t->rows, row, TYPE));
        row = parts.count > 0 ? parts.first : row;
    }
    return row;
}

static void column_tree_fill(struct tree *t, struct column *c, size_t row, int depth)
{
    size_t base = column_tree_base_row(t, row);
    const char *name = pg_text(t->rows, row, NAME);
    struct stretch parts = column_tree_parts_of(t, pg_int(t->rows, base, TYPE));
    bool fits = depth < COLUMN_MAX_DEPTH && parts.count <= t->parts_left;
    *c = (struct column){
        .name = text_copy(name != NULL ? name : pg_text(t->rows, row, DECLARED)),
        .type = text_copy(pg_text(t->rows, base, TYPE_NAME)),
        .declared = text_copy(pg_text(t->rows, row, DECLARED)),
        .category = fits ? pg_text(t->rows, base, KIND)[0] : 'b',
        .delimiter = pg_text(t->rows, base, DELIMITER)[0],
        .not_null = pg_true(t->rows, row, NOT_NULL),
        .oid = (uint32_t)pg_int(t->rows, base, TYPE),
    };
    if (!fits || parts.count == 0) {
        return;
    }
    t->parts_left -= parts.count;
    c->part_count = parts.count;
    c->parts = mem_zero(parts.count, sizeof(*c->parts));
    for (size_t i = 0; i < parts.count; i++) {
        column_tree_fill(t, &c->parts[i], parts.first + i, depth + 1);
    }
}

void column_push_types(struct buf *out, const struct column *c)
{
    if (c->category == 'c' || c->category == 'e') {
        buf_printf(out, "%s%" PRIu32, out->len > 0 ? "," : "{", c->oid);
    }
    for (size_t i = 0; i < c->part_count; i++) {
        column_push_types(out, &c->parts[i]);
    }
}

void column_tree(struct columns *out, char ***operators, const struct pg_result *rows)
{
    struct tree t = {rows, pg_rows(rows), COLUMN_MAX_PARTS};
    size_t count = column_tree_parts_of(&t, 0).count;
    *out = (struct columns){mem_zero(count + 1, sizeof(*out->items)), count};
    *operators = mem_zero(count + 1, sizeof(**operators));
    for (size_t i = 0; i < count; i++) {
        column_tree_fill(&t, &out->items[i], i, 0);
        (*operators)[i] = text_copy(pg_text(rows, column_tree_base_row(&t, i), OPERATORS));
    }
}
