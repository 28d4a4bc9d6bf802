/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the capacity review. Pure.
 *
 * Without an existing index to measure, the index size is estimated as 1.5 times the documents'
 * size as JSON: stored fields are compressed, and the indexed data is added. The memory of vectors
 * is that of an HNSW graph with 16 links: 1.1 * (4 * dimensions + 8 * 16) bytes a vector (manual of
 * OpenSearch's k-NN plugin).
 */
#pragma once

#include "rowferry/document/mapping/mapping.h"

#define FIELD_LIMIT 1000                     /* index.mapping.total_fields.limit of both products */
#define KNN_MOST_DIMENSIONS 16000            /* of OpenSearch's knn_vector */
#define DENSE_MOST_DIMENSIONS 4096           /* of Elasticsearch's dense_vector, since 8.11 */
#define SHARD_MOST_BYTES (INT64_C(50) << 30) /* recommended by both products */
#define SHARD_LEAST_BYTES (INT64_C(1) << 30)

struct sizes {
    int64_t documents;
    bool late;       /* the sample timed out, so the document size is unknown */
    int64_t sampled; /* rows */
    int64_t document_bytes, largest_bytes; /* as JSON */
    int64_t live_bytes;                    /* all copies of the existing index; 0 if none */
    double stored_bytes;                   /* of a document in one copy; 0 if unknown */
    int64_t shards, copies;
    int64_t fields, field_limit;
    int64_t dimensions;        /* of the largest vector */
    int64_t vector_dimensions; /* sum over all indexed vectors */
    int64_t vectors;           /* number of indexed vectors */
};

/* Takes the size of the existing index. Ignores its size per document if it has too few
 * documents. */
void capacity_take_live(struct sizes *s, int64_t documents, int64_t bytes);

/* Counts fields, multi-fields and source_id as the products count them. */
void capacity_take_mapping(struct sizes *s, const struct mapping *m);

int64_t capacity_index_bytes(const struct sizes *s); /* one copy */
int64_t capacity_index_bytes_of(const struct sizes *s, int64_t documents);
int64_t capacity_vector_bytes(const struct sizes *s); /* bytes of memory, one copy */
int64_t capacity_good_shards(const struct sizes *s);
