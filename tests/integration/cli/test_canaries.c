/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets must not appear anywhere that people or other programs can read. Every command is run
 * with every kind of credential, a valid and an invalid one. Then all bytes of both output streams,
 * the state file and its neighbours, metrics and pages, and the command line are searched. A
 * crashing process must leave no core.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http.h"
#include "proxy.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define CANARY "canary-6f1e"
#define KEY CANARY "-key"
#define PASSWORD CANARY "-password"
#define BEARER CANARY "-bearer"
#define DATABASE CANARY "-database"
#define AWS_SECRET CANARY "-aws-secret"
#define AWS_TOKEN CANARY "-aws-token"
#define ROLE "canary_reader"

/* "shopper:canary-6f1e-password" in the form of basic authentication. */
#define BASIC "c2hvcHBlcjpjYW5hcnktNmYxZS1wYXNzd29yZA"

/* A kind of credential: its configuration (secrets are files of the folder), its devsearch options,
 * and the origin of the database's password. */
struct kind {
    const char *name;
    const char *auth;       /* members of "service.auth" */
    const char *password;   /* source.password; null: libpq's own rules */
    const char *options[5]; /* for devsearch; '@' precedes files of the folder */
    const char *env[5];
};

static const struct kind kinds[] = {
    {"key of a file",
     "\"api_key\": {\"file\": \"key\"}",
     "{\"file\": \"database\"}",
     {"--api-key-file", "@key"},
     {NULL}},
    {"key of a variable",
     "\"api_key\": {\"env\": \"CANARY_KEY\"}",
     "{\"env\": \"CANARY_DB\"}",
     {"--api-key-file", "@key"},
     {"CANARY_KEY=" KEY, "CANARY_DB=" DATABASE}},
    {"key of a command",
     "\"api_key\": {\"command\": \"cat key\"}",
     "{\"command\": \"cat database\"}",
     {"--api-key-file", "@key"},
     {NULL}},
    {"key of a credential",
     "\"api_key\": {\"credential\": \"key\"}",
     "{\"credential\": \"database\"}",
     {"--api-key-file", "@key"},
     {"CREDENTIALS_DIRECTORY=."}},
    {"user and password",
     "\"user\": \"shopper\", \"password\": {\"file\": \"password\"}",
     NULL,
     {"--user", "shopper", "--password-file", "@password"},
     {"PGPASSWORD=" DATABASE}},
    {"bearer",
     "\"bearer\": {\"file\": \"bearer\"}",
     NULL,
     {"--bearer-file", "@bearer"},
     {"PGPASSFILE=pgpass"}},
    {"signed",
     "\"aws_sigv4\": {\"region\": \"eu-west-1\", \"access_key_id\": {\"file\": \"key-id\"}, "
     "\"secret_access_key\": {\"file\": \"aws-secret\"}, \"session_token\": {\"file\": "
     "\"aws-token\"}}",
     "{\"file\": \"database\"}",
     {NULL},
     {NULL}},
    {"signed by variables",
     "\"aws_sigv4\": {\"region\": \"eu-west-1\"}",
     "{\"file\": \"database\"}",
     {NULL},
     {"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=" AWS_SECRET,
      "AWS_SESSION_TOKEN=" AWS_TOKEN}},
    {"a key that is wrong",
     "\"api_key\": {\"file\": \"key\"}",
     "{\"file\": \"database\"}",
     {"--api-key-file", "@other"},
     {NULL}},
    {"a login that is wrong",
     "\"user\": \"shopper\", \"password\": {\"file\": \"password\"}",
     "{\"file\": \"database\"}",
     {"--user", "shopper", "--password-file", "@other"},
     {NULL}},
    {"a database password that is wrong",
     "\"api_key\": {\"file\": \"key\"}",
     "{\"file\": \"password\"}",
     {"--api-key-file", "@key"},
     {NULL}},
};

#define WRONG_ONES 3

/* --- searching ------------------------------------------------------------------------------- */

static void expect_none(const char *where, const char *what, const char *bytes, size_t len)
{
    static const char *const secrets[] = {CANARY, BASIC};
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        ck_assert_msg(memmem(bytes, len, secrets[i], strlen(secrets[i])) == NULL,
                      "a secret stands in %s of %s", where, what);
    }
}

