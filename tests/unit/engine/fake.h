/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's ports without servers: a table, a service and a clock in memory, with faults that a
 * test plans. The state file is a real one.
 *
 * A row is a key ("k0" ...) and a number; its document is {"n":number}. The table has a log of
 * changed keys. Positions are "copy I from L" and "log L", with I a row and L a length of the log.
 * They may be followed by "but S ..." (log entries of open transactions), "again" (re-snapshot,
 * after which a scan is due), and "at N" (the server has crashed N times). The table is read by its
 * log or by a cursor. For a cursor, a row is only listed at its last change.
 */
#pragma once

#include "rowferry/engine/pipeline/pipeline.h"

#define FAKE_ROWS 64
#define FAKE_LOG 1024
#define FAKE_TRUNCATE FAKE_ROWS   /* in the log: all rows instead of one */
#define FAKE_OPEN (FAKE_ROWS + 1) /* an entry whose transaction is still open */
#define FAKE_VOID (FAKE_ROWS + 2) /* an entry whose transaction was rolled back */
#define FAKE_OPEN_MOST 4
#define FAKE_OPEN_BYTES 64
#define FAKE_SHELF 6
#define FAKE_WINDOW_BYTES 4096

struct fake_document {
    int64_t version;
    long n;
    bool present;
};

/* Returns the service's answer to the i-th attempt of an operation. */
typedef enum outcome (*fake_judge)(void *context, const char *key, long attempt);

/* Fault of a bulk request. */
enum fake_fault {
    FAULT_NONE,
    FAULT_LOST,       /* it did not arrive */
    FAULT_UNANSWERED, /* it was applied, but the answer was lost */
    FAULT_LATE,       /* the connection breaks, and it is applied later */
};

/* A write that is still in transit. */
struct fake_late {
    size_t row;
    size_t serial; /* of the index */
    struct fake_document document;
};

/* An open transaction with a write: its row is locked, its log entry reserved. */
struct fake_open {
    size_t row, place;
    long value;
};

/* An index that is not the current one (`several`); its members are like those of struct fake with
 * the same names. */
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

/* The same for consumers. */
struct fake_consumer {
    char consumer[300];
    bool resumed;
    long mirror_log;
    char mirror_open[FAKE_OPEN_BYTES];
    int64_t mirror_clock;
    char mirror_letters[32768];
    size_t left_met;
    long registered;
    size_t registration;
};

struct fake {
    /* clock */
    int64_t now_us; /* of both clocks; every wait advances it */
    int64_t wall_jump_us;
    uint64_t random;

    /* table */
    long rows[FAKE_ROWS]; /* -1 = no row */
    size_t log[FAKE_LOG]; /* changed keys */
    size_t log_count;
    size_t page_rows;
    size_t mark_rows; /* rows between two safepoints in a page; 0 = none */
    void (*between_pages)(struct fake *f, size_t page); /* changes the table; pages count from 0 */
    size_t pages;
    int fail_connects;   /* number of connects that fail temporarily */
    size_t break_change; /* the connection is lost at this change, counted from 1; 0 = never */
    size_t changes;
    size_t looks;        /* prescans of this sync */
    char forgotten[300]; /* the last consumer that was dropped */
    char consumer[300];  /* the last one registered, to which the checkpoint backup belongs */
    char resumed[300];   /* the consumer that last had a durable position, by this state file */
    bool begun_anew;     /* a violation: a consumer started again though it had a position */
    long mirror_log;     /* its position; -1 = no backup */
    char mirror_open[FAKE_OPEN_BYTES];
    int64_t mirror_clock;
    char mirror_letters[32768];
    bool mirror_lost;    /* updates of the backup are lost */
    bool held;           /* another session holds the pipeline */
    size_t left;         /* how often a member left with its rows */
    size_t left_met;     /* how many of those the position includes */
    long registered;     /* length of the log at the registration of that consumer */
    size_t registration; /* number of that registration: other positions are not its own */
    size_t registrations;
    bool cursor;           /* the table is read by a cursor */
    long before[FAKE_LOG]; /* the row's value before each log entry */
    size_t durable;        /* length of the log that survives a crash of the server */
    size_t life;           /* number of the server's crashes */
    struct fake_open opens[FAKE_OPEN_MOST];
    size_t open_count;
    bool unlogged[FAKE_ROWS]; /* deleted by a TRUNCATE or with a member; only a scan finds it */
    bool several;             /* keeps several indices and consumers, not only the last */
    struct fake_consumer consumers[FAKE_SHELF];

