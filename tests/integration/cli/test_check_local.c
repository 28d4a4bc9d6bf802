/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of check about the configuration and its surroundings, the state file, the mapping and
 * the capacity, and their remedies. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"
#include "sql.h"
#include "suite.h"

#define ALL(table) planted_try_all(table, sizeof(table) / sizeof((table)[0]))
#define KEYWORDS "\"title\":{\"type\":\"keyword\"}"
#define ROOM "\"number_of_replicas\": 0"

START_TEST(what_stands_in_the_way_of_a_pipeline_is_told)
{
    static const struct planted faults[] = {
        {.line = "standing",
         .status = "FAIL",
         .words = "50 deletes were counted",
         .synced = true,
         .setting = {.limits = "\"retry_budget\": \"20s\"}, \"delete_guard\": {\"count\": 10"},
         .plant = "delete from articles",
         .command = "rowferry sync",
         .remedy = "rowferry sync --allow-deletes articles",
         .mend = MEND_ROWFERRY},
        {.line = "standing",
         .status = "WARN",
         .words = "it is paused",
         .synced = true,
         .command = "rowferry pause articles",
         .remedy = "rowferry resume articles",
         .mend = MEND_ROWFERRY},
        {.line = "standing",
         .status = "WARN",
         .words = "a rebuild that began",
         .synced = true,
         .setting = {.limits = "\"retry_budget\": \"1s\""},
         .faults = {"{\"status\":503,\"path\":\"/_aliases\"}"},
         .passing = true,
         .command = "rowferry reindex",
         .remedy = "rowferry reindex articles",
         .mend = MEND_ROWFERRY},
    };
    ALL(faults);
}
END_TEST

START_TEST(dead_letters_that_are_open_are_told)
{
    struct world w;
    struct lines l;
    world_start(&w, 5, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    sql_exec(w.conn, "update articles set updated_at = 'infinity' where source_id = 3");
    rowferry_expect(3, w.config, "sync", NULL);
    lines_look(&l, w.config, "--accept-admin", NULL);
    const char *remedy = lines_expect(&l, "standing", "WARN", "1 dead letter is open");
    ck_assert_ptr_nonnull(strstr(remedy, "\"rowferry deadletter list articles\" shows why"));
    ck_assert_ptr_nonnull(strstr(remedy, "correct the rows, then: rowferry sync articles"));
    lines_release(&l);
    rowferry_expect(0, w.config, "deadletter", "list", "articles", NULL);
    sql_exec(w.conn, "update articles set updated_at = now() where source_id = 3");
    rowferry_expect(0, w.config, "sync", "articles", NULL);
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "standing", "PASS", "");
    ck_assert_int_eq(l.exit_code, 0);
    lines_release(&l);
    world_stop(&w);
}
END_TEST

START_TEST(a_mapping_that_the_service_refuses_is_found)
{
    static const struct planted faults[] = {
        {.line = "acceptance",
         .status = "FAIL",
         .words = "the analyzer [nope]",
         .setting = {.properties = "\"title\":{\"type\":\"text\",\"analyzer\":\"nope\"}"},
         .remedy = "correct to.mappings",
         .mend = MEND_SETTING,
         .mended = {.properties = "\"title\":{\"type\":\"text\",\"analyzer\":\"standard\"}"}},
    };
    ALL(faults);
}
END_TEST