static char *whole_file(int folder, const char *name, size_t *len)
{
    struct stat status;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &status), 0);
    size_t room = (size_t)status.st_size + 65536; /* files below /proc report no size */
    char *bytes = malloc(room);
    ck_assert_ptr_nonnull(bytes);
    ssize_t got;
    *len = 0;
    while (*len < room && (got = read(fd, bytes + *len, room - *len)) > 0) {
        *len += (size_t)got;
    }
    close(fd);
    return bytes;
}

static bool holds_secrets(const char *name)
{
    static const char *const files[] = {"key",    "password",   "bearer",    "database", "pgpass",
                                        "key-id", "aws-secret", "aws-token", "other",    "data"};
    bool is = name[0] == '.';
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        is = is || strcmp(name, files[i]) == 0;
    }
    return is;
}

/* Searches the folder except the secret files: configuration, state file, lock, journal. */
static void search_folder(const struct world *w, const char *what)
{
    DIR *dir = opendir(w->dir);
    ck_assert_ptr_nonnull(dir);
    size_t searched = 0;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (!holds_secrets(e->d_name)) {
            size_t len;
            char *bytes = whole_file(dirfd(dir), e->d_name, &len);
            expect_none(e->d_name, what, bytes, len);
            free(bytes);
            searched++;
        }
    }
    closedir(dir);
    ck_assert_uint_ge(searched, 1);
}

static void search_result(const struct program_result *r, const char *what)
{
    expect_none("the output", what, r->out, strlen(r->out));
    expect_none("what stderr has", what, r->err, strlen(r->err));
    ck_assert_msg(strncmp(r->err, "could not run", 13) != 0 && r->exit_code != 2, "%s: %d %s", what,
                  r->exit_code, r->err);
}

/* --- the world ---------------------------------------------------------------------------------
 */

static void write_secrets(const struct world *w)
{
    static const char *const files[][2] = {{"key", KEY "\n"},
                                           {"password", PASSWORD "\n"},
                                           {"bearer", BEARER "\n"},
                                           {"database", DATABASE "\n"},
                                           {"key-id", "AKIDEXAMPLE\n"},
                                           {"aws-secret", AWS_SECRET "\n"},
                                           {"aws-token", AWS_TOKEN "\n"},
                                           {"pgpass", "*:*:*:*:" DATABASE "\n"},
                                           {"other", "another\n"}};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        free(scratch_write(w->dir, files[i][0], files[i][1]));
    }
}

static void configure(struct world *w, const struct kind *k)
{
    char *text = NULL;
    char *uri = uri_as(w->uri, ROLE);
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"%s%s}, \"service\": "
                 "{\"url\": \"%s\", \"auth\": "
                 "{%s}},\n\"state\": {\"path\": \"state.db\"}, \"limits\": {\"retry_budget\": "
                 "\"1s\"}, \"log\": {\"level\": \"debug\"},\n\"pipelines\": [{\"name\": "
                 "\"articles\", \"from\": {\"table\": \"public.articles\"}, \"to\": {\"index\": "
                 "\"shop-articles\", \"mappings\": {\"properties\": {" WORLD_PROPERTIES "}}}}]}",
                 uri, k->password != NULL ? ", \"password\": " : "",
                 k->password != NULL ? k->password : "", w->service.url, k->auth),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", text);
    free(text);
    free(uri);
}

static void start_service(struct world *w, const struct kind *k)
{
    const char *options[8] = {NULL};
    for (size_t i = 0; k->options[i] != NULL; i++) {
        options[i] = k->options[i][0] == '@' ? k->options[i] + 1 : k->options[i];
    }
    devsearch_start(&w->service, options);
}

static void enter(struct world *w, const struct kind *k)
{
    world_start(w, 20, NULL);
    ck_assert_int_eq(chdir(w->dir), 0);
    sql_exec(w->conn, "do $$ begin if not exists (select from pg_roles where rolname = '" ROLE
                      "') then create role " ROLE " login; end if; end $$;"
                      "alter role " ROLE " password '" DATABASE "'");
    rowferry_expect(0, w->config, "source", "install", "--reader", ROLE, NULL);
    sql_exec(w->conn, "grant select on articles to " ROLE);
    devsearch_stop(&w->service);
    write_secrets(w);
    start_service(w, k);
    configure(w, k);
    for (size_t i = 0; k->env[i] != NULL; i++) {
        char *name = strdup(k->env[i]);
        ck_assert_ptr_nonnull(name);
        *strchr(name, '=') = '\0';
        ck_assert_int_eq(setenv(name, strchr(k->env[i], '=') + 1, 1), 0);
        free(name);
    }
}

