/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Malicious answers of the service: megabytes of empty objects, objects in place of lists, strings
 * in place of objects, names of 300,000 dots. Every command must end by itself, with one error, in
 * little memory.
 */
#include <signal.h>

#include "fault.h"
#include "rowferry/base/buf.h"

#ifdef __SANITIZE_ADDRESS__
#define MOST_KIB (640 * 1024) /* includes the sanitizer's memory */
#else
#define MOST_KIB (64 * 1024)
#endif
#define HEAD_BYTES 512
#define BODY_BYTES ((size_t)8 << 20) /* maximum size of an answer */
#define SHORT_BUDGET "\"retry_budget\": \"1s\""
#define NAME_BYTES 256
#define KINDS 64

static const char head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-elastic-product: Elasticsearch\r\n"
    "%sContent-Length: %zu\r\n\r\n";

struct lies {
    const char *method; /* method of falsified requests: "GET " */
    const char *path;   /* suffix of their path without the query; null: selected by number */
    const char *begin;  /* start of the body; %s is replaced by the first part of the path */
    const char *piece;  /* repeated to fill the body to this size */
    size_t bytes;
    const char *end; /* end of the body */
    size_t number;   /* kind of request to falsify, in order of first appearance */
    size_t kinds;
    char kind[KINDS][NAME_BYTES];
    size_t told;
    const char *packed; /* folder for compressing the body; null: not compressed */
    struct buf answer;
};

static void pack(struct buf *body, const char *folder)
{
    char command[512];
    char path[256];
    size_t len = 0;
    snprintf(path, sizeof(path), "%s/body", folder);
    FILE *file = fopen(path, "w");
    ck_assert(file != NULL && fwrite(buf_text(body), 1, body->len, file) == body->len);
    ck_assert_int_eq(fclose(file), 0);
    snprintf(command, sizeof(command), "gzip -9 -c '%s'", path);
    file = popen(command, "r");
    ck_assert_ptr_nonnull(file);
    buf_reset(body);
    for (char piece[4096]; (len = fread(piece, 1, sizeof(piece), file)) > 0;) {
        buf_push(body, piece, len);
    }
    ck_assert_int_eq(pclose(file), 0);
}

static void make_answer(struct lies *l, const char *path)
{
    struct buf body;
    int first = (int)strcspn(path + 1, "/? ");
    buf_init(&body, BODY_BYTES);
    for (const char *at = l->begin; *at != '\0'; at++) {
        if (strncmp(at, "%s", 2) == 0) {
            buf_push(&body, path + 1, (size_t)first);
            at++;
        } else {
            buf_push_char(&body, *at);
        }
    }
    while (l->piece != NULL && body.len + strlen(l->piece) + strlen(l->end) < l->bytes) {
        buf_push_text(&body, l->piece);
    }
    buf_push_text(&body, l->end);
    if (l->packed != NULL) {
        pack(&body, l->packed);
    }
    buf_reset(&l->answer);
    buf_printf(&l->answer, head, l->packed != NULL ? "Content-Encoding: gzip\r\n" : "", body.len);
    buf_push(&l->answer, buf_text(&body), body.len);
    buf_release(&body);
}

/* Returns the number of the request's kind: its method and path. */
static size_t kind_of(struct lies *l, const char *request)
{
    char name[NAME_BYTES];
    const char *path = strchr(request, ' ') + 1;
    size_t len = (size_t)(path - request) + strcspn(path, "? \r");
    snprintf(name, sizeof(name), "%.*s", (int)len, request);
    for (size_t i = 0; i < l->kinds; i++) {
        if (strcmp(l->kind[i], name) == 0) {
            return i;
        }
    }
    ck_assert_uint_lt(l->kinds, KINDS);
    snprintf(l->kind[l->kinds], sizeof(l->kind[0]), "%s", name);
    return l->kinds++;
}

static bool is_meant(struct lies *l, const char *request, const char *path)
{
    if (l->path == NULL) {
        return kind_of(l, request) == l->number;
    }
    size_t len = strcspn(path, "? \r");
    size_t wanted = strlen(l->path);
    return strncmp(request, l->method, strlen(l->method)) == 0 && len >= wanted &&
           strncmp(path + len - wanted, l->path, wanted) == 0;
}

static void lie(void *context, const struct proxy_request *r, struct proxy_fault *fault)
{
    struct lies *l = context;
    const char *path = strchr(r->head, ' ') + 1;
    if (l->begin != NULL && is_meant(l, r->head, path)) {
        make_answer(l, path);
        l->told++;
        fault->withheld = true;
        fault->answer = l->answer.data;
        fault->answer_len = l->answer.len;
    }
}