START_TEST(a_mapping_that_does_not_fit_is_found)
{
    static const struct planted faults[] = {
        {.line = "mapping",
         .status = "FAIL",
         .words = "\"headline\"",
         .setting = {.properties = "\"headline\":{\"type\":\"text\"}"},
         .remedy = "\"fields\"",
         .mend = MEND_SETTING,
         .mended = {.properties = "\"headline\":{\"type\":\"text\"}",
                    .members = "\"fields\": {\"headline\": \"title\"}"}},
        {.line = "mapping",
         .status = "FAIL",
         .words = "\"published\" (date) cannot be filled",
         .setting = {.properties = "\"published\":{\"type\":\"date\"}"},
         .remedy = "a column of type boolean can fill",
         .mend = MEND_SETTING,
         .mended = {.properties = "\"published\":{\"type\":\"boolean\"}"}},
        {.line = "mapping",
         .status = "FAIL",
         .words = "\"extra\"",
         .setting = {.properties = "\"extra\":{\"type\":\"object\"}"},
         .remedy = "enabled",
         .mend = MEND_SETTING,
         .mended = {.properties = "\"extra\":{\"type\":\"object\",\"enabled\":false}"}},
        {.line = "guessing",
         .status = "WARN",
         .words = "members of \"extra\"",
         .setting = {.properties = "\"extra\":{\"type\":\"object\",\"dynamic\":true}"},
         .remedy = "\"enabled\": false",
         .mend = MEND_SETTING,
         .mended = {.properties = "\"extra\":{\"type\":\"object\",\"enabled\":false}"}},
        {.line = "guessing",
         .status = "WARN",
         .words = "lets the service guess",
         .setting = {.properties = KEYWORDS "},\"dynamic\":true,\"_meta\":{"},
         .remedy = "leave \"dynamic\" out of to.mappings",
         .mend = MEND_SETTING,
         .mended = {.properties = KEYWORDS}},
        {.line = "definition",
         .status = "FAIL",
         .words = "has another definition",
         .synced = true,
         .setting = {.properties = KEYWORDS},
         .remedy = "rowferry reindex articles",
         .mend = MEND_ROWFERRY},
        {.line = "definition",
         .status = "WARN",
         .words = "can be extended as configured",
         .synced = true,
         .before = "alter table articles add more text",
         .setting = {.properties = WORLD_PROPERTIES ",\"more\":{\"type\":\"text\"}"},
         .remedy = "rowferry reindex articles",
         .mend = MEND_ROWFERRY},
    };
    ALL(faults);
}
END_TEST

#define VECTOR(n) "\"v\":{\"type\":\"knn_vector\",\"dimension\":" #n "}"

START_TEST(what_there_is_no_room_for_is_found)
{
    static const struct planted faults[] = {
        {.line = "documents",
         .status = "WARN",
         .words = "never analysed",
         .before = "create table fresh (like articles including all); insert into fresh select * "
                   "from articles; drop table articles; alter table fresh rename to articles",
         .remedy = "analyze \"public\".\"articles\"",
         .mend = MEND_SQL},
        {.line = "documents",
         .status = "WARN",
         .words = "becomes a dead letter",
         .plant = "update articles set title = repeat('x', 4000) where source_id = 1",
         .setting = {.limits = "\"document_bytes\": \"1KiB\""},
         .remedy = "raise limits.document_bytes",
         .mend = MEND_SETTING,
         .mended = {.limits = "\"document_bytes\": \"1MiB\""}},
        {.line = "fields",
         .status = "FAIL",
         .words = "7, and the index takes 5",
         .setting = {.to = "\"settings\": {\"index.mapping.total_fields.limit\": 5}"},
         .remedy = "in to.settings: \"index.mapping.total_fields.limit\": 8",
         .mend = MEND_SETTING,
         .mended = {.to = "\"settings\": {\"index.mapping.total_fields.limit\": 8}"}},
    };
    ALL(faults);
}
END_TEST

START_TEST(shards_and_load_that_do_not_fit_are_found)
{
    static const struct planted faults[] = {
        {.line = "shards",
         .status = "WARN",
         .words = "the index stays yellow",
         .remedy = "in to.settings: \"number_of_replicas\": 0",
         .mend = MEND_SETTING,
         .mended = {.to = "\"settings\": {" ROOM "}"}},
        {.line = "shards",
         .status = "WARN",
         .words = "each costs memory",
         .setting = {.to = "\"settings\": {" ROOM ", \"number_of_shards\": 6}"},
         .remedy = "in to.settings: \"number_of_shards\": 1",
         .mend = MEND_SETTING,
         .mended = {.to = "\"settings\": {" ROOM ", \"number_of_shards\": 1}"}},
        {.line = "shards",
         .status = "WARN",
         .words = "takes long to move",
         .plant = "set allow_system_table_mods = on; update pg_class set reltuples = 1e9 where "
                  "oid = 'articles'::regclass",
         .setting = {.to = "\"settings\": {" ROOM "}"},
         .remedy = "in to.settings: \"number_of_shards\": ",
         .mend = MEND_SETTING,
         .mended = {.to = "\"settings\": {" ROOM ", \"number_of_shards\": 12}"}},
        {.line = "vectors",
         .status = "FAIL",
         .words = "20000 dimensions, and OpenSearch takes 16000",
         .before = "alter table articles add v float4[]",
         .setting = {.properties = VECTOR(20000)},
         .remedy = "fewer dimensions",
         .mend = MEND_SETTING,
         .mended = {.properties = VECTOR(384)}},
        {.line = "load",
         .status = "INFO",
         .words = "not stated: query rate, retention, growth",
         .remedy = "\"capacity\": {\"query_rate\": 10, \"retention\": \"365d\", \"growth\": 1000}",
         .mend = MEND_SETTING,
         .mended = {.members = "\"capacity\": {\"query_rate\": 10, \"retention\": \"365d\", "
                               "\"growth\": 1000}"}},
        {.line = "load",
         .status = "INFO",
         .words = "not stated: retention",
         .setting = {.members = "\"capacity\": {\"query_rate\": 10, \"growth\": 1000}"},
         .remedy = "how long a document stays",
         .mend = MEND_SETTING,
         .mended = {.members = "\"capacity\": {\"query_rate\": 10, \"retention\": \"30d\", "
                               "\"growth\": 1000}"}},
    };
    ALL(faults);
}
END_TEST

