/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. A target is fuzz_X.c with LLVMFuzzerTestOneInput; what it finds
 * wrong ends the program by FUZZ_EXPECT. Its corpus is corpus/X.
 */
#ifndef ROWFERRY_TESTS_FUZZ_H
#define ROWFERRY_TESTS_FUZZ_H

#include "expect.h"
#include "rowferry/base/buf.h"
#include "rowferry/document/bulk/encode.h"

/* A copy that PostgreSQL could have sent: UTF-8 without NUL, what is none becomes '?'. NUL-ended;
 * the caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A plan of pairs, each a column of that type and a property. */
struct fuzz_pair {
    const char *type;     /* pg_type.typname; "x[]", "mood" an enum, "pair(int8,text)" a composite,
                             "int4range(int4)", "int4multirange(int4range(int4))" */
    const char *property; /* JSON */
};

struct fuzz_plan {
    struct mapping mapping;
    struct columns columns;
    struct plan plan;
};

void fuzz_plan(struct fuzz_plan *p, const struct fuzz_pair *pairs, size_t count);

/*
 * Encodes the row (values[0] is the key) between two others and looks at what became of the batch:
 * nothing where it was refused, else two lines, which are JSON where `json` says so (PostgreSQL,
 * not the encoder, checks what json columns hold).
 */
void fuzz_row(const struct fuzz_plan *p, const struct value *values, size_t count, bool json);

/* The first byte chooses a pair, the rest is its value. */
void fuzz_value(const struct fuzz_pair *pairs, size_t count, const uint8_t *data, size_t size);

#endif