static void leave(struct world *w)
{
    sql_exec(w->conn, "drop owned by " ROLE);
    ck_assert_int_eq(chdir("/"), 0);
    world_stop(w);
}

/* --- the commands ------------------------------------------------------------------------------
 */

#define WORDS_MOST 5

static const char *const commands[][WORDS_MOST] = {
    {"check"},
    {"check", "--json"},
    {"sync"},
    {"sync", "--json", "--refresh"},
    {"status"},
    {"status", "--json"},
    {"document", "1"},
    {"resync", "1"},
    {"verify"},
    {"verify", "--repair"},
    {"reindex"},
    {"reindex", "--rollback"},
    {"smoke"},
    {"deadletter", "list"},
    {"deadletter", "show", "1"},
    {"deadletter", "retry"},
    {"deadletter", "discard", "--yes", "1"},
    {"pause"},
    {"resume"},
    {"source", "print"},
    {"source", "install"},
    {"source", "upgrade"},
    {"source", "uninstall"}, /* this role may not do it */
    {"validate"},
};

static int run_one(const struct world *w, const char *const *words, const char *kind)
{
    struct program_result result;
    char what[256];
    snprintf(what, sizeof(what), "\"%s %s\" with %s", words[0], words[1] != NULL ? words[1] : "",
             kind);
    rowferry_run(&result, w->config, words[0], words[1], words[1] != NULL ? words[2] : NULL,
                 words[1] != NULL && words[2] != NULL ? words[3] : NULL, NULL);
    int code = result.exit_code;
    search_result(&result, what);
    program_result_release(&result);
    search_folder(w, what);
    return code;
}

static void search_page(const char *url, const char *path, const char *kind)
{
    struct reply reply;
    reply_get(&reply, "GET", url, path, NULL, NULL);
    ck_assert_msg(reply.status != 0, "%s", path);
    expect_none(path, kind, reply.body, strlen(reply.body));
    reply_release(&reply);
}

static void search_pages(struct program *p, const char *kind)
{
    static const char before[] = "event=listening address=";
    static const char *const paths[] = {"/", "/status", "/metrics", "/healthz", "/readyz"};
    char url[80];
    program_await(p, before, WAIT_MS);
    char *said = program_said(p);
    const char *at = strstr(said, before) + strlen(before);
    snprintf(url, sizeof(url), "http://%.*s", (int)strcspn(at, "\n "), at);
    free(said);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        search_page(url, paths[i], kind);
    }
}

/* Runs `run` until it works, or until it stops if it cannot work. */
static void run_for_long(const struct world *w, const struct kind *k, bool works)
{
    struct program p;
    struct program_result result;
    char path[64];
    size_t len;
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", "127.0.0.1:0", 1), 0);
    rowferry_start(&p, w->config, "run", NULL);
    ck_assert_int_eq(unsetenv("ROWFERRY_LISTEN"), 0);
    if (works) {
        program_await(&p, "event=following", WAIT_MS);
        search_pages(&p, k->name);
        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)p.pid);
        char *line = whole_file(AT_FDCWD, path, &len);
        ck_assert_uint_gt(len, 10);
        expect_none("the command line", k->name, line, len);
        free(line);
    } else {
        program_await(&p, "event=stopped", WAIT_MS);
    }
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_msg((result.exit_code == 0) == works, "%s: %d %s", k->name, result.exit_code,
                  result.err);
    search_result(&result, k->name);
    program_result_release(&result);
    search_folder(w, k->name);
}

