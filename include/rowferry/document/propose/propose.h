/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proposes a mapping: for each column the property that suits its type, its statistics and a sample
 * of its values, with the reason as a text. People should review it, but it loads unedited. If the
 * facts do not decide, it chooses a type that holds every value. Pure.
 */
#pragma once

#include "rowferry/document/model/row.h"

/* Statistics of one place in the JSON values of a sample; elements of arrays count as values. */
struct shape {
    char *name; /* of the member; null: the value itself */
    size_t objects, strings, numbers, booleans;
    size_t listed;   /* objects that are elements of arrays */
    size_t whole;    /* numbers without a fraction that fit a long */
    size_t dates;    /* strings that are dates in ISO 8601 */
    size_t words;    /* strings that contain a blank */
    int64_t longest; /* bytes of the longest string */
    struct shape *members;
    size_t member_count;
    bool cut; /* has more members than were examined */
};

void propose_json_shape_release(struct shape *s);

/* Facts about a column besides its type. */
struct column_facts {
    bool analysed;   /* the planner has statistics; the next two members are set */
    double width;    /* average bytes */
    double distinct; /* distinct values; if negative, as a fraction of the rows */
    size_t sampled;  /* examined values without NULL; for an array, elements */
    size_t words;    /* examined values that contain a blank */
    size_t unfit;    /* examined values that the property of their type refuses: infinity, NaN */
    int64_t longest; /* bytes of the longest one */
    int64_t least, most;        /* components of a vector or array */
    size_t flat;                /* vectors that are all zero */
    struct shape *shape;        /* of json and jsonb; null: not examined */
    struct table_facts *inside; /* rows of another table as JSON; null: none */
    bool many;                  /* a list of such rows */
};

struct table_facts {
    struct columns columns;
    struct column_facts *facts; /* one per column */
};

/* Frees the contents of the facts, but not the array. */
void propose_column_facts_release(struct column_facts *facts, size_t count);
void propose_table_facts_release(struct table_facts *t);

enum propose_for { PROPOSE_ANY, PROPOSE_OPENSEARCH, PROPOSE_ELASTICSEARCH };

/* A property, or the mapping itself, whose children are the properties. */
struct proposed {
    char *name;
    char *column;     /* if its name differs, else null */
    char *parameters; /* members of its JSON object without "properties", maybe with line breaks */
    char *why;        /* its type and the reason, one line */
    bool left_out;    /* displayed, but not part of the mapping */
    size_t fields;    /* fields that it adds to the service's limit, without children */
    struct proposed *children;
    size_t count;
};

/* Fills `out`. `key` names the columns that identify a row, which are not checked for their
 * length. */
void propose_mapping(struct proposed *out, const struct table_facts *table, const char *const *key,
                     size_t key_count, enum propose_for product);
void propose_release(struct proposed *p);

/* Returns the number of fields including all children. */
size_t propose_fields(const struct proposed *p);

/* Returns true if a property below is a vector that needs index.knn in OpenSearch. */
bool propose_has_vector(const struct proposed *p);

struct buf;
/* Appends the text as an index name: lower case, "-" for characters that are not allowed. */
void propose_index_name(struct buf *out, const char *text);
/* Returns true if no word of an index's name says what is in it: "test", "my-index-1". */
bool propose_index_is_nameless(const char *name);
/* Appends the text as a pipeline name: at most 40 letters, digits, - and _. */
void propose_pipeline_name(struct buf *out, const char *text);
