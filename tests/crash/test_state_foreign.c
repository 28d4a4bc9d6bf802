/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An intact state file that does not belong to this configuration: an older copy, another
 * pipeline's, or one of a pipeline of the same name with another database, index or service.
 */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "wait.h"

/* A configuration that differs from the world's in some words, with its own state file in the same
 * folder. */
struct foreign {
    char *config;
    char *state;
};

struct words {
    const char *from;
    const char *to;
};

static char *replaced(const char *text, const struct words *words)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    const char *found = strstr(text, words->from);
    ck_assert_msg(found != NULL, "no \"%s\" in %s", words->from, text);
    buf_push(&out, text, (size_t)(found - text));
    buf_push_text(&out, words->to);
    buf_push_text(&out, found + strlen(words->from));
    return buf_detach(&out);
}

static void foreign_start(struct foreign *f, const struct world *w, const struct words *words,
                          size_t count)
{
    size_t size;
    char *text = damage_read(w->config, &size);
    for (size_t i = 0; i < count; i++) {
        char *next = replaced(text, &words[i]);
        free(text);
        text = next;
    }
    char *next = replaced(text, &(struct words){"state.db", "foreign.db"});
    f->config = scratch_write(w->dir, "foreign.json", next);
    f->state = scratch_path(w->dir, "foreign.db");
    free(text);
    free(next);
}

static void foreign_stop(struct foreign *f)
{
    free(f->config);
    free(f->state);
}

static void foreign_sync(const struct foreign *f)
{
    rowferry_expect(0, f->config, "sync", NULL);
}

/* Two pipelines with the same name and alias: the index stays with the other one. */
static void foreign_refused(const struct foreign *f)
{
    struct program_result result;
    rowferry_run(&result, f->config, "sync", NULL);
    ck_assert_msg(result.exit_code == 1, "exit code %d: %s", result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, "which was built from another database") != NULL, "%s",
                  result.err);
    program_result_release(&result);
}

/* Follows the message's hint for the case that the database is the same. */
static void alias_remove(const struct damage *d)
{
    static const char credential[] = "ApiKey " WORLD_API_KEY;
    const char *url = d->world.service.url;
    struct json_object *alias =
        reply_json(200, "GET", url, "/_alias/shop-articles", NULL, credential);
    char body[512] = "";
    json_object_object_foreach(alias, name, members)
    {
        (void)members;
        snprintf(body, sizeof(body),
                 "{\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}}]}",
                 name);
    }
    json_object_put(alias);
    json_object_put(reply_json(200, "POST", url, "/_aliases", body, credential));
}

/* Replaces the world's state file by the foreign one. */
static void foreign_use(const struct foreign *f, const struct damage *d)
{
    size_t size;
    char *bytes = damage_read(f->state, &size);
    damage_write(d, bytes, size);
    free(bytes);
}

/* Expects that a run is refused with this text in its output. */
static void refused(struct damage *d, const char *what, const char *says)
{
    struct program_result result;
    int64_t taken = crash_taken(&d->world);
    damage_change(d);
    rowferry_run(&result, d->world.config, "sync", "--json", NULL);
    ck_assert_msg(result.exit_code == 1, "%s: exit code %d: %s", what, result.exit_code,
                  result.err);
    ck_assert_msg(strstr(result.err, says) != NULL, "%s: no \"%s\" in %s", what, says, result.err);
    ck_assert_msg(crash_taken(&d->world) == taken, "%s: refused, and yet sent", what);
    damage_judge(d, what, &result);
    program_result_release(&result);
}

/* Another database of the same server, with the same table and more rows. */
struct elsewhere {
    char *uri;
    PGconn *conn;
};

static void elsewhere_start(struct elsewhere *e)
{
    e->uri = database_new();
    e->conn = sql_open(e->uri);
    sql_exec(e->conn, "create table articles (source_id bigint primary key, title text, price "
                      "numeric(12, 4), tags text[], extra jsonb, published boolean, updated_at "
                      "timestamptz not null default now());"
                      "insert into articles select i, 'elsewhere' from generate_series(1, 30) i");
}

static void elsewhere_stop(struct elsewhere *e)
{
    PQfinish(e->conn);
    database_drop(e->uri);
}

START_TEST(an_older_copy_repeats_what_it_had_sent)
{
    struct damage d;
    damage_start(&d);
    for (int i = 0; i < 3; i++) { /* damage_judge restores the older copy each time */
        damage_case(&d, "an older copy");
    }
    ck_assert_int_eq(d.refused, 0);
    damage_stop(&d);
}
END_TEST

/* The log entries that it needs were pruned: to continue would leave a gap. */
START_TEST(an_older_copy_from_before_the_pruning_is_copied_again)
{
    struct damage d;
    struct program_result result;
    damage_start(&d);
    struct deadline deadline = deadline_after(WAIT_MS);
    int64_t sound = sql_int(d.world.conn, "select max(seq) from rowferry.change");
    sql_exec(d.pin, "rollback");
    do { /* open transactions in the cluster may keep entries for a while */
        ck_assert(deadline_wait(&deadline));
        damage_change(&d);
        world_sync(&d.world, 0, &result);
        program_result_release(&result);
    } while (sql_int(d.world.conn, "select count(*) from rowferry.change where seq <= %lld + 1",
                     (long long)sound) > 0);
    damage_write(&d, d.sound, d.size);
    world_sync(&d.world, 0, &result);
    ck_assert_ptr_nonnull(strstr(result.err, "event=copied_again"));
    ck_assert_ptr_nonnull(strstr(result.err, "the state file is an older copy"));
    program_result_release(&result);
    world_expect_equal(&d.world);
    damage_stop(&d);
}
END_TEST

