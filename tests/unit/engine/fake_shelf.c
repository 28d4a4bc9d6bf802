/* SPDX-License-Identifier: Apache-2.0 */
/* Several indices and consumers, one of which is current, and transactions that end late. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"
#include "suite.h"

/* --- indices --------------------------------------------------------------------------------- */

static void take_index(const struct fake *f, struct fake_index *to)
{
    snprintf(to->index, sizeof(to->index), "%s", f->index);
    snprintf(to->creator, sizeof(to->creator), "%s", f->creator);
    snprintf(to->uuid, sizeof(to->uuid), "%s", f->uuid);
    snprintf(to->mapping, sizeof(to->mapping), "%s", f->mapping);
    to->serial = f->serial;
    to->meta = f->meta;
    memcpy(to->documents, f->documents, sizeof(to->documents));
    to->highest_sent = f->highest_sent;
    memcpy(to->sent, f->sent, sizeof(to->sent));
}

static void put_index(struct fake *f, const struct fake_index *from)
{
    snprintf(f->index, sizeof(f->index), "%s", from->index);
    snprintf(f->creator, sizeof(f->creator), "%s", from->creator);
    snprintf(f->uuid, sizeof(f->uuid), "%s", from->uuid);
    snprintf(f->mapping, sizeof(f->mapping), "%s", from->mapping);
    f->serial = from->serial;
    f->meta = from->meta;
    memcpy(f->documents, from->documents, sizeof(f->documents));
    f->highest_sent = from->highest_sent;
    memcpy(f->sent, from->sent, sizeof(f->sent));
}