static void lies_start(struct fault_world *f, struct lies *l)
{
    *l = (struct lies){0};
    buf_init(&l->answer, BODY_BYTES + HEAD_BYTES);
    fault_world(f, 100, SHORT_BUDGET, lie, l);
}

static void lies_stop(struct fault_world *f, struct lies *l)
{
    fault_world_stop(f);
    buf_release(&l->answer);
}

static void tell(struct lies *l, const char *method, const char *path, const char *begin,
                 const char *piece, size_t bytes, const char *end)
{
    l->method = method;
    l->path = path;
    l->begin = begin;
    l->piece = piece;
    l->bytes = bytes;
    l->end = end;
    l->told = 0;
}

static void tell_truth(struct lies *l)
{
    l->begin = NULL;
}

static void expect_memory(const char *command)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
    ck_assert_msg(usage.ru_maxrss < MOST_KIB, "%s: %ld KiB", command, usage.ru_maxrss);
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* Runs the command to its end. A run does not end by itself. */
static void run_command(const struct fault_world *f, const char *command, struct program_result *r)
{
    struct program p;
    rowferry_start(&p, f->w.config, command, NULL);
    if (strcmp(command, "run") == 0) {
        program_await(&p, "event=stopped", WAIT_MS);
        program_signal(&p, SIGTERM);
    }
    program_finish(&p, WAIT_MS, r);
}

/* Checks that the command ends with this exit code and one error with this text. check prints it in
 * its report. */
static void ends(struct fault_world *f, struct lies *l, const char *command, int exit_code,
                 const char *words)
{
    struct program_result r;
    bool reports = strcmp(command, "check") == 0;
    run_command(f, command, &r);
    ck_assert_msg(r.exit_code == exit_code, "%s: %d\n%s%s", command, r.exit_code, r.out, r.err);
    expect_text(reports ? r.out : r.err, words);
    ck_assert_msg(reports || count_of(r.err, "rowferry: ") == 1, "%s: %s", command, r.err);
    ck_assert_msg(l->told > 0, "%s asked for nothing of it", command);
    expect_memory(command);
    program_result_release(&r);
}

static const char *const commands[] = {"check", "sync", "verify", "validate", "run"};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

START_TEST(megabytes_of_empty_objects_end_every_command_with_one_error_in_64_mib)
{
    static const struct {
        const char *piece;
        size_t bytes;
        const char *words;
    } sizes[] = {
        {"{},", BODY_BYTES, "cannot take the answer: it is longer than 64.0 KiB"},
        {"{},", 60000, "cannot take the answer: it would need memory of over 1.0 MiB"},
        {"[[],{}],", 60000, "cannot take the answer: it would need memory of over 1.0 MiB"},
        {"[", 60000, "cannot take the answer: it is nested more than 64 levels deep"},
    };
    struct fault_world f;
    struct lies l;
    char words[160];
    lies_start(&f, &l);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        tell(&l, "GET ", "/", "{\"a\":[", sizes[i].piece, sizes[i].bytes, "{}]}");
        snprintf(words, sizeof(words), "GET / of 127.0.0.1:%d: %s", proxy_port(f.proxy),
                 sizes[i].words);
        for (size_t c = 0; c < COMMANDS; c++) {
            ends(&f, &l, commands[c], c == 0 ? 4 : 1, words);
        }
    }
    lies_stop(&f, &l);
}
END_TEST

/* 8 KB that unpack to 8 MiB, and would need a tree of 2.1 GiB. */
START_TEST(kilobytes_that_unpack_to_millions_of_objects_take_no_memory)
{
    struct fault_world f;
    struct lies l;
    lies_start(&f, &l);
    tell(&l, "GET ", "/", "{\"a\":[", "{},", BODY_BYTES, "{}]}");
    l.packed = f.w.dir;
    ends(&f, &l, "sync", 1, "cannot take the answer: it is longer than 64.0 KiB");
    ck_assert_uint_lt(l.answer.len, 20000);
    tell(&l, "GET ", "/shop-articles", "{\"%s\":{\"mappings\":[", "{},", BODY_BYTES, "{}]}}");
    ends(&f, &l, "sync", 1, "cannot take the answer: it would need memory of over 48.0 MiB");
    lies_stop(&f, &l);
}
END_TEST

