/* SPDX-License-Identifier: Apache-2.0 */
/* status: the result of the last scheduled comparison. */
#include <string.h>

#include "output/result.h"
#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"
#include "status/status.h"

/* Appends "7 missing, 9 altered, 16 sent; 20,000 rows". */
void status_push_verification(struct buf *out, const struct status *s)
{
    const struct verification *v = &s->upkeep.verification;
    char iso[CLOCK_ISO_BYTES];
    char count[UNITS_BYTES];
    char took[UNITS_BYTES];
    if (!s->upkeep.verified) {
        return;
    }
    status_push_line(out, "verified");
    buf_printf(out, "%s: ", clock_iso(iso, v->ended_us, 0));
    if (v->failed) {
        buf_push_literal(out, "failed");
    } else {
        buf_push_text(out, verification_differences(v) > 0 ? "differed"
                           : v->waiting > 0                ? "not known yet"
                                                           : "equal");
        status_push_some(out, v->missing, "missing");
        status_push_some(out, v->extra, "extra");
        status_push_some(out, v->altered, "altered");
        status_push_some(out, v->sent, "sent again");
        status_push_some(out, v->dead_letters, "dead letters");
        status_push_some(out, v->waiting, "not yet synced");
        buf_printf(out, "; %s rows in %s", units_count(count, v->rows),
                   result_duration(took, v->took_ms));
        buf_push_text(out, v->restored ? "; the index looks restored from an older copy" : "");
    }
    if (v->message[0] != '\0') {
        buf_push_literal(out, ": ");
        terminal_push_safe(out, v->message, strlen(v->message));
    }
    buf_push_char(out, '\n');
}

void status_push_json_verification(struct buf *out, const struct status *s)
{
    const struct verification *v = &s->upkeep.verification;
    if (!s->upkeep.verified) {
        record_text(out, "verified", NULL);
        return;
    }
    record_name(out, "verified");
    record_open(out);
    record_time(out, "ended", v->ended_us);
    record_seconds(out, "seconds", v->took_ms);
    record_int(out, "rows", v->rows);
    record_int(out, "documents", v->documents);
    record_int(out, "missing", v->missing);
    record_int(out, "extra", v->extra);
    record_int(out, "altered", v->altered);
    record_int(out, "sent", v->sent);
    record_int(out, "dead_letters", v->dead_letters);
    record_int(out, "waiting", v->waiting);
    record_bool(out, "looks_restored", v->restored);
    record_bool(out, "failed", v->failed);
    record_text(out, "message", v->message[0] != '\0' ? v->message : NULL);
    record_close(out);
}
