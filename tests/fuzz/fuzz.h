/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the fuzz targets. A target is fuzz_X.c with LLVMFuzzerTestOneInput; it reports an error
 * by ending the program with FUZZ_EXPECT. Its corpus is corpus/X.
 */
#pragma once

#include "expect.h"
#include "rowferry/base/buf.h"
#include "rowferry/document/bulk/encode.h"

/* Returns a copy that PostgreSQL could have sent: valid UTF-8 without NUL; other bytes become '?'.
 * It is NUL-terminated, and the caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* One column and its property; a plan has several. */
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
 * Encodes the row (values[0] is the key) between two others and checks the batch. It must contain
 * nothing of a refused row, else two lines, which must be JSON if `json` is set. (PostgreSQL, not
 * the encoder, validates the content of json columns.)
 */
void fuzz_row(const struct fuzz_plan *p, const struct value *values, size_t count, bool json);

/* The first byte chooses a pair, the rest is its value. */
void fuzz_value(const struct fuzz_pair *pairs, size_t count, const uint8_t *data, size_t size);
