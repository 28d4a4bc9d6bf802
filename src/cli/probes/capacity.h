/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the capacity review. Pure.
 *
 * Where no index tells, one takes half as much again as its documents do as JSON: what is stored is
 * compressed, what is indexed comes on top. The memory of vectors is that of an HNSW graph with 16
 * links: 1.1 * (4 * dimensions + 8 * 16) bytes a vector (the manual of OpenSearch's k-NN plugin).
 */
#ifndef ROWFERRY_CLI_CAPACITY_H
#define ROWFERRY_CLI_CAPACITY_H

#include "rowferry/document/mapping/mapping.h"

#define FIELD_LIMIT 1000                     /* index.mapping.total_fields.limit of both products */
#define KNN_MOST_DIMENSIONS 16000            /* of OpenSearch's knn_vector */
#define DENSE_MOST_DIMENSIONS 4096           /* of Elasticsearch's dense_vector, since 8.11 */
#define SHARD_MOST_BYTES (INT64_C(50) << 30) /* the advice of both products */
#define SHARD_LEAST_BYTES (INT64_C(1) << 30)

struct sizes {
    int64_t documents;
    bool late;       /* no sample came in time: how large a document is, is not known */
    int64_t sampled; /* rows */
    int64_t document_bytes, largest_bytes; /* as JSON */
    int64_t live_bytes;                    /* of all copies of the index that is there; 0: none */
    double stored_bytes;                   /* of a document in one copy; 0: not known */
    int64_t shards, copies;
    int64_t fields, field_limit;
    int64_t dimensions;        /* of the largest vector */
    int64_t vector_dimensions; /* of all that are indexed */
    int64_t vectors;           /* how many those are */
};

/* What the index that is there takes. Too few documents tell nothing. */
void sizes_take_live(struct sizes *s, int64_t documents, int64_t bytes);

/* Fields, multi-fields and source_id counted as the products count them. */
void sizes_take_mapping(struct sizes *s, const struct mapping *m);

int64_t sizes_index_bytes(const struct sizes *s); /* one copy */
int64_t sizes_index_bytes_of(const struct sizes *s, int64_t documents);
int64_t sizes_vector_bytes(const struct sizes *s); /* of memory, one copy */
int64_t sizes_good_shards(const struct sizes *s);

#endif
