/* SPDX-License-Identifier: Apache-2.0 */
/* A position that is parsed, printed and parsed again is unchanged. Anything else is refused with a
 * reason. */
#include <string.h>

#include "changelog/position.h"
#include "fuzz.h"

static void print_and_parse(const struct position *p)
{
    struct position again = {0};
    struct buf first;
    struct buf second;
    struct err err;
    buf_init(&first, 1 << 20);
    buf_init(&second, 1 << 20);
    position_print(&first, p);
    int rc = position_parse(&again, buf_text(&first), &err);
    FUZZ_EXPECT(rc == 0, "%s: %s", err.message, buf_text(&first));
    position_print(&second, &again);
    FUZZ_EXPECT(strcmp(buf_text(&first), buf_text(&second)) == 0, "%s became %s", buf_text(&first),
                buf_text(&second));
    FUZZ_EXPECT(position_compare(p, &again) == 0, "%s is not itself", buf_text(&first));
    position_release(&again);
    buf_release(&first);
    buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct position p = {0};
    struct err err = {.class = ERR_NONE};
    char *text = fuzz_text(data, size);
    int rc = position_parse(&p, text, &err);
    if (rc == 0) {
        print_and_parse(&p);
        position_release(&p);
    } else {
        FUZZ_EXPECT(rc == ERR_STATE && err.message[0] != '\0', "refused with %d", rc);
    }
    free(text);
    return 0;
}
