/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary results of a server. The first byte chooses the declared shape, the second the number
 * of columns. Each value is a byte with its length (255: NULL) and its text. If a result fits, its
 * values can be read as declared.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "pg/pg_shape.h"
#include "rowferry/base/text.h"

#define COLUMNS_MOST 8
#define ROWS_MOST 16
#define IS_NULL 255

static const char *const shapes[] = {"none",       "one: int",        "maybe: bool, text?",
                                     "any: int?*", "any: text, int?", "one: bool?, int*"};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static PGresult *make(const uint8_t *data, size_t size, int columns)
{
    char name[] = "c";
    PGresAttDesc attributes[COLUMNS_MOST] = {{0}};
    PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (int i = 0; i < columns; i++) {
        attributes[i].name = name;
    }
    PQsetResultAttrs(r, columns, attributes);
    for (int cell = 0; columns > 0 && size > 0 && cell < columns * ROWS_MOST; cell++) {
        size_t len = data[0];
        bool null = len == IS_NULL;
        len = null ? 0 : len < size - 1 ? len : size - 1;
        char *value = text_copy_span(span_make((const char *)data + 1, len));
        PQsetvalue(r, cell / columns, cell % columns, value, null ? -1 : (int)strlen(value));
        free(value);
        data += 1 + len;
        size -= 1 + len;
    }
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[160] = "";
    if (size < 2) {
        return 0;
    }
    const char *shape = shapes[data[0] % SHAPES];
    PGresult *r = make(data + 2, size - 2, data[1] % (COLUMNS_MOST + 1));
    bool fits = pg_shape_fits(shape, r, why, sizeof(why));
    FUZZ_EXPECT(fits == (why[0] == '\0'), "%s: \"%s\"", shape, why);
    if (fits && strncmp(shape, "one: int", 8) == 0) {
        char *end;
        FUZZ_EXPECT(PQntuples(r) == 1 && PQnfields(r) == 1 && !PQgetisnull(r, 0, 0), "no %s",
                    shape);
        (void)strtoll(PQgetvalue(r, 0, 0), &end, 10);
        FUZZ_EXPECT(*end == '\0' && end != PQgetvalue(r, 0, 0), "no number");
    }
    if (fits && strncmp(shape, "maybe", 5) == 0 && PQntuples(r) == 1) {
        FUZZ_EXPECT(PQnfields(r) == 2 && strlen(PQgetvalue(r, 0, 0)) == 1, "no %s", shape);
    }
    PQclear(r);
    return 0;
}
