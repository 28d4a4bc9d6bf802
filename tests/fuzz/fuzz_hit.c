/* SPDX-License-Identifier: Apache-2.0 */
/* A hit of a search: its texts are whole, or it is refused in words. */
#include <string.h>

#include "fuzz.h"
#include "rowferry/document/json/hit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hit hit;
    struct err err = {0};
    char *text = fuzz_text(data, size);
    int rc = hit_read(&hit, span_make(text, size), &err);
    const char *const texts[] = {hit.index, hit.id, hit.source_id, hit.pipeline};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        FUZZ_EXPECT(texts[i] == NULL || (rc == 0 && texts[i][0] != '\0'), "text %zu is empty", i);
    }
    FUZZ_EXPECT(rc == 0 ? hit.id != NULL || hit.source_id != NULL : err.message[0] != '\0',
                "neither a key nor a word: %s", text);
    hit_release(&hit);
    free(text);
    return 0;
}
