/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much one request may ask for: a handler has the server to itself for as long as it runs, and
 * its memory. Most are the defaults of the real services, with their words.
 */
#ifndef DEVSEARCH_LIMITS_H
#define DEVSEARCH_LIMITS_H

#define TARGET_MAX_BYTES 4096  /* path and query: http.max_initial_line_length */
#define TREE_MAX_VALUES 262144 /* of a body that is read as a tree (each takes up to a KiB) */
#define TOKENS_MAX 10000       /* of one _analyze: index.analyze.max_token_count */
#define CLAUSES_MAX 1024       /* of a query: indices.query.bool.max_clause_count */
#define TERMS_MAX 65536        /* values of one terms or ids query: index.max_terms_count */
#define SORT_KEYS_MAX 64       /* of a search */
#define SOURCE_NAMES_MAX 1024  /* of the list in _source */
#define ACTIONS_MAX 1000       /* of one request to _aliases */
#define FIELDS_MAX 1000        /* that documents add: index.mapping.total_fields.limit */
#define GUESSES_MAX 65536      /* values of a document whose types are guessed */
#define INDICES_MAX 1000       /* cluster.max_shards_per_node */
#define PITS_MAX 300           /* search.max_open_pit_context */
#define CONNECTIONS_MAX 256
#define SILENCE_MAX_S 120 /* of a connection */

#endif
