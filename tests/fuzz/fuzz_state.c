/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A damaged state file must be read correctly or refused with one line. A position that the program
 * did not write must never be accepted. The first byte decides if the rest is the file, or patches
 * of a valid one: two bytes of offset, one of length, then the bytes.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "rowferry/base/text.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/history.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/rebuild.h"
#include "rowferry/state/reconcile.h"

static char folder[64];
static char path[96];
static char *good; /* a valid state file */
static size_t good_size;

static void expect_error(int rc, const struct err *err)
{
    FUZZ_EXPECT(rc == 0 || rc == ERR_STATE || rc == ERR_TRANSIENT, "ended with %d: %s", rc,
                err->message);
    FUZZ_EXPECT(rc == 0 || (err->message[0] != '\0' && strchr(err->message, '\n') == NULL),
                "message: %s", err->message);
}

static void remove_files(void)
{
    static const char *const endings[] = {"", "-journal", ".lock", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void remove_folder(void)
{
    remove_files();
    rmdir(folder);
    free(good);
}

static void fill(struct state *s)
{
    struct err err;
    struct checkpoint c = {.generation = (char[]){"things-20260101-1"},
                           .generation_number = 1,
                           .mapping_fingerprint = (char[]){"0123456789abcdef"},
                           .table_fingerprint = (char[]){"fedcba9876543210"},
                           .source_identity = (char[]){"1/things"}};
    struct new_letter letter = {.key = span_make("7", 1),
                                .kind = OPERATION_UPSERT,
                                .reason = span_make("no number", 9),
                                .version = 5};
    struct settlement settlement = {.position = "log 100:100:",
                                    .settled = 1,
                                    .letters = &letter,
                                    .letter_count = 1,
                                    .wall_us = 1763719200000000};
    bool done = checkpoint_begin_generation(s, &c, &err) == 0 &&
                checkpoint_set_uuid(s, "uuid", &err) == 0 &&
                checkpoint_settle(s, &settlement, &err) == 0;
    FUZZ_EXPECT(done, "%s", err.message);
}

static void read_good(void)
{
    struct stat what;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    FUZZ_EXPECT(fd >= 0 && fstat(fd, &what) == 0, "no state file");
    good_size = (size_t)what.st_size;
    good = mem_zero(good_size, 1);
    FUZZ_EXPECT(read(fd, good, good_size) == (ssize_t)good_size, "no state file");
    close(fd);
}

static void prepare(void)
{
    struct state *s = NULL;
    struct err err;
    snprintf(folder, sizeof(folder), "%s/rowferry-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_EXPECT(mkdtemp(folder) != NULL, "no folder");
    snprintf(path, sizeof(path), "%s/state.db", folder);
    FUZZ_EXPECT(state_open(&s, path, "things", &err) == 0, "%s", err.message);
    fill(s);
    state_close(s);
    read_good();
    atexit(remove_folder);
}

static void patch(char *file, const uint8_t *data, size_t size)
{
    while (size > 3) {
        size_t at = ((size_t)data[0] << 8 | data[1]) * 2 % good_size;
        size_t len = data[2];
        data += 3;
        size -= 3;
        len = len < size ? len : size;
        len = len < good_size - at ? len : good_size - at;
        memcpy(file + at, data, len);
        data += len;
        size -= len;
    }
}

static void write_file(const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char *file = mem_zero(good_size, 1);
    bool raw = size > 0 && data[0] % 8 == 0;
    memcpy(file, good, good_size);
    if (!raw && size > 0) {
        patch(file, data + 1, size - 1);
    }
    size_t len = raw ? size - 1 : good_size;
    FUZZ_EXPECT(fd >= 0 && write(fd, raw ? (const char *)data + 1 : file, len) == (ssize_t)len,
                "no file");
    close(fd);
    free(file);
}

static int count_letter(void *context, const struct dead_letter *letter)
{
    FUZZ_EXPECT(letter->key != NULL && letter->reason != NULL, "a letter without a key");
    (*(int64_t *)context)++;
    return 0;
}

static void look(struct state *s)
{
    struct err err = {.class = ERR_NONE};
    struct checkpoint c = {0};
    struct guard_stop halt;
    struct run runs[4];
    struct rebuild rebuild;
    struct reconcile reconcile;
    struct live_progress working;
    bool known;
    size_t count;
    int64_t letters = 0;
    int rc = checkpoint_load(s, &c, &err);
    expect_error(rc, &err);
    FUZZ_EXPECT(rc < 0 || c.phase == GENERATION_NONE || c.generation != NULL,
                "a generation without a name");
    checkpoint_release(&c);
    expect_error(deadletter_each(s, count_letter, &letters, &err), &err);
    expect_error(history_last(s, runs, 4, &count, &err), &err);
    expect_error(guard_stop_read(s, &halt, &known, &err), &err);
    expect_error(rebuild_look(s, &rebuild, &known, &err), &err);
    expect_error(reconcile_read(s, &reconcile, &known, &err), &err);
    expect_error(live_progress_read(s, &working, &known, &err), &err);
}

static void settle(struct state *s)
{
    struct err err = {.class = ERR_NONE};
    struct settlement settlement = {.position = "log 200:200:", .settled = 1, .wall_us = 1};
    expect_error(checkpoint_raise_ceiling(s, INT64_C(1) << 60, &err), &err);
    expect_error(checkpoint_settle(s, &settlement, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct state *s = NULL;
    struct err err = {.class = ERR_NONE};
    if (good == NULL) {
        prepare();
    }
    remove_files();
    write_file(data, size);
    int rc = state_open_read_only(&s, path, "things", &err);
    expect_error(rc, &err);
    if (s != NULL) {
        look(s);
        state_close(s);
    }
    s = NULL;
    rc = state_open(&s, path, "things", &err);
    expect_error(rc, &err);
    FUZZ_EXPECT((rc == 0) == (s != NULL), "opened with %d", rc);
    if (rc == 0) {
        look(s);
        settle(s);
        state_close(s);
    }
    return 0;
}
