/* SPDX-License-Identifier: Apache-2.0 */
/* Reloading the configuration: what changes in a running process, and for whom. */
#include "rowferry/daemon/settings_reload.h"

#include "workplace.h"

#define LIMIT(n) "\"limits\": {\"in_flight\": " #n "},"

struct reload {
    struct workplace place;
    struct settings_reload settings;
    struct events events;
};

static void reload_init(struct reload *r, const char *top, const char *pipeline)
{
    *r = (struct reload){.place = workplace_make(top, pipeline)};
    settings_reload_init(&r->settings, r->place.config);
    events_watch(&r->events);
}

static void reload_release(struct reload *r)
{
    log_watch(NULL);
    settings_reload_release(&r->settings);
    workplace_remove(&r->place);
}

static int64_t in_flight(const struct reading *r)
{
    return config_pipeline(&r->config, "articles")->limits.in_flight;
}

START_TEST(limits_and_guard_change_for_the_next_reading)
{
    struct reload r;
    struct err err;
    reload_init(&r, "", LIMIT(2));
    workplace_write(&r.place, "\"delete_guard\": {\"count\": 77},", LIMIT(3));
    OK(settings_reload_read_again(&r.settings, &err));
    struct reading *now = settings_reload_take(&r.settings);
    ck_assert_int_eq(in_flight(now), 3);
    ck_assert_int_eq(now->config.pipelines[0].delete_guard.count, 77);
    ck_assert_ptr_nonnull(strstr(r.events.names, "option_changed"));
    ck_assert_ptr_null(strstr(r.events.names, "needs_restart"));
    settings_reload_drop(&r.settings, now);
    reload_release(&r);
}
END_TEST

START_TEST(a_reading_in_use_stays_as_it_was)
{
    struct reload r;
    struct err err;
    reload_init(&r, "", LIMIT(2));
    struct reading *before = settings_reload_take(&r.settings);
    workplace_write(&r.place, "", LIMIT(3));
    OK(settings_reload_read_again(&r.settings, &err));
    workplace_write(&r.place, "", LIMIT(4));
    OK(settings_reload_read_again(&r.settings, &err));
    struct reading *now = settings_reload_take(&r.settings);
    ck_assert_ptr_ne(now, before);
    ck_assert_int_eq(in_flight(before), 2);
    ck_assert_int_eq(in_flight(now), 4);
    settings_reload_drop(&r.settings, before);
    settings_reload_drop(&r.settings, now);
    reload_release(&r);
}
END_TEST

START_TEST(other_options_need_a_restart)
{
    struct reload r;
    struct err err;
    reload_init(&r, "", "");
    workplace_write(&r.place, "\"listen\": \"127.0.0.1:9187\",",
                    "\"verify\": {\"every\": \"1d\"},");
    OK(settings_reload_read_again(&r.settings, &err));
    struct reading *now = settings_reload_take(&r.settings);
    ck_assert_ptr_null(now->config.listen);
    ck_assert_int_eq(now->config.pipelines[0].verify.every_ms, 0);
    ck_assert_ptr_nonnull(strstr(r.events.names, "needs_restart"));
    settings_reload_drop(&r.settings, now);
    reload_release(&r);
}
END_TEST

START_TEST(a_file_with_an_error_changes_nothing)
{
    struct reload r;
    struct err err;
    reload_init(&r, "", LIMIT(2));
    struct reading *before = settings_reload_take(&r.settings);
    workplace_write(&r.place, "", "\"limits\": {\"in_flight\": -3},");
    ck_assert_int_eq(settings_reload_read_again(&r.settings, &err), ERR_CONFIG);
    struct reading *now = settings_reload_take(&r.settings);
    ck_assert_ptr_eq(now, before);
    settings_reload_drop(&r.settings, before);
    settings_reload_drop(&r.settings, now);
    settings_reload_drop(&r.settings, NULL);
    reload_release(&r);
}
END_TEST

/* Stands for a request: accepts the definition with this field. */
static bool has_field(void *context, const struct pipeline_config *pipeline)
{
    return pipeline->field_count == 1 && strcmp(pipeline->fields[0].column, context) == 0;
}

#define FIELD(column) "\"fields\": {\"title\": \"" column "\"},"

START_TEST(a_pipeline_is_redefined_if_the_file_fits_and_stays_so)
{
    struct reload r;
    struct err err;
    bool taken = false;
    char wanted[] = "heading";
    reload_init(&r, "", FIELD("name"));
    workplace_write(&r.place, "", FIELD("other"));
    OK(settings_reload_redefine(&r.settings, "articles", has_field, wanted, &taken, &err));
    ck_assert(!taken);
    workplace_write(&r.place, "", FIELD("heading"));
    OK(settings_reload_redefine(&r.settings, "articles", has_field, wanted, &taken, &err));
    ck_assert(taken);
    OK(settings_reload_read_again(&r.settings, &err)); /* by HUP */
    struct reading *now = settings_reload_take(&r.settings);
    ck_assert_str_eq(now->config.pipelines[0].fields[0].column, "heading");
    settings_reload_drop(&r.settings, now);
    reload_release(&r);
}
END_TEST

START_TEST(a_definition_is_not_taken_unasked)
{
    struct reload r;
    struct err err;
    reload_init(&r, "", FIELD("name"));
    workplace_write(&r.place, "", FIELD("heading"));
    OK(settings_reload_read_again(&r.settings, &err));
    struct reading *now = settings_reload_take(&r.settings);
    ck_assert_str_eq(now->config.pipelines[0].fields[0].column, "name");
    ck_assert_ptr_nonnull(strstr(r.events.names, "needs_restart"));
    settings_reload_drop(&r.settings, now);
    reload_release(&r);
}
END_TEST

SUITE_MAIN("daemon/settings_reload", limits_and_guard_change_for_the_next_reading,
           a_reading_in_use_stays_as_it_was, other_options_need_a_restart,
           a_file_with_an_error_changes_nothing,
           a_pipeline_is_redefined_if_the_file_fits_and_stays_so, a_definition_is_not_taken_unasked)
