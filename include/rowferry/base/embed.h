/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text files that are compiled into the program: migrations, HTML pages and shell
 * completions. cmake/Embed.cmake generates the tables.
 */
#pragma once

struct embedded {
    const char *name; /* file name without its extension; null ends a table */
    const char *text;
};

extern const struct embedded source_sql[];
extern const struct embedded service_tested[];
extern const struct embedded state_sql[];
extern const struct embedded serve_html[];
extern const struct embedded cli_completion[];
extern const struct embedded cli_html[];

/* Returns the text of that name. Aborts if the table does not have it, which is a bug that any test
 * would find. */
const char *embed_text(const struct embedded *table, const char *name);
