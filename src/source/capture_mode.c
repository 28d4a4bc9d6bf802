/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures. */
#include "rowferry/source/capture_mode.h"

#include <string.h>

static const struct capture_traits capture_mode_table[CAPTURE_MODES] = {
    [CAPTURE_MODE_CHANGELOG] = {.name = "changelog",
                                .installs = true,
                                .keeps = true,
                                .needs_primary = true,
                                .may_query = true,
                                .held = "the change log keeps what came since"},
    [CAPTURE_MODE_CURSOR] = {.name = "cursor",
                             .follows_column = true,
                             .held = "the cursor waits for it",
                             .unqueued = "capture mode cursor has no log"},
};

const struct capture_traits *capture_traits(int mode)
{
    return &capture_mode_table[mode];
}

int capture_mode_find(const char *name)
{
    for (int i = 0; i < CAPTURE_MODES; i++) {
        if (strcmp(capture_mode_table[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}
