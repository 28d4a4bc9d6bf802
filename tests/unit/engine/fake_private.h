/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of the fake. */
#pragma once

#include "fake.h"

extern const struct service_port_ops fake_service_ops;
extern const struct source_port_ops fake_source_ops;

/* A port's self is opaque; that of the fake's service port is the fake. */
static inline struct fake *fake_of(struct service *self)
{
    return (struct fake *)(void *)self;
}

static inline struct service_port fake_service_port(struct fake *f)
{
    return (struct service_port){&fake_service_ops, (struct service *)(void *)f};
}

struct capture *fake_capture(struct fake *f, const char *consumer);

/* Members of fake_service_ops, in fake_bulk.c. */
bool fake_bulk_can_send(const struct service *self);
int fake_bulk_send(struct service *self, const char *index, const char *ingest_pipeline,
                   struct batch *batch, struct err *err);
struct batch *fake_bulk_take(struct service *self);
size_t fake_key_row(struct span key);

/* Members of fake_service_ops, in fake_generations.c. */
int fake_generation_swap_adopting(struct service *self, const char *alias, const char *kept,
                                  const char *to, bool *kept_it, struct err *err);
int fake_generation_adopt_undo(struct service *self, const char *alias, const char *kept,
                               struct err *err);
int fake_generation_ready(struct service *self, const char *index, int64_t timeout_ms, bool *green,
                          struct err *err);
int fake_generation_list(struct service *self, const char *alias, const char *pipeline,
                         struct index_info *out, size_t max, size_t *count, struct err *err);
int fake_generation_leave(struct service *self, const char *index, const char *pipeline,
                          const char *position, int64_t clock, struct err *err);
int fake_generation_left(struct service *self, const char *index, struct buf *position,
                         int64_t *clock, bool *found, struct err *err);
int fake_generation_mapping(struct service *self, const char *index, struct buf *json,
                            struct err *err);
int fake_generation_extend(struct service *self, const char *index, const char *properties,
                           const char *meta, struct err *err);

/* Put the current index or consumer aside, so that another can take its place. */
void fake_shelve_index(struct fake *f);
void fake_shelve_consumer(struct fake *f);

/* Read and print the open entries that follow the length of the log in a position. */
size_t fake_open_read(const char *position, size_t *places);
void fake_open_print(char *position, size_t size, const size_t *places, size_t count);

/* Returns the life of the server in which a position was read. */
size_t fake_life(const char *position);
size_t fake_registration(const char *position);
/* Writes the life as it occurs in a position, before the word "again". */
void fake_say_life(const struct fake *f, char *out, size_t size);
/* Entries that were read in another life of the server may be lost and their places used again.
 * Resets *log and the places behind it to those that were durable. */
void fake_fall_back(const struct fake *f, const char *position, size_t *log, size_t *behind,
                    size_t *behind_count);

/* Copies a text of `_meta.rowferry` from JSON that must contain it. */
void fake_take_meta(const char *mappings, const char *name, char *out, size_t size);

/* Called by every function of a port. */
static inline void fake_step(struct fake *f)
{
    if (f->step != NULL) {
        f->step(f);
    }
}

#define FAKE_FINGERPRINT "0123456789abcdef"
