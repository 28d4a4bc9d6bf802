/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of the change log as text: parse, print, compare. Pure.
 *
 *     copy <filenode> <block>/<blocks> from <snapshot>       an initial load by block ranges
 *     copy keys nulls|first|after <key> from <snapshot>      an initial load by key ranges
 *     copy <filenode> <block>-<end> <block>/<blocks> from .. with block ranges in progress
 *     copy keys first until <value> and beyond <value> from  with several key ranges
 *     log <snapshot>                                         all entries in the snapshot were read
 *     log <last> to <target> after <part> <xid> <seq>        within the stretch between two
 *     log ... of <capture>                                   there, in another table's entries
 *     ... on <timeline>                                      of the server at that time (0:
 * unknown)
 *     ... on <timeline> again                                a re-snapshot: a reconcile is due
 *     ... on <timeline> since <transaction> in <oid>         of that registration and table
 *     ... in <oid> of <oid> at <number>                      of that database and server life
 *
 * A snapshot is PostgreSQL's own text, xmin:xmax:xip,xip. A key is escaped to be one word. The
 * border of two key ranges is a value of the key's first part, the last one of the lower range. A
 * load by several connections can be continued by one, and vice versa.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

struct snapshot {
    uint64_t xmin;
    uint64_t xmax;
    size_t running; /* transactions in its list */
};

enum position_kind { POSITION_BLOCKS, POSITION_KEYS, POSITION_LOG };
enum key_range { KEY_RANGE_NULLS, KEY_RANGE_FIRST, KEY_RANGE_AFTER, KEY_RANGE_BEYOND };

/* The unread rest of one range of an initial load. */
struct copy_range {
    uint64_t block; /* BLOCKS: the next one */
    uint64_t end;

    enum key_range range; /* KEYS */
    char *key;            /* AFTER: the last key read; BEYOND: a value of its first part */
    char *until;          /* a value of the first part, inclusive; null: to the end */
};

struct position {
    enum position_kind kind;
    char *last; /* the snapshot up to which the log was read, or from which it will be replayed */

    uint32_t filenode; /* BLOCKS */
    uint64_t block;    /* the next one */
    uint64_t blocks;

    enum key_range range; /* KEYS */
    char *key;            /* as in copy_range */
    char *until;

    struct copy_range *others; /* BLOCKS: ranges begun before `block`; KEYS: the other ranges */
    size_t other_count;

    char *target; /* LOG: the end of the stretch that is being read; null: at its end */
    int part;     /* 1 or 2 */
    uint64_t after_xid;
    int64_t after_seq;
    uint64_t of; /* the capture of a dependency; 0: the table's own, which comes first */

    uint64_t timeline; /* 0: unknown */
    bool again;
    uint64_t since;    /* the transaction that registered its consumer; 0: unknown */
    uint32_t table;    /* oid */
    uint32_t database; /* oid; 0: unknown */
    uint64_t life;     /* of the server, from one start or recovery to the next; 0: unknown */
};

void position_release(struct position *p);
void position_copy(struct position *to, const struct position *from);

/* Recommends a reindex of the one pipeline: removing the state file would affect all pipelines of
 * the configuration, which share it. */
#define POSITION_REBUILD_HINT "rebuild the index: rowferry reindex " ERR_PIPELINE

/* Returns ERR_STATE, marked as drift, if a position of the table with the oid `was` (0: unknown) is
 * used for another table. */
int position_check_table(uint32_t was, uint32_t is, const char *quoted, struct err *err) MUST_CHECK;

/* Returns ERR_STATE if the text is not a position of a change log. */
int position_parse(struct position *out, const char *text, struct err *err) MUST_CHECK;
void position_print(struct buf *out, const struct position *p);
/* Appends only the end of that text; nothing if neither timeline nor registration is known. */
void position_print_history(struct buf *out, const struct position *p);

/* Copies a range and frees the former content of `to`. */
void position_copy_range_copy(struct copy_range *to, const struct copy_range *from);
void position_copy_range_release(struct copy_range *r);

/* Returns the share of the blocks that was read, 0 to 1. */
double position_share(const struct position *p);

/* Returns a negative number if a is before b. Snapshots of one server are ordered. */
int position_compare(const struct position *a, const struct position *b);

/* Returns false if the text is not a snapshot. */
bool position_snapshot_parse(struct snapshot *out, const char *text);
