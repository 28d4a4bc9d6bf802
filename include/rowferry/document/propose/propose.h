/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first mapping: for each column the property that suits its type, its statistics and a sample of
 * its values, with the reason in words. A proposal for people to look over, and one that loads
 * unedited: where the facts do not decide, it takes what holds every value. Pure.
 */
#ifndef ROWFERRY_DOCUMENT_PROPOSE_H
#define ROWFERRY_DOCUMENT_PROPOSE_H

#include "rowferry/document/model/row.h"

/* What was found at one place of the JSON values of a sample: arrays are looked through. */
struct shape {
    char *name; /* of the member; null: the value itself */
    size_t objects, strings, numbers, booleans;
    size_t listed;   /* of the objects, in arrays */
    size_t whole;    /* of the numbers, without fraction and such as a long holds */
    size_t dates;    /* of the strings, dates in ISO 8601 */
    size_t words;    /* of the strings, with a blank */
    int64_t longest; /* bytes of a string */
    struct shape *members;
    size_t member_count;
    bool cut; /* has more members than were looked at */
};

void shape_release(struct shape *s);

/* What is known of a column beside its type. */
struct column_facts {
    bool analysed;       /* the planner has statistics: the next two */
    double width;        /* bytes on average */
    double distinct;     /* different values; where negative, as a share of the rows */
    size_t sampled;      /* values that were looked at, without NULL; of an array its elements */
    size_t words;        /* of them, with a blank */
    size_t unfit;        /* of them, such as the property of their type refuses: infinity, NaN */
    int64_t longest;     /* bytes of one */
    int64_t least, most; /* components of a vector or array */
    size_t flat;         /* vectors without a direction: all zero */
    struct shape *shape; /* of json and jsonb; null: nothing was looked at */
    struct table_facts *inside; /* rows of another table as JSON; null: none */
    bool many;                  /* a list of them */
};

struct table_facts {
    struct columns columns;
    struct column_facts *facts; /* one a column */
};

/* What the facts hold, not the array itself. */
void column_facts_release(struct column_facts *facts, size_t count);
void table_facts_release(struct table_facts *t);

enum propose_for { PROPOSE_ANY, PROPOSE_OPENSEARCH, PROPOSE_ELASTICSEARCH };

/* A property, or the mapping itself, whose children are the properties. */
struct proposed {
    char *name;
    char *column;     /* where its name is another, else null */
    char *parameters; /* members of its JSON object, without "properties"; a line break where one
                         helps */
    char *why;        /* its type and the reason, one line */
    bool left_out;    /* shown, and not part of the mapping */
    size_t fields;    /* that it counts for in the service's limit, without children */
    struct proposed *children;
    size_t count;
};

/* key: columns that identify a row, which need no doubt about their length. */
void propose_mapping(struct proposed *out, const struct table_facts *table, const char *const *key,
                     size_t key_count, enum propose_for product);
void proposed_release(struct proposed *p);

/* With all that is inside of it. */
size_t proposed_fields(const struct proposed *p);

/* Whether a property below is a vector that OpenSearch searches with index.knn. */
bool proposed_has_vector(const struct proposed *p);

struct buf;
/* Appends the text as the name of an index: lower case, "-" for what it cannot have. */
void propose_index_name(struct buf *out, const char *text);
/* The same as the name of a pipeline: at most 40 letters, digits, - and _. */
void propose_pipeline_name(struct buf *out, const char *text);

#endif
