/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of migrations/, the pages, the manual's prose, the shells' completions: as texts in
 * the program (cmake/Embed.cmake generates the tables).
 */
#ifndef ROWFERRY_BASE_EMBED_H
#define ROWFERRY_BASE_EMBED_H

struct embedded {
    const char *name; /* the file's name without its extension; null ends a table */
    const char *text;
};

extern const struct embedded source_sql[];
extern const struct embedded state_sql[];
extern const struct embedded serve_html[];
extern const struct embedded cli_completion[];
extern const struct embedded cli_mdoc[];
extern const struct embedded cli_html[];

/* The text of that name; aborts where there is none (a bug of ours, found by any test). */
const char *embedded_text(const struct embedded *table, const char *name);

#endif