START_TEST(an_index_described_by_megabytes_of_empty_objects_takes_no_memory)
{
    struct fault_world f;
    struct lies l;
    lies_start(&f, &l);
    rowferry_expect(0, f.w.config, "sync", NULL);
    tell(&l, "GET ", "/shop-articles", "{\"%s\":{\"mappings\":[", "{},", BODY_BYTES, "{}]}}");
    ends(&f, &l, "sync", 1, "cannot take the answer: it would need memory of over 48.0 MiB");
    ends(&f, &l, "verify", 1, "cannot take the answer: it would need memory of over 48.0 MiB");
    /* just below the limit */
    tell(&l, "GET ", "/shop-articles", "{\"%s\":{\"mappings\":[", "{},", 140000, "{}]}}");
    ends(&f, &l, "sync", 6, "could not read the answer: it has no object");
    tell_truth(&l);
    rowferry_expect(0, f.w.config, "verify", NULL);
    lies_stop(&f, &l);
}
END_TEST

/* Tests the mapping of the trial and of the live generation. */
START_TEST(a_mapping_with_a_text_in_place_of_an_object_does_not_crash_validate)
{
    static const char *const mappings[] = {
        "{\"properties\":\"text\"}",
        "{\"properties\":{\"extra\":\"text\"}}",
        "{\"properties\":{\"extra\":{\"type\":\"object\",\"properties\":[]}}}",
        "{\"properties\":{\"extra\":7,\"extra.b\":{\"type\":\"keyword\"}}}",
        "\"text\"",
        "[]",
    };
    struct fault_world f;
    struct lies l;
    lies_start(&f, &l);
    rowferry_expect(0, f.w.config, "sync", NULL);
    for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
        struct program_result r;
        char body[256];
        snprintf(body, sizeof(body), "{\"%%s\":{\"mappings\":%s}}", mappings[i]);
        tell(&l, "GET ", "/_mapping", body, NULL, 0, "");
        rowferry_run(&r, f.w.config, "validate", NULL);
        ck_assert_msg(r.exit_code == 4 || r.exit_code == 1 || r.exit_code == 6, "%s: %d\n%s%s",
                      mappings[i], r.exit_code, r.out, r.err);
        ck_assert_uint_gt(l.told, 0);
        program_result_release(&r);
        rowferry_run(&r, f.w.config, "sync", NULL);
        ck_assert_msg(r.exit_code < 7, "%s: %d\n%s%s", mappings[i], r.exit_code, r.out, r.err);
        program_result_release(&r);
    }
    lies_stop(&f, &l);
}
END_TEST

START_TEST(a_name_of_300_000_dots_in_a_mapping_does_not_crash_validate)
{
    struct fault_world f;
    struct lies l;
    lies_start(&f, &l);
    tell(&l, "GET ", "/_mapping", "{\"%s\":{\"mappings\":{\"properties\":{\"", "a.", 600000,
         "b\":{\"type\":\"keyword\"}}}}}");
    ends(&f, &l, "validate", 1, "cannot compare the index's mapping with the configured one");
    lies_stop(&f, &l);
}
END_TEST

/* A conclusion about the index would mislead: nothing is known about it. */
START_TEST(json_that_is_not_the_answer_is_named_as_unreadable_and_not_as_a_difference)
{
    static const struct {
        const char *command, *method, *path, *words;
    } lines[] = {
        {"validate", "GET ", "/_mapping", "/_mapping of 127.0.0.1:"},
        {"validate", "POST ", "/_analyze", "/_analyze of 127.0.0.1:"},
        {"validate", "POST ", "/_search", "/_search of 127.0.0.1:"},
        {"sync", "GET ", "/shop-articles", "GET /shop-articles of 127.0.0.1:"},
        {"verify", "GET ", "/shop-articles", "GET /shop-articles of 127.0.0.1:"},
        {"verify", "POST ", "/_search", "/_search of 127.0.0.1:"},
    };
    static const char *const bodies[] = {"{}", "[]", "{\"status\":\"up\"}"};
    struct fault_world f;
    struct lies l;
    lies_start(&f, &l);
    rowferry_expect(0, f.w.config, "sync", NULL);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        for (size_t b = 0; b < sizeof(bodies) / sizeof(bodies[0]); b++) {
            tell(&l, lines[i].method, lines[i].path, bodies[b], NULL, 0, "");
            ends(&f, &l, lines[i].command, 6, lines[i].words);
            ends(&f, &l, lines[i].command, 6, ": could not read the answer: ");
        }
    }
    lies_stop(&f, &l);
}
END_TEST

