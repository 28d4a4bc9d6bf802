/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trial found, as lines for people, as a JSON object, and as a part of a page. Pure.
 */
#ifndef ROWFERRY_CLI_VALIDATION_REPORT_H
#define ROWFERRY_CLI_VALIDATION_REPORT_H

#include "rowferry/base/buf.h"
#include "rowferry/engine/validate/validate.h"

struct validated {
    const char *pipeline;
    const struct validate_report *report;
    enum exit_code code;
    const struct err *err; /* what kept it from going on; null: nothing */
    int64_t took_us;
    int64_t wall_us; /* when it ended */
};

/* False where it ended before there was an index: all that is to be told is the reason. */
bool validated_tried(const struct validated *v);

void validated_push_text(struct buf *out, const struct validated *v, bool colours);
void validated_push_json(struct buf *out, const struct validated *v);

/* A section of the page (validated_page.c). */
void validated_push_section(struct buf *out, const struct validated *v);
/* The whole page around its sections. */
void validated_push_page(struct buf *out, const struct buf *sections, bool good);

#endif
