/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's ports without servers: a table, a service and a clock in memory, with faults that a
 * test plans. The state file is the real one.
 *
 * A row is a key ("k0" ...) and a number; its document is {"n":number}. The table keeps a log of
 * changed keys; positions are "copy I from L" and "log L", I a row and L a length of the log, with
 * "but S ..." behind it for the places of transactions that had not ended, "again" where all is
 * copied in place and a walk is owed, and "at N" for the server's life after its Nth crash. It is
 * read as a change log is, or as a cursor is, for which a row has nothing but the place of its last
 * change.
 */
#ifndef ROWFERRY_TESTS_FAKE_H
#define ROWFERRY_TESTS_FAKE_H

#include "rowferry/engine/pipeline/pipeline.h"

#define FAKE_ROWS 64
#define FAKE_LOG 1024
#define FAKE_TRUNCATE FAKE_ROWS   /* in the log: not a row, but all of them */
#define FAKE_OPEN (FAKE_ROWS + 1) /* a place whose transaction has not ended */
#define FAKE_VOID (FAKE_ROWS + 2) /* and one whose was rolled back */
#define FAKE_OPEN_MOST 4
#define FAKE_OPEN_BYTES 64
#define FAKE_SHELF 6
#define FAKE_WINDOW_BYTES 4096

struct fake_document {
    int64_t version;
    long n;
    bool present;
};

/* What the service answers to the i-th attempt on an operation. */
typedef enum outcome (*fake_judge)(void *context, const char *key, long attempt);

/* What becomes of a bulk request. */
enum fake_fault {
    FAULT_NONE,
    FAULT_LOST,       /* it never arrived */
    FAULT_UNANSWERED, /* it was applied, and its answer was lost */
    FAULT_LATE,       /* the connection breaks, and it is applied at some time later */
};

/* A write that is still on its way. */
struct fake_late {
    size_t row;
    size_t serial; /* of the index */
    struct fake_document document;
};

/* A transaction that wrote and has not ended: its row is locked, its place in the log taken. */
struct fake_open {
    size_t row, place;
    long value;
};

/* Of several indices (`several`) those that are not looked at now, as the fields of the world that
 * bear the same names. */
struct fake_index {
    char index[256];
    size_t serial;
    char creator[32];
    char uuid[32];
    char mapping[8192];
    struct index_info meta;
    struct fake_document documents[FAKE_ROWS];
    int64_t highest_sent;
    int64_t sent[FAKE_ROWS];
};

/* The same of consumers. */
struct fake_consumer {
    char consumer[300];
    bool resumed;
    long mirror_log;
    char mirror_open[FAKE_OPEN_BYTES];
    int64_t mirror_clock;
    char mirror_letters[32768];
    size_t left_met;
    long registered;
};

struct fake {
    /* clock */
    int64_t now_us; /* of both clocks; every wait moves it on */
    int64_t wall_jump_us;
    uint64_t random;

    /* table */
    long rows[FAKE_ROWS]; /* -1 = no row */
    size_t log[FAKE_LOG]; /* changed keys */
    size_t log_count;
    size_t page_rows;
    size_t mark_rows; /* between two marks within a page; 0 = none */
    void (*between_pages)(struct fake *f, size_t page); /* changes the table, counts from 0 */
    size_t pages;
    int fail_connects;   /* so many connects fail for a passing reason */
    size_t break_change; /* the connection is lost at this change, counted from 1; 0 = never */
    size_t changes;
    size_t looks;        /* ahead, of this sync */
    char forgotten[300]; /* the consumer that was given up last */
    char consumer[300];  /* that was registered last, and what is kept of its state file */
    char resumed[300];   /* whose position was durable last, by this state file */
    bool begun_anew;     /* a consumer began again though it had a position: a broken law */
    long mirror_log;     /* the position; -1 = nothing is kept */
    char mirror_open[FAKE_OPEN_BYTES];
    int64_t mirror_clock;
    char mirror_letters[32768];
    bool mirror_lost;      /* what is told from now on does not arrive */
    bool held;             /* somebody else holds the pipeline */
    size_t left;           /* so often a member left with its rows, */
    size_t left_met;       /* and so much of that the position relies on */
    long registered;       /* the length of the log when that consumer was */
    bool cursor;           /* the table is followed by a cursor */
    long before[FAKE_LOG]; /* what the row of each place was */
    size_t durable;        /* so much of the log a crash of the server keeps */
    size_t life;           /* of the server: another one after each crash */
    struct fake_open opens[FAKE_OPEN_MOST];
    size_t open_count;
    bool unlogged[FAKE_ROWS]; /* went with a member or a TRUNCATE: a walk is what finds that */
    bool several;             /* indices and consumers, not only the last */
    struct fake_consumer consumers[FAKE_SHELF];