/* Falsifies each kind of request of the command in turn, with every body. */
static void sweep(const char *command, bool synced)
{
    static const struct {
        const char *begin, *piece;
        size_t bytes;
        const char *end;
    } bodies[] = {
        {"{\"hits\":{\"hits\":{\"a\":{}},\"total\":[]},\"timed_out\":false,\"tokens\":{},\"docs\":{"
         "},"
         "\"indices\":{\"%s\":{\"shards\":{\"0\":{}}}},\"count\":{},\"_shards\":[],\"errors\":[],"
         "\"items\":{},\"acknowledged\":\"x\",\"%s\":\"text\"}",
         NULL, 0, ""},
        {"{\"%s\":{\"mappings\":\"text\",\"settings\":[],\"aliases\":7},\"version\":[],\"hits\":[[]"
         "],"
         "\"docs\":\"x\",\"tokens\":[[7]],\"index_templates\":{},\"nodes\":[1],\"_all\":[],"
         "\"defaults\":\"x\"}",
         NULL, 0, ""},
        {"{\"%s\":{\"mappings\":{\"_meta\":\"text\",\"properties\":[]},\"settings\":{\"index\":[]},"
         "\"aliases\":{\"%s\":1}},\"hits\":{\"hits\":[1,null,\"x\",[]]},\"tokens\":[1,null],"
         "\"docs\":[1,null,{}],\"timed_out\":[]}",
         NULL, 0, ""},
        {"[", "{},", BODY_BYTES, "{}]"},
        {"{\"docs\":[", "{},", BODY_BYTES, "{}],\"hits\":{\"hits\":[{}]},\"tokens\":[{}]}"},
        {"null", NULL, 0, ""},
    };
    struct fault_world f;
    struct lies l;
    size_t count = sizeof(bodies) / sizeof(bodies[0]);
    lies_start(&f, &l);
    if (synced) {
        rowferry_expect(0, f.w.config, "sync", NULL);
    }
    l.told = 1;
    for (size_t n = 0; l.told > 0; n++) {
        l.told = 0;
        for (size_t i = n % 2; i < count; i += 2) {
            struct program_result r;
            size_t told = l.told;
            tell(&l, NULL, NULL, bodies[i].begin, bodies[i].piece, bodies[i].bytes, bodies[i].end);
            l.told = told;
            l.number = n;
            l.kinds = 0;
            rowferry_run(&r, f.w.config, command, NULL);
            ck_assert_msg(r.exit_code < 7 && r.exit_code != 2, "%s, %s: %s: %d\n%s%s", command,
                          l.kind[n], bodies[i].begin, r.exit_code, r.out, r.err);
            ck_assert_msg(r.exit_code == 0 || count_of(r.err, "rowferry: ") <= 1, "%s, %s: %s",
                          command, l.kind[n], r.err);
            expect_memory(l.kind[n]);
            program_result_release(&r);
        }
    }
    tell_truth(&l);
    rowferry_expect(0, f.w.config, "sync", NULL);
    world_expect_equal(&f.w);
    lies_stop(&f, &l);
}

START_TEST(whatever_is_answered_in_place_of_what_a_first_sync_asks_it_ends)
{
    sweep("sync", false);
}
END_TEST

START_TEST(whatever_is_answered_in_place_of_what_verify_asks_it_ends)
{
    sweep("verify", true);
}
END_TEST

START_TEST(whatever_is_answered_in_place_of_what_validate_asks_it_ends)
{
    sweep("validate", false);
}
END_TEST

START_TEST(whatever_is_answered_in_place_of_what_check_asks_it_ends)
{
    sweep("check", true);
}
END_TEST

SUITE_MAIN("fault/answers", megabytes_of_empty_objects_end_every_command_with_one_error_in_64_mib,
           kilobytes_that_unpack_to_millions_of_objects_take_no_memory,
           an_index_described_by_megabytes_of_empty_objects_takes_no_memory,
           a_mapping_with_a_text_in_place_of_an_object_does_not_crash_validate,
           a_name_of_300_000_dots_in_a_mapping_does_not_crash_validate,
           json_that_is_not_the_answer_is_named_as_unreadable_and_not_as_a_difference,
           whatever_is_answered_in_place_of_what_a_first_sync_asks_it_ends,
           whatever_is_answered_in_place_of_what_verify_asks_it_ends,
           whatever_is_answered_in_place_of_what_validate_asks_it_ends,
           whatever_is_answered_in_place_of_what_check_asks_it_ends)
