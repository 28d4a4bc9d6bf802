/* SPDX-License-Identifier: Apache-2.0 */
/* An index with another definition whose canonical text is unknown: reported as drift, and nothing
 * is sent. */
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "rowferry/state/checkpoint.h"
#include "suite.h"

#define INDEX "things-20231114-1"

/* Makes the generation live, as if built from this mapping and identity. */
static void be_live(struct fake *f, char *mapping, char *identity)
{
    struct state *state;
    struct err err;
    struct checkpoint c = {.generation = (char[]){INDEX},
                           .mapping_fingerprint = mapping,
                           .table_fingerprint = (char[]){"t"},
                           .source_identity = identity,
                           .generation_number = 1};
    fake_init(f, 40);
    snprintf(f->index, sizeof(f->index), INDEX);
    snprintf(f->alias, sizeof(f->alias), INDEX);
    snprintf(f->uuid, sizeof(f->uuid), "u");
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(checkpoint_begin_generation(state, &c, &err), 0);
    ck_assert_int_eq(checkpoint_set_uuid(state, "u", &err), 0);
    ck_assert_int_eq(checkpoint_go_live(state, 1, &err), 0);
    state_close(state);
}

static void expect_drift(struct fake *f, const char *what, const char *restore)
{
    struct err err;
    ck_assert_int_eq(fake_sync(f, NULL, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, what) != NULL, "%s", err.message);
    ck_assert(strncmp(err.hint, restore, strlen(restore)) == 0);
    ck_assert_str_eq(err.hint + strlen(restore), ", or rebuild the index: rowferry reindex things");
    ck_assert(err.drift);
    ck_assert_int_eq(f->operations, 0);
    fake_release(f);
}

START_TEST(another_definition_is_drift)
{
    struct fake f;
    be_live(&f, (char[]){"m"}, (char[]){"1/fake"});
    expect_drift(&f, "mapping or to.ingest_pipeline differ from those that index \"" INDEX "\"",
                 "restore its former definition");
}
END_TEST

START_TEST(another_database_is_drift)
{
    struct fake f;
    be_live(&f, (char[]){"m"}, (char[]){"2/fake"});
    expect_drift(&f, "the source is another database than the one that index \"" INDEX "\"",
                 "pg_upgrade, a restored dump and a logical copy make another database: connect to "
                 "the former one");
}
END_TEST

START_TEST(an_alias_that_somebody_moved_is_none)
{
    struct fake f;
    struct err err;
    be_live(&f, (char[]){"m"}, (char[]){"1/fake"});
    strcpy(f.alias, "other-1");
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_STATE);
    ck_assert(!err.drift);
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/schema", another_definition_is_drift, another_database_is_drift,
           an_alias_that_somebody_moved_is_none)
