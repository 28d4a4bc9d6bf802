/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a sync: all families for each pipeline, nothing for what is not known. */
#include "rowferry/serve/sync_metrics.h"

#include "suite.h"

static const char *pushed(struct buf *out, const struct sync_sample *samples, size_t count)
{
    buf_init(out, 65536);
    sync_metrics_push(out, samples, count);
    return buf_text(out);
}

START_TEST(each_family_has_a_sample_for_each_pipeline)
{
    const struct sync_sample samples[] = {
        {"a", 0, 1700000000500000, 1700000000500000, 1250, 7, 2, 0, 0},
        {"b", 3, 1700000000500000, 1600000000000000, 10, 0, 0, 4, 5},
    };
    struct buf out;
    const char *text = pushed(&out, samples, 2);
    static const char *const lines[] = {
        "# TYPE rowferry_sync_exit_code gauge\n",
        "rowferry_sync_exit_code{pipeline=\"a\"} 0\n",
        "rowferry_sync_exit_code{pipeline=\"b\"} 3\n",
        "rowferry_sync_timestamp_seconds{pipeline=\"a\"} 1700000000.5\n",
        "rowferry_sync_last_success_timestamp_seconds{pipeline=\"b\"} 1600000000\n",
        "rowferry_sync_duration_seconds{pipeline=\"a\"} 1.25\n",
        "rowferry_sync_upserts{pipeline=\"a\"} 7\n",
        "rowferry_sync_deletes{pipeline=\"a\"} 2\n",
        "rowferry_sync_rejected{pipeline=\"b\"} 4\n",
        "rowferry_sync_dead_letters{pipeline=\"b\"} 5\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        ck_assert_msg(strstr(text, lines[i]) != NULL, "no %s in\n%s", lines[i], text);
    }
    buf_release(&out);
}
END_TEST

START_TEST(a_pipeline_that_never_succeeded_has_no_time_of_success)
{
    const struct sync_sample sample = {"a", 1, 1700000000500000, 0, 1250, 0, 0, 0, 0};
    struct buf out;
    const char *text = pushed(&out, &sample, 1);
    ck_assert_ptr_null(strstr(text, "rowferry_sync_last_success_timestamp_seconds{"));
    ck_assert_ptr_nonnull(strstr(text, "rowferry_sync_exit_code{pipeline=\"a\"} 1\n"));
    buf_release(&out);
}
END_TEST

SUITE_MAIN("serve/sync_metrics", each_family_has_a_sample_for_each_pipeline,
           a_pipeline_that_never_succeeded_has_no_time_of_success)