/* Runs init, which has no configuration: its secrets come from the environment. */
static void run_init(const struct world *w)
{
    static const char *const logins[][2] = {{"ROWFERRY_API_KEY", KEY},
                                            {"ROWFERRY_API_KEY", CANARY "-wrong"}};
    char *uri = uri_as(w->uri, ROLE);
    for (size_t i = 0; i < 2; i++) {
        struct program_result result;
        ck_assert_int_eq(setenv("PGPASSWORD", i == 0 ? DATABASE : CANARY "-wrong", 1), 0);
        ck_assert_int_eq(setenv(logins[i][0], logins[i][1], 1), 0);
        rowferry_run(&result, NULL, "init", "--source", uri, "--table", "public.articles",
                     "--service", w->service.url, "--yes", NULL);
        search_result(&result, "init");
        program_result_release(&result);
        unsetenv(logins[i][0]);
        unsetenv("PGPASSWORD");
    }
    free(uri);
}

static void with_kind(const struct kind *k, bool works)
{
    struct world w;
    enter(&w, k);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        int code = run_one(&w, commands[i], k->name);
        ck_assert_msg(strcmp(commands[i][0], "sync") != 0 || (code == 0) == works,
                      "sync with %s ended with %d", k->name, code);
    }
    run_for_long(&w, k, works);
    leave(&w);
}

START_TEST(no_command_shows_one_that_is_right)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) - WRONG_ONES; i++) {
        pid_t child = fork(); /* each with its own variables and folder */
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            with_kind(&kinds[i], true);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", kinds[i].name);
    }
}
END_TEST

START_TEST(no_command_shows_one_that_is_wrong)
{
    for (size_t i = 0; i < WRONG_ONES; i++) {
        with_kind(&kinds[sizeof(kinds) / sizeof(kinds[0]) - WRONG_ONES + i], false);
    }
}
END_TEST

/* A service that refuses everything and quotes the credential it received. */
static void echo(void *context, const struct proxy_request *request, struct proxy_fault *fault)
{
    static char answer[4096];
    char reason[1024];
    const char *line = strcasestr(request->head, "authorization:");
    (void)context;
    ck_assert_ptr_nonnull(line);
    snprintf(reason, sizeof(reason), "{\"error\":{\"type\":\"x\",\"reason\":\"not %.*s\"}}",
             (int)strcspn(line, "\r\n"), line);
    fault->answer_len = (size_t)snprintf(answer, sizeof(answer),
                                         "HTTP/1.1 400 X\r\nContent-Type: application/json\r\n"
                                         "Content-Length: %zu\r\n\r\n%s",
                                         strlen(reason), reason);
    fault->answer = answer;
    fault->withheld = true;
}

START_TEST(what_a_service_echoes_is_masked)
{
    static const size_t which[] = {0, 4, 5}; /* key, login, bearer */
    for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
        struct world w;
        enter(&w, &kinds[which[i]]);
        struct proxy *proxy = proxy_start(w.service.port, echo, NULL);
        snprintf(w.service.url, sizeof(w.service.url), "http://127.0.0.1:%d", proxy_port(proxy));
        configure(&w, &kinds[which[i]]);
        for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
            run_one(&w, commands[c], "an echo");
        }
        proxy_stop(proxy);
        leave(&w);
    }
}
END_TEST

START_TEST(init_shows_none)
{
    struct world w;
    enter(&w, &kinds[0]);
    run_init(&w);
    leave(&w);
}
END_TEST

START_TEST(a_crash_leaves_no_core)
{
    struct world w;
    struct program p;
    struct program_result result;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    enter(&w, &kinds[0]);
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_CORE, &limit), 0);
    program_signal(&w.service.program, SIGSTOP); /* makes it wait after reading its secrets */
    rowferry_start(&p, w.config, "sync", NULL);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (limit.rlim_cur != 0) {
        ck_assert_int_eq(prlimit(p.pid, RLIMIT_CORE, NULL, &limit), 0);
        ck_assert(limit.rlim_cur == 0 || deadline_wait(&deadline));
    }
    program_signal(&p, SIGABRT); /* sanitizers do not handle it */
    program_finish(&p, WAIT_MS, &result);
    program_signal(&w.service.program, SIGCONT);
    ck_assert_int_eq(result.exit_code, 128 + SIGABRT);
    program_result_release(&result);
    search_folder(&w, "a crash");
    leave(&w);
}
END_TEST

SUITE_MAIN("cli/canaries", no_command_shows_one_that_is_right, no_command_shows_one_that_is_wrong,
           what_a_service_echoes_is_masked, init_shows_none, a_crash_leaves_no_core)
