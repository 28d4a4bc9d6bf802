/* SPDX-License-Identifier: Apache-2.0 */
/* Failpoints: parsing the setting and executing the actions. */
#include "rowferry/base/failpoint.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POINTS 16
#define NAME_BYTES 64

enum action { ACTION_KILL, ACTION_ERROR };

struct point {
    char name[NAME_BYTES];
    enum action action;
    unsigned long nth; /* 0 = each time */
    atomic_ulong passed;
};

bool failpoint_armed;
static struct point points[POINTS];
static size_t point_count;

/* Parses "kill", "kill@3", "error" or "error@2". A kill without a number happens at the first
 * pass. */
static bool failpoint_parse_action(struct point *p, const char *text, size_t len)
{
    size_t word = strcspn(text, "@,");
    if (word == 4 && memcmp(text, "kill", 4) == 0) {
        p->action = ACTION_KILL;
    } else if (word == 5 && memcmp(text, "error", 5) == 0) {
        p->action = ACTION_ERROR;
    } else {
        return false;
    }
    p->nth = 0;
    if (word == len) {
        return true;
    }
    char *end;
    if (text[word + 1] < '1' || text[word + 1] > '9') {
        return false;
    }
    p->nth = strtoul(text + word + 1, &end, 10);
    return end == text + len;
}

static bool failpoint_parse_point(const char *text, size_t len)
{
    size_t name = strcspn(text, "=,");
    if (name == 0 || name >= len || name >= NAME_BYTES || point_count == POINTS) {
        return false;
    }
    struct point *p = &points[point_count];
    memcpy(p->name, text, name);
    p->name[name] = '\0';
    atomic_init(&p->passed, 0);
    point_count++;
    return failpoint_parse_action(p, text + name + 1, len - name - 1);
}

bool failpoint_load(const char *setting)
{
    point_count = 0;
    failpoint_armed = false;
    if (setting == NULL || *setting == '\0') {
        return true;
    }
    for (const char *at = setting;; at++) {
        size_t len = strcspn(at, ",");
        if (!failpoint_parse_point(at, len)) {
            point_count = 0;
            return false;
        }
        at += len;
        if (*at == '\0') {
            break;
        }
    }
    failpoint_armed = true;
    return true;
}

static bool failpoint_reached(struct point *p)
{
    unsigned long pass = atomic_fetch_add(&p->passed, 1) + 1;
    return p->nth == 0 || pass == p->nth;
}

bool failpoint_hit(const char *name)
{
    bool fail = false;
    for (size_t i = 0; i < point_count; i++) {
        struct point *p = &points[i];
        if (strcmp(p->name, name) != 0 || !failpoint_reached(p)) {
            continue;
        }
        if (p->action == ACTION_KILL) {
            kill(getpid(), SIGKILL);
        }
        fail = true;
    }
    return fail;
}
