/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select dead letters. Pure. */
#include "choice.h"

#include "rowferry/base/units.h"

/* Sets *moment to now minus the duration of the option. */
static int choice_before(const struct arguments *a, enum option_id id, int64_t wall_us,
                         int64_t *moment, struct err *err)
{
    int64_t ms;
    if (!arguments_have(a, id)) {
        return 0;
    }
    if (!units_parse_duration(a->values[id], &ms)) {
        return err_set(err, ERR_CONFIG,
                       "option \"%s\": \"%s\" is not a duration; write 90s, 15m, 12h or 7d",
                       option_rows[id].name, a->values[id]);
    }
    *moment = ms < wall_us / 1000 ? wall_us - ms * 1000 : 1;
    return 0;
}

static int choice_limit_of(const struct arguments *a, int64_t *limit, struct err *err)
{
    const char *text = a->values[OPTION_LIMIT];
    if (text == NULL) {
        return 0;
    }
    if (!units_parse_count(text, limit) || *limit < 1) {
        return err_set(err, ERR_CONFIG, "option \"--limit\": \"%s\" is not a positive integer",
                       text);
    }
    return 0;
}

int choice_of(const struct arguments *a, int64_t wall_us, struct dead_letter_filter *out,
              struct err *err)
{
    *out = (struct dead_letter_filter){.reason = a->values[OPTION_REASON]};
    int rc = choice_before(a, OPTION_OLDER, wall_us, &out->until_us, err);
    if (rc == 0) {
        rc = choice_before(a, OPTION_NEWER, wall_us, &out->since_us, err);
    }
    return rc < 0 ? rc : choice_limit_of(a, &out->limit, err);
}

bool choice_given(const struct arguments *a)
{
    return arguments_have(a, OPTION_REASON) || arguments_have(a, OPTION_OLDER) ||
           arguments_have(a, OPTION_NEWER);
}