START_TEST(a_file_that_knows_only_another_pipeline_ends_equal)
{
    static const struct words words[] = {{"\"articles\",", "\"letters\","},
                                         {"\"shop-articles\"", "\"shop-letters\""}};
    struct damage d;
    struct foreign f;
    damage_start(&d);
    foreign_start(&f, &d.world, words, 2);
    foreign_sync(&f);
    foreign_use(&f, &d);
    damage_case(&d, "another pipeline's");
    ck_assert_int_eq(d.refused, 0);
    foreign_sync(&f); /* its index is separate */
    foreign_stop(&f);
    damage_stop(&d);
}
END_TEST

START_TEST(a_file_of_the_same_name_with_another_index_is_refused)
{
    static const struct words words[] = {{"\"shop-articles\"", "\"other-articles\""}};
    struct damage d;
    struct foreign f;
    damage_start(&d);
    foreign_start(&f, &d.world, words, 1);
    foreign_sync(&f);
    foreign_use(&f, &d);
    refused(&d, "another index", "to.index was changed to \"shop-articles\", and the live index");
    damage_case(&d, "its own");
    foreign_sync(&f);
    foreign_stop(&f);
    damage_stop(&d);
}
END_TEST

START_TEST(a_file_of_the_same_name_with_another_database_and_index_is_refused)
{
    struct damage d;
    struct foreign f;
    struct elsewhere e;
    damage_start(&d);
    elsewhere_start(&e);
    const struct words words[] = {{d.world.uri, e.uri},
                                  {"\"shop-articles\"", "\"other-articles\""}};
    foreign_start(&f, &d.world, words, 2);
    rowferry_expect(0, f.config, "source", "install", NULL);
    foreign_sync(&f);
    foreign_use(&f, &d);
    refused(&d, "another database",
            "to.index was changed to \"shop-articles\", and the live index");
    damage_case(&d, "its own");
    foreign_sync(&f);
    foreign_stop(&f);
    elsewhere_stop(&e);
    damage_stop(&d);
}
END_TEST

/* The index has the right name and uuid; only the database that filled it differs. */
START_TEST(a_file_of_the_same_name_and_index_with_another_database_is_refused)
{
    struct damage d;
    struct foreign f;
    struct elsewhere e;
    damage_start(&d);
    elsewhere_start(&e);
    const struct words words[] = {{d.world.uri, e.uri}};
    foreign_start(&f, &d.world, words, 1);
    rowferry_expect(0, f.config, "source", "install", NULL);
    foreign_refused(&f);
    world_expect_equal(&d.world);
    alias_remove(&d);
    foreign_sync(&f); /* takes the alias */
    refused(&d, "its own, without the alias", "alias \"shop-articles\" does not point at");
    foreign_use(&f, &d);
    refused(&d, "another database", "the source is another database than the one that index");
    foreign_sync(&f);
    ck_assert_int_eq(sql_int(e.conn, "select count(*) from articles"), 30);
    foreign_stop(&f);
    elsewhere_stop(&e);
    damage_stop(&d);
}
END_TEST

/* Killed in the middle of its initial load, with the same database or another one. */
static void half_built(bool another_database)
{
    struct damage d;
    struct foreign f;
    struct elsewhere e;
    damage_start(&d);
    elsewhere_start(&e);
    const struct words words[] = {{"\"shop-articles\"", "\"other-articles\""},
                                  {d.world.uri, e.uri}};
    foreign_start(&f, &d.world, words, another_database ? 2 : 1);
    rowferry_expect(0, f.config, "source", "install", NULL);
    struct world there = d.world;
    there.config = f.config;
    crash_at(&there, "checkpoint_after_commit=kill@2");
    foreign_use(&f, &d);
    damage_case(&d, "half built");
    foreign_sync(&f);
    foreign_stop(&f);
    elsewhere_stop(&e);
    damage_stop(&d);
}

START_TEST(a_file_of_another_index_that_is_half_built_does_no_harm)
{
    half_built(false);
}
END_TEST

START_TEST(a_file_of_another_database_that_is_half_built_does_no_harm)
{
    half_built(true);
}
END_TEST

START_TEST(a_file_of_the_same_name_with_another_service_is_refused)
{
    struct damage d;
    struct world other;
    struct program_result result;
    size_t size;
    damage_start(&d);
    world_start(&other, 5, NULL);
    world_install(&other);
    world_sync(&other, 0, &result);
    program_result_release(&result);
    char *path = scratch_path(other.dir, "state.db");
    char *bytes = damage_read(path, &size);
    damage_write(&d, bytes, size);
    damage_case(&d, "another world's");
    ck_assert_int_eq(d.refused, 1);
    free(bytes);
    free(path);
    world_stop(&other);
    damage_stop(&d);
}
END_TEST

CRASH_MAIN("crash/state_foreign", an_older_copy_repeats_what_it_had_sent,
           an_older_copy_from_before_the_pruning_is_copied_again,
           a_file_that_knows_only_another_pipeline_ends_equal,
           a_file_of_the_same_name_with_another_index_is_refused,
           a_file_of_the_same_name_with_another_database_and_index_is_refused,
           a_file_of_the_same_name_and_index_with_another_database_is_refused,
           a_file_of_another_index_that_is_half_built_does_no_harm,
           a_file_of_another_database_that_is_half_built_does_no_harm,
           a_file_of_the_same_name_with_another_service_is_refused)
