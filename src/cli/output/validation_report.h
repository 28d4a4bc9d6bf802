/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of a trial, as lines, as a JSON object, and as a section of a page. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/engine/validate/validate.h"

/* What was tried, from the configuration, without credentials. */
struct validation_subject {
    const char *table;
    bool query;         /* rows are those of a query over the table */
    const char *source; /* as pg_place has it */
    const char *alias;
    const char *service; /* its hosts */
};

struct validation_report {
    const char *pipeline;
    const struct validation_subject *subject;
    const struct validate_report *report;
    enum exit_code code;
    const struct err *err; /* the error that ended it; null if none */
    int64_t took_us;
    int64_t wall_us; /* time of its end */
};

/* Returns false if it ended before there was an index: only the error can be reported then. */
bool validation_report_tried(const struct validation_report *v);

void validation_report_push_text(struct buf *out, const struct validation_report *v, bool colours);
void validation_report_push_json(struct buf *out, const struct validation_report *v);

/* Appends a section of the page (validation_page.c). */
void validation_report_push_section(struct buf *out, const struct validation_report *v);
/* Appends the whole page around its sections. Only a script with the nonce runs in it. */
void validation_report_push_page(struct buf *out, const struct buf *sections, bool good,
                                 uint64_t nonce);
