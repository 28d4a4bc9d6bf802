/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits per request, because a handler has the server and its memory to itself. Most are defaults
 * of the real services, with the same error texts.
 */
#pragma once

#define TARGET_MAX_BYTES 4096  /* path and query: http.max_initial_line_length */
#define TREE_MAX_VALUES 262144 /* body parsed as a tree (up to a KiB per value) */
#define TOKENS_MAX 10000       /* one _analyze: index.analyze.max_token_count */
#define CLAUSES_MAX 1024       /* one query: indices.query.bool.max_clause_count */
#define TERMS_MAX 65536        /* one terms or ids query: index.max_terms_count */
#define SORT_KEYS_MAX 64       /* one search */
#define SOURCE_NAMES_MAX 1024  /* list in _source */
#define ACTIONS_MAX 1000       /* one request to _aliases */
#define FIELDS_MAX 1000        /* added dynamically: index.mapping.total_fields.limit */
#define GUESSES_MAX 65536      /* values with a guessed type per document */
#define INDICES_MAX 1000       /* cluster.max_shards_per_node */
#define PITS_MAX 300           /* search.max_open_pit_context */
#define CONNECTIONS_MAX 256
#define SILENCE_MAX_S 120 /* idle time of a connection */
