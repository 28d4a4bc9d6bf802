/* SPDX-License-Identifier: Apache-2.0 */
/* The service in memory: requests of a rebuild about generations. */
#include <stdio.h>
#include <string.h>

#include "fake_private.h"
#include "suite.h"

int fake_generation_swap_adopting(struct service *self, const char *alias, const char *kept,
                                  const char *to, bool *kept_it, struct err *err)
{
    struct fake *f = fake_of(self);
    *kept_it = kept != NULL && !f->no_clones;
    if (kept != NULL && f->no_clones) {
        fake_step(f);
        err_set(err, ERR_REJECTED, "cannot keep index \"%s\": 403", alias);
        return ADOPT_CANNOT_KEEP;
    }
    snprintf(f->kept, sizeof(f->kept), "%s", kept != NULL ? kept : "");
    return fake_service_ops.swap(self, alias, NULL, to, err);
}

int fake_generation_adopt_undo(struct service *self, const char *alias, const char *kept,
                               struct err *err)
{
    (void)alias;
    (void)kept;
    (void)err;
    fake_step(fake_of(self));
    return 0;
}

int fake_generation_ready(struct service *self, const char *index, int64_t timeout_ms, bool *green,
                          struct err *err)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    *green = !f->red && f->copies_late == 0;
    if (f->red) {
        return err_set(err, ERR_TRANSIENT, "index \"%s\" is red", index);
    }
    if (!*green) {
        f->copies_late--;
        f->now_us += timeout_ms * 1000;
    }
    return 0;
}

static int tell(struct fake *f, const char *index, const char *alias, struct index_info *out,
                struct err *err)
{
    bool found;
    int64_t number = 0;
    if (!index_name_of_alias(index, alias, &number)) {
        return 0;
    }
    int rc = fake_service_ops.look(fake_service_port(f).self, index, &found, out, err);
    snprintf(out->name, sizeof(out->name), "%s", f->index);
    out->number = number;
    return rc < 0 ? rc : 1;
}

int fake_generation_list(struct service *self, const char *alias, const char *pipeline,
                         struct index_info *out, size_t max, size_t *count, struct err *err)
{
    struct fake *f = fake_of(self);
    char names[FAKE_SHELF + 1][256];
    *count = 0;
    if (strcmp(pipeline, "things") != 0) {
        return 0;
    }
    snprintf(names[FAKE_SHELF], sizeof(names[0]), "%s", f->index);
    for (size_t i = 0; i < FAKE_SHELF; i++) {
        snprintf(names[i], sizeof(names[i]), "%s", f->indices[i].index);
    }
    for (size_t i = 0; i <= FAKE_SHELF && *count < max; i++) {
        int told = names[i][0] != '\0' ? tell(f, names[i], alias, &out[*count], err) : 0;
        if (told < 0) {
            return told;
        }
        *count += (size_t)told;
    }
    return 0;
}

int fake_generation_leave(struct service *self, const char *index, const char *pipeline,
                          const char *position, int64_t clock, struct err *err)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    (void)fake_look_at(f, index);
    if (strcmp(index, f->index) != 0) {
        return err_set(err, ERR_REJECTED, "there is no index \"%s\"", index);
    }
    if (strcmp(pipeline, "things") != 0) {
        return err_set(err, ERR_INTERNAL, "\"%s\" is not of pipeline %s", index, pipeline);
    }
    ck_assert_uint_lt(strlen(position), sizeof(f->left_position));
    snprintf(f->left_to, sizeof(f->left_to), "%s", index);
    snprintf(f->left_position, sizeof(f->left_position), "%s", position);
    f->left_clock = clock;
    return 0;
}

int fake_generation_left(struct service *self, const char *index, struct buf *position,
                         int64_t *clock, bool *found, struct err *err)
{
    (void)err;
    struct fake *f = fake_of(self);
    fake_step(f);
    *found = f->left_to[0] != '\0' && strcmp(index, f->left_to) == 0;
    *clock = *found ? f->left_clock : 0;
    buf_push_text(position, *found ? f->left_position : "");
    return 0;
}

int fake_generation_mapping(struct service *self, const char *index, struct buf *json,
                            struct err *err)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    (void)fake_look_at(f, index);
    if (strcmp(index, f->index) != 0) {
        return err_set(err, ERR_REJECTED, "404 index_not_found_exception");
    }
    buf_push_text(json, f->mapping);
    return 0;
}

/* Only additions count. */
int fake_generation_extend(struct service *self, const char *index, const char *properties,
                           const char *meta, struct err *err)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    (void)fake_look_at(f, index);
    if (strcmp(index, f->index) != 0) {
        return err_set(err, ERR_REJECTED, "404 index_not_found_exception");
    }
    snprintf(f->mapping, sizeof(f->mapping), "{\"properties\":%s}", properties);
    if (meta != NULL && strstr(meta, "\"mapping\":\"") != NULL) {
        fake_take_meta(meta, "mapping", f->meta.fingerprint, sizeof(f->meta.fingerprint));
    }
    return 0;
}

bool fake_equal(const struct fake *f)
{
    if (strcmp(f->alias, f->index) != 0 || f->alias[0] == '\0' || f->double_key ||
        f->version_went_back || f->begun_anew) {
        return false;
    }
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        bool wanted = f->rows[i] >= 0;
        if (f->documents[i].present != wanted || (wanted && f->documents[i].n != f->rows[i])) {
            return false;
        }
    }
    return true;
}