/* Replaces the oldest index that the alias does not point at. */
void fake_shelve_index(struct fake *f)
{
    struct fake_index *place = NULL;
    if (!f->several || f->index[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < FAKE_SHELF; i++) {
        struct fake_index *x = &f->indices[i];
        bool older = place == NULL || (place->index[0] != '\0' && x->serial < place->serial);
        if (x->index[0] == '\0' || (older && strcmp(x->index, f->alias) != 0)) {
            place = x;
        }
        if (place == x && x->index[0] == '\0') {
            break;
        }
    }
    take_index(f, place);
    f->index[0] = '\0';
}

bool fake_look_at(struct fake *f, const char *index)
{
    if (!f->several || index[0] == '\0' || strcmp(f->index, index) == 0) {
        return index[0] != '\0' && strcmp(f->index, index) == 0;
    }
    for (size_t i = 0; i < FAKE_SHELF; i++) {
        if (strcmp(f->indices[i].index, index) == 0) {
            struct fake_index found = f->indices[i];
            f->indices[i].index[0] = '\0';
            fake_shelve_index(f);
            put_index(f, &found);
            return true;
        }
    }
    return false;
}

/* --- consumers ------------------------------------------------------------------------------- */

void fake_shelve_consumer(struct fake *f)
{
    struct fake_consumer *place = &f->consumers[0];
    if (!f->several || f->consumer[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < FAKE_SHELF && place->consumer[0] != '\0'; i++) {
        place = &f->consumers[i];
    }
    snprintf(place->consumer, sizeof(place->consumer), "%s", f->consumer);
    place->resumed = strcmp(f->consumer, f->resumed) == 0;
    place->mirror_log = f->mirror_log;
    snprintf(place->mirror_open, sizeof(place->mirror_open), "%s", f->mirror_open);
    place->mirror_clock = f->mirror_clock;
    snprintf(place->mirror_letters, sizeof(place->mirror_letters), "%s", f->mirror_letters);
    place->left_met = f->left_met;
    place->registered = f->registered;
    place->registration = f->registration;
    f->consumer[0] = '\0';
    f->resumed[0] = '\0';
    f->mirror_log = -1;
}

bool fake_listen_to(struct fake *f, const char *consumer)
{
    for (size_t i = 0; f->several && i < FAKE_SHELF && strcmp(f->consumer, consumer) != 0; i++) {
        if (strcmp(f->consumers[i].consumer, consumer) == 0) {
            struct fake_consumer found = f->consumers[i];
            f->consumers[i].consumer[0] = '\0';
            fake_shelve_consumer(f);
            snprintf(f->consumer, sizeof(f->consumer), "%s", found.consumer);
            snprintf(f->resumed, sizeof(f->resumed), "%s", found.resumed ? found.consumer : "");
            f->mirror_log = found.mirror_log;
            snprintf(f->mirror_open, sizeof(f->mirror_open), "%s", found.mirror_open);
            f->mirror_clock = found.mirror_clock;
            snprintf(f->mirror_letters, sizeof(f->mirror_letters), "%s", found.mirror_letters);
            f->left_met = found.left_met;
            f->registered = found.registered;
            f->registration = found.registration;
        }
    }
    return strcmp(f->consumer, consumer) == 0;
}

/* --- transactions ---------------------------------------------------------------------------- */

bool fake_locked(const struct fake *f, size_t row)
{
    for (size_t i = 0; i < f->open_count; i++) {
        if (row == FAKE_TRUNCATE || f->opens[i].row == row) {
            return true;
        }
    }
    return false;
}

bool fake_write_later(struct fake *f, size_t row, long value)
{
    if (fake_locked(f, row) || f->open_count == FAKE_OPEN_MOST || f->log_count == FAKE_LOG) {
        return false;
    }
    f->opens[f->open_count++] = (struct fake_open){row, f->log_count, value};
    f->log[f->log_count++] = FAKE_OPEN;
    return true;
}

void fake_end_open(struct fake *f, bool commit)
{
    for (size_t i = 0; i < f->open_count; i++) {
        const struct fake_open *o = &f->opens[i];
        f->log[o->place] = commit ? o->row : FAKE_VOID;
        if (commit) {
            f->rows[o->row] = o->value;
            f->unlogged[o->row] = false;
        }
    }
    f->open_count = 0;
    f->durable = commit ? f->log_count : f->durable;
}

void fake_crash_server(struct fake *f)
{
    bool lost[FAKE_ROWS] = {false};
    size_t kept = f->durable + fake_dice(f, f->log_count - f->durable + 1);
    fake_end_open(f, false);
    while (f->log_count > kept) {
        size_t row = f->log[--f->log_count];
        if (row < FAKE_ROWS) {
            f->rows[row] = f->before[f->log_count];
            lost[row] = true;
        }
    }
    f->durable = kept;
    f->life++;
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        if (lost[i]) {
            fake_write(f, i, fake_dice(f, 3) == 0 ? -1 : (long)fake_dice(f, 100000));
        }
    }
}

size_t fake_life(const char *position)
{
    const char *at = strstr(position, " at ");
    return at != NULL ? strtoul(at + strlen(" at "), NULL, 10) : 0;
}

size_t fake_registration(const char *position)
{
    const char *as = strstr(position, " as ");
    return as != NULL ? strtoul(as + strlen(" as "), NULL, 10) : 0;
}

size_t fake_open_read(const char *position, size_t *places)
{
    size_t count = 0;
    const char *at = strstr(position, " but");
    at = at != NULL ? at + strlen(" but") : "";
    while (*at == ' ' && count < FAKE_OPEN_MOST) {
        places[count++] = strtoul(at, (char **)(uintptr_t)&at, 10);
    }
    return count;
}

void fake_open_print(char *position, size_t size, const size_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(position);
        snprintf(position + len, size - len, "%s %zu", i == 0 ? " but" : "", places[i]);
    }
}

void fake_say_life(const struct fake *f, char *out, size_t size)
{
    int len = snprintf(out, size, " as %zu", f->registration);
    if (f->life > 0) {
        snprintf(out + len, size - (size_t)len, " at %zu", f->life);
    }
}

void fake_fall_back(const struct fake *f, const char *position, size_t *log, size_t *behind,
                    size_t *behind_count)
{
    long kept = f->mirror_log >= 0 ? f->mirror_log : f->registered;
    if (f->cursor || fake_life(position) == f->life || kept >= (long)*log) {
        return;
    }
    *log = (size_t)kept;
    *behind_count = f->mirror_log >= 0 ? fake_open_read(f->mirror_open, behind) : 0;
}
