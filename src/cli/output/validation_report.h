/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of a trial, as lines, as a JSON object, and as a section of a page. Pure.
 */
#ifndef ROWFERRY_CLI_VALIDATION_REPORT_H
#define ROWFERRY_CLI_VALIDATION_REPORT_H

#include "rowferry/base/buf.h"
#include "rowferry/engine/validate/validate.h"

struct validated {
    const char *pipeline;
    const struct validate_report *report;
    enum exit_code code;
    const struct err *err; /* the error that ended it; null if none */
    int64_t took_us;
    int64_t wall_us; /* time of its end */
};

/* Returns false if it ended before there was an index: only the error can be reported then. */
bool validated_tried(const struct validated *v);

void validated_push_text(struct buf *out, const struct validated *v, bool colours);
void validated_push_json(struct buf *out, const struct validated *v);

/* Appends a section of the page (validation_page.c). */
void validated_push_section(struct buf *out, const struct validated *v);
/* Appends the whole page around its sections. */
void validated_push_page(struct buf *out, const struct buf *sections, bool good);

#endif
