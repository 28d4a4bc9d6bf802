/* SPDX-License-Identifier: Apache-2.0 */
/* Links between pages. */
#include "links.h"

#include <check.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"
#include "rowferry/base/text.h"

#define ANCHOR_MAX_BYTES 256

/* Converts a heading to its anchor: small letters, digits, - and _, blanks as -. */
static void name_heading(char out[ANCHOR_MAX_BYTES], const char *heading, size_t len)
{
    size_t used = 0;
    for (size_t i = 0; i < len && used + 1 < ANCHOR_MAX_BYTES; i++) {
        unsigned char c = (unsigned char)heading[i];
        if (isalnum(c) || c == '-' || c == '_' || c >= 0x80) {
            out[used++] = (char)tolower(c);
        } else if (c == ' ') {
            out[used++] = '-';
        }
    }
    out[used] = '\0';
}

/* Returns the position behind the block whose fence begins at `fence`. */
static const char *behind_block(const char *fence)
{
    const char *end = strstr(fence + 3, "\n```");
    return end != NULL ? end + 4 : fence + strlen(fence);
}

static bool has_heading(const char *text, const char *anchor)
{
    char name[ANCHOR_MAX_BYTES];
    for (const char *at = text; *at != '\0';) {
        if (strncmp(at, "```", 3) == 0) {
            at = behind_block(at);
        }
        size_t len = strcspn(at, "\n");
        size_t marks = strspn(at, "#");
        if (marks > 0 && at[marks] == ' ') {
            name_heading(name, at + marks + 1, len - marks - 1);
            if (strcmp(name, anchor) == 0) {
                return true;
            }
        }
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    return false;
}

/* Returns null if the target exists. */
static char *link_fault(const char *path, const char *text, const char *target)
{
    char *file = NULL;
    char *fault = NULL;
    const char *slash = strrchr(path, '/');
    size_t len = strcspn(target, "#");
    ck_assert_int_ge(asprintf(&file, "%.*s/%.*s", (int)(slash - path), path, (int)len, target), 0);
    if (len > 0 && access(file, R_OK) < 0) {
        ck_assert_int_ge(asprintf(&fault, "no file: %s", target), 0);
    } else if (target[len] == '#') {
        struct page page = {0};
        if (len > 0) {
            page_read(&page, file);
        }
        if (!has_heading(len > 0 ? page.text : text, target + len + 1)) {
            ck_assert_int_ge(asprintf(&fault, "no heading: %s", target), 0);
        }
        page_release(&page);
    }
    free(file);
    return fault;
}

char *links_fault(const char *path, const char *text)
{
    char *fault = NULL;
    bool begins = true; /* of a line */
    for (const char *at = text; *at != '\0' && fault == NULL;) {
        if (begins && strncmp(at, "```", 3) == 0) {
            at = behind_block(at);
        } else if (strncmp(at, "](", 2) == 0) {
            size_t len = strcspn(at + 2, ")\n");
            char *target = text_copy_span(span_make(at + 2, len));
            fault = strstr(target, "://") == NULL ? link_fault(path, text, target) : NULL;
            free(target);
            at += 2 + len;
        } else {
            begins = *at++ == '\n';
        }
    }
    return fault;
}