/* A query that needs long per row is abandoned. */
START_TEST(a_sample_that_takes_too_long_is_given_up)
{
    struct world w;
    struct lines l;
    world_start(&w, 50, NULL);
    world_install(&w);
    world_from(&w, "\"query\": \"select a.* from public.articles a where pg_catalog.pg_sleep(1) is "
                   "not null\"");
    lines_look(&l, w.config, "--accept-admin", NULL);
    const char *remedy = lines_expect(&l, "documents", "WARN", "takes more than 10s");
    ck_assert_ptr_nonnull(strstr(remedy, "look at the plan of from.query"));
    lines_expect(&l, "fields", "PASS", "");
    lines_release(&l);
    world_from(&w, "\"query\": \"select a.* from public.articles a\"");
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect_none(&l, "documents", "WARN", "takes more than 10s");
    lines_expect(&l, "storage", "PASS", "");
    ck_assert_int_eq(l.exit_code, 0);
    lines_release(&l);
    world_stop(&w);
}
END_TEST

START_TEST(a_configuration_that_opens_too_much_is_told)
{
    static const struct planted faults[] = {
        {.line = "configuration",
         .status = "WARN",
         .words = "any client of it can read metrics",
         .setting = {.limits = "}, \"listen\": \"0.0.0.0:9187\", \"log\": {"},
         .remedy = "listen on 127.0.0.1",
         .mend = MEND_SETTING,
         .mended = {.limits = "}, \"listen\": \"127.0.0.1:9187\", \"log\": {"}},
    };
    ALL(faults);
}
END_TEST

/* --- files -------------------------------------------------------------------------------------
 */