    /* service */
    struct fake_document documents[FAKE_ROWS];
    char index[256]; /* exists where not empty */
    size_t built;    /* so many were created, */
    size_t serial;   /* this one as the so-manieth */
    struct fake_index indices[FAKE_SHELF];
    char written[256]; /* the index that is written */
    char creator[32];
    char write_alias[INDEX_WRITE_ALIAS_BYTES]; /* as it was told last */
    char uuid[32];
    struct index_info meta; /* of the index */
    const char *source;     /* that the index of the alias was built from */
    const char *to_index;   /* the alias that is configured */
    char alias[256];        /* the index that the alias points at */
    bool alias_several;     /* and at others */
    size_t glances;         /* at the alias, begun */
    bool glancing;          /* one is under way */
    bool glance_hangs, glance_fails, glance_forbidden;
    fake_judge judge;
    int judged_status;        /* of an item that the judge does not take */
    fake_judge judge_witness; /* null: they pass as their versions say */
    long attempts[FAKE_ROWS];
    enum fake_fault (*fault)(struct fake *f);
    struct fake_late late[256];
    size_t late_count;
    int fail_requests;      /* so many bulk requests are not answered */
    size_t most_operations; /* of one request, else 413; 0 = any number */
    size_t in_flight, max_in_flight;
    struct batch *flying[16];
    size_t requests;
    int64_t highest_sent;    /* version of an operation that was sent */
    int64_t sent[FAKE_ROWS]; /* the same of each row */
    bool version_went_back;  /* a later read of a row had no higher version: a broken law */
    int64_t told[FAKE_ROWS]; /* the version that outran an operation of the row, as was answered, */
    int told_times[FAKE_ROWS]; /* so often by this sync, */
    int most_told;             /* and at most */
    long operations;           /* that the service has seen */
    bool finished;             /* refreshed and open for search */
    size_t copies_late;        /* so many looks find the copies missing, */
    bool red;                  /* or a primary */
    char left_to[256];         /* the index in whose memory a position was left, */
    char left_position[1024];
    int64_t left_clock;
    char mapping[8192]; /* of the index, as it was created or extended */
    char filled[256];   /* the generation that a rebuild found swapped in, or "" */
    char kept[256];     /* the name under which an adopted index is kept */
    bool no_clones;     /* the service does not clone */
    int64_t storage_bytes;
    bool storage_forbidden;
    size_t storage_looks;
    bool double_key; /* two operations of one key were in flight together: a broken law */

    size_t counts, scans, asked; /* of this sync */
    int fail_scans;              /* so many are not answered */
    bool count_forbidden, scan_forbidden;
    size_t deleted; /* documents that were there, by this sync */

    bool requests_only;
    double guard_share;
    int64_t guard_count;
    int64_t reconcile_ms;
    bool allow_deletes;
    bool rivals, stood_by; /* as in pipeline_options */
    int64_t keep;
    void (*step)(struct fake *f); /* at each call of a port */

    /* state */
    char folder[64];
    char path[96];
};

void fake_init(struct fake *f, size_t rows);
void fake_release(struct fake *f);

/* Removes the state file. */
void fake_lose_state(struct fake *f);

/* Changes a row as a transaction would: value -1 deletes. */
void fake_write(struct fake *f, size_t row, long value);

/* Removes all rows as TRUNCATE does. */
void fake_truncate(struct fake *f);

/* Removes these rows as a member takes them along: the log has no entry of them. */
void fake_leave(struct fake *f, size_t from, size_t to);

/* A transaction begins to write and takes its place; false where it would have to wait. It ends
 * later, with all that are open. */
bool fake_write_later(struct fake *f, size_t row, long value);
void fake_end_open(struct fake *f, bool commit);

/* Whether a transaction holds the row; FAKE_TRUNCATE: any of them. */
bool fake_locked(const struct fake *f, size_t row);

/* The server crashes and recovers: the end of the log, unless it was made durable, and what it did
 * to the table is lost, and its places are given away again: first to other writes of the same
 * rows. */
void fake_crash_server(struct fake *f);

/* The index of this name, the consumer of this name, is the one that is looked at; false where
 * there is none. */
bool fake_look_at(struct fake *f, const char *index);
bool fake_listen_to(struct fake *f, const char *consumer);

/* The laws of a checkpoint, of the state file as it lies there: no version was sent that it would
 * forget, and what stands before its position is in the index. */
void fake_expect_checkpoint(struct fake *f);

/* Another state file goes on, or the same without a memory of what it sent. */
void fake_forget_sent(struct fake *f);

/* A rebuild from the wish to the swap, and its end. As fake_sync. */
int fake_rebuild(struct fake *f, struct err *err);
int fake_rebuild_abort(struct fake *f, struct err *err);

/* What the process beside the live one's loop does of one that was wanted before; the generation
 * goes into f->filled. */
int fake_rebuild_fill(struct fake *f, struct err *err);
/* The same, told to stop as it goes on to the swap. */
int fake_rebuild_stopped(struct fake *f, struct err *err);

/* A sync with default options; *result may be null. Returns the error's class or 0. */
int fake_sync(struct fake *f, struct pipeline_result *result, struct err *err);

/* Applies what is still on its way, at random or all of it. */
void fake_deliver(struct fake *f, bool all);

/* The world's dice: a number below n. */
size_t fake_dice(struct fake *f, size_t n);

/* True where the live index holds exactly the table. */
bool fake_equal(const struct fake *f);

#endif