    /* service */
    struct fake_document documents[FAKE_ROWS];
    char index[256]; /* exists unless empty */
    size_t built;    /* number of created indices */
    size_t serial;   /* number of this one */
    struct fake_index indices[FAKE_SHELF];
    char written[256]; /* the index that is written to */
    char creator[32];
    char write_alias[INDEX_WRITE_ALIAS_BYTES]; /* as last received */
    char uuid[32];
    struct index_info meta; /* of the index */
    const char *source;     /* source of the index behind the alias */
    const char *to_index;   /* the configured alias */
    char alias[256];        /* the index that the alias points at */
    bool alias_several;     /* it points at others, too */
    size_t alias_polls;     /* alias polls begun */
    bool alias_polling;     /* an alias poll is in progress */
    bool alias_poll_hangs, alias_poll_fails, alias_poll_forbidden;
    fake_judge judge;
    int judged_status;        /* of an item that the judge does not accept */
    fake_judge judge_witness; /* null: witnesses succeed according to their versions */
    long attempts[FAKE_ROWS];
    enum fake_fault (*fault)(struct fake *f);
    struct fake_late late[256];
    size_t late_count;
    int fail_requests;      /* number of bulk requests that get no answer */
    size_t most_operations; /* maximum per request, else 413; 0 = unlimited */
    size_t in_flight, max_in_flight;
    struct batch *flying[16];
    size_t requests;
    int64_t highest_sent;      /* version of an operation that was sent */
    int64_t sent[FAKE_ROWS];   /* the same for each row */
    bool version_went_back;    /* a violation: a later read of a row had no higher version */
    int64_t told[FAKE_ROWS];   /* version reported in the last conflict of the row */
    int told_times[FAKE_ROWS]; /* how often, by this sync */
    int most_told;             /* maximum of told_times */
    long operations;           /* received by the service */
    bool finished;             /* refreshed and open for searches */
    size_t copies_late;        /* number of checks that find replicas missing */
    bool red;                  /* the same for a primary */
    char left_to[256];         /* the index in whose `_meta` a position was stored */
    char left_position[1024];
    int64_t left_clock;
    char mapping[8192];    /* of the index, as created or extended */
    char filled[256];      /* generation that a rebuild found swapped in, or "" */
    char kept[256];        /* name under which an adopted index is kept */
    bool no_clones;        /* the service refuses to clone */
    int64_t request_limit; /* 0 = not told */
    int64_t storage_bytes;
    int64_t storage_indexed; /* 0 = not reported */
    bool storage_forbidden;
    size_t storage_looks;
    bool double_key; /* a violation: two operations of one key in flight */

    size_t counts, scans, asked; /* of this sync */
    int fail_scans;              /* number of scans that get no answer */
    bool count_forbidden, scan_forbidden;
    size_t deleted; /* existing documents deleted by this sync */

    bool requests_only;
    double guard_share;
    int64_t guard_count;
    int64_t reconcile_ms;
    bool allow_deletes;
    enum pipeline_rivals rivals;
    int64_t keep;
    void (*step)(struct fake *f); /* called at each call of a port */

    /* state */
    char folder[64];
    char path[96];
};

void fake_init(struct fake *f, size_t rows);
void fake_release(struct fake *f);

/* Removes the state file. */
void fake_lose_state(struct fake *f);

/* Changes a row as a transaction would; value -1 deletes. */
void fake_write(struct fake *f, size_t row, long value);

/* Deletes all rows like TRUNCATE. */
void fake_truncate(struct fake *f);

/* Deletes these rows like a member that leaves the table: without log entries. */
void fake_leave(struct fake *f, size_t from, size_t to);

/* Begins a transaction with a write and reserves its log entry. Returns false if it would have to
 * wait. fake_end_open ends it, together with all open ones. */
bool fake_write_later(struct fake *f, size_t row, long value);
void fake_end_open(struct fake *f, bool commit);

/* Returns true if a transaction has locked the row; FAKE_TRUNCATE: any row. */
bool fake_locked(const struct fake *f, size_t row);

/* Simulates a crash and recovery of the server. The end of the log is lost unless it was durable,
 * with its effects on the table. Its places are used again, first for other writes of the same
 * rows. */
void fake_crash_server(struct fake *f);

/* Make the index, or the consumer, of this name the current one. Return false if it does not
 * exist. */
bool fake_look_at(struct fake *f, const char *index);
bool fake_listen_to(struct fake *f, const char *consumer);

/* Checks the invariants of a checkpoint, in the state file on disk. No version was sent above its
 * ceiling, and the index contains all changes before its position. */
void fake_expect_checkpoint(struct fake *f);

/* Checks the invariants at the end: no version went back, and the index equals the table, except
 * for the open dead letters. */
void fake_expect_end(struct fake *f);

/* Forgets which versions were sent: for another state file, or the same without its history. */
void fake_forget_sent(struct fake *f);

/* Runs a rebuild from the request to the swap, or aborts it. Results as for fake_sync. */
int fake_rebuild(struct fake *f, struct err *err);
int fake_rebuild_abort(struct fake *f, struct err *err);

/* Runs the part of a requested rebuild that works beside the live loop; the generation's name goes
 * to f->filled. */
int fake_rebuild_fill(struct fake *f, struct err *err);
/* The same, but it is stopped before the swap. */
int fake_rebuild_stopped(struct fake *f, struct err *err);

/* Runs a sync with default options; *result may be null. Returns the error's class or 0. */
int fake_sync(struct fake *f, struct pipeline_result *result, struct err *err);

/* Opens the ports for a caller with a state file of its own, as a worker is. *table is for
 * fake_close. */
struct fake_table;
int fake_open(struct fake *f, struct state *state, struct pipeline_ports *out,
              struct fake_table **table, struct err *err);
void fake_close(struct fake_table *table); /* null is allowed */
struct clock fake_clock(struct fake *f);

/* Applies writes in transit, randomly or all of them. */
void fake_deliver(struct fake *f, bool all);

/* Returns a random number below n. */
size_t fake_dice(struct fake *f, size_t n);

/* Returns true if the live index holds exactly the table. */
bool fake_equal(const struct fake *f);