static void run_shell(const char *command)
{
    struct program program;
    struct program_result r;
    char one[4096];
    snprintf(one, sizeof(one), "%.*s", (int)strcspn(command, ";"), command);
    program_start(&program, (const char *const[]){"/bin/sh", "-c", one, NULL}, NULL);
    program_finish(&program, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%s: %s", one, r.err);
    program_result_release(&r);
}

/* Runs the remedy's text from `command` on. */
static void mends(const struct world *w, const char *line, const char *status, const char *words,
                  const char *command)
{
    struct lines l;
    lines_look(&l, w->config, "--accept-admin", NULL);
    const char *remedy = lines_expect(&l, line, status, words);
    const char *at = strstr(remedy, command);
    ck_assert_msg(at != NULL, "no \"%s\" in \"%s\"", command, remedy);
    run_shell(at);
    lines_release(&l);
    lines_look(&l, w->config, "--accept-admin", NULL);
    lines_expect_none(&l, line, status, words);
    lines_expect(&l, line, "PASS", "");
    ck_assert_int_eq(l.exit_code, 0);
    lines_release(&l);
}

START_TEST(files_that_are_missing_or_open_to_others_are_told)
{
    struct world w;
    struct lines l;
    world_start(&w, 5, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    char *key = scratch_path(w.dir, "key");
    char *state = scratch_path(w.dir, "state.db");
    ck_assert_int_eq(chmod(key, 0644), 0);
    mends(&w, "secrets", "WARN", "can be read by others", "chmod 600");
    ck_assert_int_eq(chmod(state, 0640), 0);
    mends(&w, "state file", "WARN", "users other than its owner may open", "chmod 600");
    ck_assert_int_eq(chmod(w.dir, 0777), 0);
    mends(&w, "state file", "FAIL", "may replace the state file in", "chmod go-w");
    ck_assert_int_eq(unlink(key), 0);
    lines_look(&l, w.config, "--accept-admin", NULL);
    ck_assert_ptr_nonnull(strstr(lines_expect(&l, "secrets", "FAIL", key),
                                 "put the secret there, readable by this user alone"));
    lines_expect(&l, "credential", "SKIP", "");
    ck_assert_int_eq(l.exit_code, 4);
    lines_release(&l);
    free(scratch_write(w.dir, "key", WORLD_API_KEY "\n"));
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "secrets", "PASS", "");
    lines_release(&l);
    free(key);
    free(state);
    world_stop(&w);
}
END_TEST

START_TEST(a_state_file_without_a_place_or_of_another_program_is_told)
{
    struct world w;
    struct lines l;
    struct stat at;
    world_start(&w, 5, NULL);
    world_install(&w);
    char *dir = w.dir;
    char *place = scratch_path(dir, "far");
    char *key = scratch_path(dir, "far/key");
    /* the configuration names a folder that does not exist, but its secret exists */
    ck_assert_int_eq(mkdir(place, 0700), 0);
    w.dir = place;
    free(scratch_write(dir, "far/key", WORLD_API_KEY "\n"));
    world_configure(&w, WORLD_PROPERTIES, "");
    char *config = scratch_path(dir, "moved.json");
    char *old = scratch_path(dir, "far/rowferry.json");
    char *deep = scratch_path(dir, "far/deep");
    ck_assert_int_eq(rename(old, config), 0);
    char command[8192];
    snprintf(command, sizeof(command), "sed -i 's#%s/state.db#%s/state.db#' %s", place, deep,
             config);
    run_shell(command);
    free(w.config);
    w.config = config;
    mends(&w, "state file", "FAIL", "No such file or directory", "mkdir -p -m 700");
    ck_assert_int_eq(stat(deep, &at), 0);
    ck_assert_int_eq(at.st_mode & 0777, 0700);
    char *foreign = scratch_write(dir, "far/deep/state.db", "this is no database");
    lines_look(&l, w.config, "--accept-admin", NULL);
    const char *remedy = lines_expect(&l, "state file", "FAIL", foreign);
    ck_assert_msg(remedy[0] != '\0', "no remedy");
    lines_release(&l);
    ck_assert_int_eq(unlink(foreign), 0);
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "state file", "PASS", "will be created");
    ck_assert_int_eq(l.exit_code, 0);
    lines_release(&l);
    free(foreign);
    free(deep);
    free(old);
    free(key);
    free(place);
    w.dir = dir;
    world_stop(&w);
}
END_TEST

/* Locks on a file of another machine are only known to that machine. */
START_TEST(a_state_file_on_another_machines_disk_is_told)
{
    static const char *const kinds[] = {"0x6969", "0xff534d42", "0x01021997"};
    struct world w;
    struct lines l;
    char disk[64];
    world_start(&w, 5, NULL);
    world_install(&w);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(disk, sizeof(disk), "ROWFERRY_TEST_DISK=%s", kinds[i]);
        lines_look(&l, w.config, "--accept-admin",
                   (const char *const[]){"LD_PRELOAD=" TEST_ELSEWHERE, disk,
                                         "ASAN_OPTIONS=verify_asan_link_order=0", NULL});
        ck_assert_str_eq(lines_expect(&l, "state file", "FAIL", "locks are not reliable"),
                         "set state.path to a disk of this machine");
        ck_assert_int_eq(l.exit_code, 4);
        lines_release(&l);
    }
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "state file", "PASS", "");
    lines_release(&l);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/check_local", what_stands_in_the_way_of_a_pipeline_is_told,
           dead_letters_that_are_open_are_told, a_mapping_that_the_service_refuses_is_found,
           a_mapping_that_does_not_fit_is_found, what_there_is_no_room_for_is_found,
           shards_and_load_that_do_not_fit_are_found, a_sample_that_takes_too_long_is_given_up,
           a_configuration_that_opens_too_much_is_told,
           a_state_file_on_another_machines_disk_is_told,
           files_that_are_missing_or_open_to_others_are_told,
           a_state_file_without_a_place_or_of_another_program_is_told)
