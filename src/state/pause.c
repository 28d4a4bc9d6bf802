/* SPDX-License-Identifier: Apache-2.0 */
/* The error of commands that do not work on a paused pipeline. */
#include "rowferry/state/pause.h"

#include "database.h"
#include "rowferry/base/clock.h"

int pause_expect_none(struct state *s, struct err *err)
{
    char iso[CLOCK_ISO_BYTES];
    int64_t since_us;
    int result = pause_read(s, &since_us, err);
    if (result < 0 || since_us == 0) {
        return result;
    }
    err_set(err, ERR_STATE, "it is paused since %s", clock_iso(iso, since_us, 0));
    return err_hint(err, "run: rowferry resume %s", s->pipeline);
}
