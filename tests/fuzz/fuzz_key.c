/* SPDX-License-Identifier: Apache-2.0 */
/* The key's text: joined parts split into the same parts, and split parts join to the same text. */
#include <string.h>

#include "fuzz.h"
#include "keyjoin.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/key.h"

#define MAX_PARTS 5

/* Joins the parts of the text, each ended by a line feed, and splits the result again. */
static void join_and_split(char *text, size_t count)
{
    const char *parts[MAX_PARTS];
    size_t lens[MAX_PARTS];
    size_t offsets[MAX_PARTS];
    struct buf joined;
    struct buf split;
    struct err err;
    for (size_t i = 0; i < count; i++) {
        parts[i] = text;
        lens[i] = i + 1 < count ? strcspn(text, "\n") : strlen(text);
        text += lens[i] + (text[lens[i]] != '\0');
    }
    buf_init(&joined, 1 << 20);
    buf_init(&split, 1 << 20);
    key_join(&joined, parts, lens, count);
    int rc = key_split(&split, offsets, buf_text(&joined), joined.len, count, &err);
    FUZZ_EXPECT(rc == 0, "%s: %s", err.message, buf_text(&joined));
    for (size_t i = 0; i < count; i++) {
        const char *part = buf_text(&split) + offsets[i];
        FUZZ_EXPECT(strlen(part) == lens[i] && memcmp(part, parts[i], lens[i]) == 0,
                    "part %zu of %s is %s", i, buf_text(&joined), part);
    }
    buf_release(&joined);
    buf_release(&split);
}

static void split_and_join(const char *text, size_t count)
{
    const char *parts[MAX_PARTS];
    size_t lens[MAX_PARTS];
    size_t offsets[MAX_PARTS];
    struct buf joined;
    struct buf split;
    struct err err;
    buf_init(&joined, 1 << 20);
    buf_init(&split, 1 << 20);
    if (key_split(&split, offsets, text, strlen(text), count, &err) == 0) {
        for (size_t i = 0; i < count; i++) {
            parts[i] = buf_text(&split) + offsets[i];
            lens[i] = strlen(parts[i]);
        }
        key_join(&joined, parts, lens, count);
        FUZZ_EXPECT(strcmp(buf_text(&joined), text) == 0, "%s from %s", buf_text(&joined), text);
    } else {
        FUZZ_EXPECT(err.message[0] != '\0' && split.len == 0, "refused without a word");
    }
    buf_release(&joined);
    buf_release(&split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t count = data[0] % MAX_PARTS + 1;
    char *text = fuzz_text(data + 1, size - 1);
    split_and_join(text, count);
    join_and_split(text, count);
    free(text);
    return 0;
}
