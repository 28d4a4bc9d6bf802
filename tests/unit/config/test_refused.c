/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of an invalid file: one line with the position, and never a secret. */
#include "configfile.h"

#define REST "," SERVICE "," PIPELINES "}"
#define WITH(x) "{" SOURCE "," SERVICE "," PIPELINES ",\n" x "}"
#define URI(x) "{\"source\": {\"uri\": \"" x "\"}" REST
#define URL(x) "{" SOURCE ",\"service\": {\"url\": \"" x "\"}," PIPELINES "}"
#define AUTH(x)                                                                                    \
    "{" SOURCE ",\"service\": {\"url\": \"https://h\",\n\"auth\": {" x "}}," PIPELINES "}"
#define PIPE(x) "{" SOURCE "," SERVICE ",\"pipelines\": [\n{" x "}]}"
#define NAME "\"name\": \"a\""
#define FROM "\"from\": {\"table\": \"t\"}"
#define TO "\"to\": {\"index\": \"i\"," MAPPINGS "}"
#define PIPE2(x) PIPE(NAME "," FROM "," TO ",\n" x)
#define STREAM_TO(more) "\"to\": {\"index\": \"i\", \"kind\": \"data_stream\"," MAPPINGS more "}"
#define STREAM(from, more) PIPE(NAME "," from "," STREAM_TO(more))
#define S3CRET "tr0ub4dor"

static const struct refused {
    const char *text;
    const char *message;
    const char *hint; /* null: not checked */
} cases[] = {
    /* syntax */
    {"", "shop.json:1:1: expected \"{\", found the end of the file", NULL},
    {"[]", "shop.json:1:1: expected \"{\", found \"[\"", NULL},
    {"{\"a\" 1}", "shop.json:1:6: expected \":\", found \"1\"", NULL},
    {"{\n  \"listen\": ,\n}", "shop.json:2:13: expected a value, found \",\"", NULL},
    {"{\n  \"listen\": \"a:1\",\n}", "shop.json:2:18: a comma before \"}\"", NULL},
    {"{\"pipelines\": [1,]}", "shop.json:1:17: a comma before \"]\"", NULL},
    {"{\"a\": 1 \"b\"}", "shop.json:1:9: expected \",\" or \"}\", found \"\"\"", NULL},
    {"{\"a\": [1 2]}", "shop.json:1:10: expected \",\" or \"]\", found \"2\"", NULL},
    {"{\"a\": 1", "shop.json:1:8: expected \",\" or \"}\", found the end of the file", NULL},
    {"{a: 1}", "shop.json:1:2: expected a key in double quotes, found \"a\"", NULL},
    {"{\"a\": 'x'}", "shop.json:1:7: expected a value, found \"'\"", NULL},
    {"{\"a\": \"x\n\"}", "shop.json:1:7: this string is not closed on its line", NULL},
    {"{\"a\": \"x", "shop.json:1:7: this string is not closed", NULL},
    {"{\"a\": \"\\x\"}", "shop.json:1:9: expected an escape like \\n, \\\" or \\\\, found \"x\"",
     NULL},
    {"{\"a\": 01}", "shop.json:1:8: expected \",\" or \"}\", found \"1\"", NULL},
    {"{\"a\": 1.}", "shop.json:1:9: expected a digit, found \"}\"", NULL},
    {"{} x", "shop.json:1:4: expected the end of the file, found \"x\"", NULL},
    {"{\n/* x\n}", "shop.json:2:1: this comment is not closed", NULL},
    {"{\"a\": \"\xff\"}", "shop.json:1:8: a byte that is not UTF-8", NULL},
    {"{\"log\": {}, /* \xc3\xa9 */\n \"log\": {}}",
     "shop.json:2:2: this key occurs twice in its object", NULL},
    {"{\"log\": {},\n \"lo\\u0067\": {}}", "shop.json:2:2: this key occurs twice in its object",
     NULL},
    {WITH("\"pipeline\\u0073\": []"), "shop.json:2:1: this key occurs twice in its object", NULL},
    {WITH("\"name\\u0000x\": \"a\""),
     "shop.json:2:1: this key has a zero byte or half of a character", NULL},
    {WITH("\"\\ud800\": 1"), "shop.json:2:1: this key has a zero byte or half of a character",
     NULL},
    {WITH("\"l\\u0069sen\": \"a:1\""), "shop.json:2:1: unknown key \"lisen\"",
     "did you mean \"listen\"?"},

    /* keys */
    {WITH("\"lisen\": \"a:1\""), "shop.json:2:1: unknown key \"lisen\"",
     "did you mean \"listen\"?"},
    {WITH("\"limits\": {\"batch_byte\": \"1MiB\"}"),
     "shop.json:2:12: unknown key \"limits.batch_byte\"", "did you mean \"batch_bytes\"?"},
    {PIPE2("\"verify\": {\"every\": \"5\"}"),
     "shop.json:3:21: \"pipelines[0].verify.every\" is \"5\"; a whole number with its unit (ms, s, "
     "m, h, d) is expected, like \"1s\"",
     NULL},
    {PIPE(NAME "," FROM ",\n\"to\": {\"index\": \"i\", \"routing\": \"t\"," MAPPINGS "}"),
     "shop.json:3:33: \"pipelines[0].to.routing\" is not a column of \"from.key\"",
     "name it there, over a unique index with it: of a deleted row only the key is known, and a "
     "row whose routing changes has to become another document"},
    {PIPE(NAME "," FROM ",\n\"to\": {\"index\": \"i\", \"provenance\": true,\n\"mappings\": {"
               "\"properties\": {\"provenance\": {\"type\": \"text\"}}}}"),
     "shop.json:4:13: \"pipelines[0].to.mappings\" has a property \"provenance\", which "
     "\"to.provenance\" adds itself",
     NULL},
    {PIPE2("\"verify\": {\"repair\": true}"),
     "shop.json:3:22: \"pipelines[0].verify.repair\" needs \"verify.every\"", NULL},
    {PIPE2("\"validate\": {\"queries\": [{\"q\": \"a:b\", \"body\": {}}]}"),
     "shop.json:3:26: \"pipelines[0].validate.queries[0]\" must have either \"q\" or \"body\"",
     NULL},
    {PIPE2("\"validate\": {\"queries\": [{\"q\": \"a:b\"}]}"),
     "shop.json:3:26: \"pipelines[0].validate.queries[0].expect\" is missing: the ids that it "
     "finds",
     NULL},
    {PIPE2("\"validate\": {\"queries\": [{\"qq\": \"a:b\"}]}"),
     "shop.json:3:27: unknown key \"pipelines[0].validate.queries[0].qq\"",
     "an entry has \"q\" or \"body\", \"expect\" or \"judgements\", and may have \"name\", \"k\", "
     "\"min_ndcg\" "
     "and \"search_pipeline\""},
    {PIPE2("\"validate\": {\"queries\": [{\"q\": \"a:b\", \"judgements\": {\"7\": 4}}]}"),
     "shop.json:3:53: \"pipelines[0].validate.queries[0].judgements\": the grade of \"7\" is not a "
     "whole number from 0 to 3",
     NULL},
    {PIPE2("\"validate\": {\"queries\": [{\"q\": \"a:b\", \"judgements\": {\"7\": 0}}]}"),
     "shop.json:3:53: \"pipelines[0].validate.queries[0].judgements\" has no document with a grade "
     "above 0",
     NULL},
    {PIPE2("\"validate\": {\"queries\": [{\"q\": \"a:b\", \"expect\": [\"1\"], \"min_ndcg\": 1}]}"),
     "shop.json:3:26: \"pipelines[0].validate.queries[0].min_ndcg\" needs \"judgements\"", NULL},
    {PIPE(NAME ",\"from\": {\"tabel\": \"t\"}"),
     "shop.json:2:23: unknown key \"pipelines[0].from.tabel\"", "did you mean \"table\"?"},
    {WITH("\"name\": \"x\""), "shop.json:2:1: unknown key \"name\"",
     "the manual's page on configuration names the keys"},
    {AUTH("\"apikey\": 1"), "shop.json:2:10: unknown key \"service.auth.apikey\"",
     "did you mean \"api_key\"?"},
    {"{\"source\": {\"password\": {\"env\": \"X\"}}" REST,
     "shop.json:1:12: \"source.uri\" is missing", NULL},
    {"{" SOURCE "," PIPELINES "}", "shop.json:1:1: \"service.url\" is missing", NULL},
    {"{" SOURCE "," SERVICE "}", "shop.json:1:1: \"pipelines\" is missing", NULL},
    {"{" SOURCE "," SERVICE ",\n\"pipelines\": []}",
     "shop.json:2:14: \"pipelines\" has 0 entries; 1 to 64 are expected", NULL},
    {"{" SOURCE "," SERVICE ",\n\"pipelines\": {}}",
     "shop.json:2:14: \"pipelines\" is an object; a list of objects is expected", NULL},
    {"{" SOURCE "," SERVICE ",\n\"pipelines\": [3]}",
     "shop.json:2:15: \"pipelines[0]\" is a number; an object is expected", NULL},
    {PIPE(FROM "," TO), "shop.json:2:1: \"pipelines[0].name\" is missing", NULL},
    {PIPE(NAME ",\"from\": {}," TO), "shop.json:2:22: \"pipelines[0].from.table\" is missing",
     NULL},
    {PIPE(NAME "," FROM ",\n\"to\": {\"index\": \"i\"}"),
     "shop.json:3:7: \"pipelines[0].to.mappings\" is missing", NULL},

    /* types and ranges */
    {WITH("\"limits\": {\"batch_bytes\": 5242880}"),
     "shop.json:2:27: \"limits.batch_bytes\" is a number; write it with its unit, like \"5MiB\"",
     NULL},
    {WITH("\"limits\": {\"batch_bytes\": \"5 MB\"}"),
     "shop.json:2:27: \"limits.batch_bytes\" is \"5 MB\"; a whole number with its unit (B, KiB, "
     "MiB, GiB) is expected, like \"5MiB\"",
     NULL},
    {WITH("\"limits\": {\"batch_bytes\": \"1GiB\"}"),
     "shop.json:2:27: \"limits.batch_bytes\" is \"1GiB\"; it must be from 1KiB to 100MiB", NULL},
    {WITH("\"limits\": {\"linger\": \"20\"}"),
     "shop.json:2:22: \"limits.linger\" is \"20\"; a whole number with its unit (ms, s, m, h, d) "
     "is expected, like \"20ms\"",
     NULL},
    {WITH("\"limits\": {\"in_flight\": 0}"),
     "shop.json:2:25: \"limits.in_flight\" is 0; it must be from 1 to 64", NULL},
    {WITH("\"limits\": {\"in_flight\": 1.5}"),
     "shop.json:2:25: \"limits.in_flight\" is not a whole number", NULL},
    {WITH("\"limits\": {\"in_flight\": \"8\"}"),
     "shop.json:2:25: \"limits.in_flight\" is a string; a whole number is expected", NULL},
    {WITH("\"delete_guard\": {\"share\": 1.5}"),
     "shop.json:2:27: \"delete_guard.share\" is 1.5; it must be from 0 to 1", NULL},
    {WITH("\"limits\": \"5MiB\""), "shop.json:2:11: \"limits\" is a string; an object is expected",
     NULL},
    {WITH("\"log\": {\"level\": \"loud\"}"),
     "shop.json:2:18: \"log.level\" is \"loud\"; it must be one of debug, info, warn, error", NULL},
    {WITH("\"listen\": 9187"), "shop.json:2:11: \"listen\" is a number; a string is expected",
     NULL},
    {WITH("\"listen\": \"9187\""),
     "shop.json:2:11: \"listen\": host:port is expected, like \"127.0.0.1:9187\"", NULL},
    {WITH("\"listen_names\": [\"a.svc\", \"http://a:1\"]"),
     "shop.json:2:27: \"listen_names[1]\": a host's name is expected, without scheme and port, "
     "like \"status.shop\"",
     NULL},
    {WITH("\"listen\": {\"env\": \"ROWFERRY_TEST_NONE\"}"),
     "shop.json:2:11: $ROWFERRY_TEST_NONE of \"listen\" is not set and has no default", NULL},
    {WITH("\"listen\": {\"evn\": \"X\"}"),
     "shop.json:2:11: \"listen\" is an object with the key \"evn\"; a string or {\"env\": NAME, "
     "\"default\": ...} is expected",
     NULL},
    {WITH("\"state\": {\"path\": \"\"}"), "shop.json:2:19: \"state.path\" is empty", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"key\": \"id\"}," TO),
     "shop.json:2:44: \"pipelines[0].from.key\" is a string; a list of strings is expected", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"key\": []}," TO),
     "shop.json:2:44: \"pipelines[0].from.key\" is an empty list", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"key\": [\"a\", 3]}," TO),
     "shop.json:2:50: \"pipelines[0].from.key[1]\" is a number; a string is expected", NULL},
    {PIPE("\"name\": \"a b\"," FROM "," TO),
     "shop.json:2:10: \"pipelines[0].name\": a name has letters, digits, - and _ only", NULL},
    {PIPE2("\"fields\": {\"title\": {\"zone\": \"CET\"}}"),
     "shop.json:3:30: \"pipelines[0].fields.title.zone\": \"CET\" is not the full name of a time "
     "zone",
     "write it like \"Europe/Berlin\", or \"UTC\""},
    {PIPE2("\"fields\": {\"title\": {\"column\": \"x\"}}"),
     "shop.json:3:21: \"pipelines[0].fields.title.zone\" is missing", NULL},
    {PIPE2("\"fields\": {\"titel\": \"x\"}"),
     "shop.json:3:12: \"pipelines[0].fields.titel\" is not a property of the mapping",
     "did you mean \"title\"?"},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"depends_on\": [{\"table\": \"a\", \"key\": "
               "[\"id\"], \"keys\": \"select 1\"}]}," TO),
     "shop.json:2:51: \"pipelines[0].from.depends_on\" needs \"query\"", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"query\": \"select 1\", \"depends_on\": "
               "[{\"table\": \"a\", \"key\": [\"id\"]}]}," TO),
     "shop.json:2:73: \"pipelines[0].from.depends_on[0].keys\" is missing", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"query\": \"select 1\", \"depends_on\": "
               "[{\"table\": \"a\", \"kye\": [\"id\"]}]}," TO),
     "shop.json:2:88: unknown key \"pipelines[0].from.depends_on[0].kye\"",
     "an entry has \"table\", \"key\" and \"keys\""},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"query\": \"select 1\", \"depends_on\": {}}," TO),
     "shop.json:2:72: \"pipelines[0].from.depends_on\" is an object; a list of objects is expected",
     NULL},

    /* a capture without a column to follow, or a column without a cursor */
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"capture\": {\"mode\": \"cursor\"}}," TO),
     "shop.json:2:57: \"pipelines[0].from.capture.mode\" is cursor, without \"column\"", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"capture\": {\"column\": \"at\"}}," TO),
     "shop.json:2:59: \"pipelines[0].from.capture.column\" belongs to mode \"cursor\"", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"capture\": {\"overlap\": \"1m\"}}," TO),
     "shop.json:2:60: \"pipelines[0].from.capture.overlap\" belongs to mode \"cursor\"", NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"query\": \"select 1\", \"capture\": {\"mode\": "
               "\"cursor\", \"column\": \"at\"}}," TO),
     "shop.json:2:46: \"pipelines[0].from.query\" needs the capture mode \"changelog\"", NULL},

    {PIPE(NAME
          ",\"from\": {\"table\": \"t\", \"capture\": {\"deletes\": {\"recuncile\": \"1h\"}}}," TO),
     "shop.json:2:61: unknown key \"pipelines[0].from.capture.deletes.recuncile\"",
     "did you mean \"reconcile\"?"},

    /* SQL that is more than one expression */
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"where\": \"true) or (true\"}," TO),
     "shop.json:2:46: \"pipelines[0].from.where\": not a complete condition or query: a \")\" "
     "closes no \"(\"",
     NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"where\": \"n > 3;\"}," TO),
     "shop.json:2:46: \"pipelines[0].from.where\": not a complete condition or query: it has a "
     "\";\"",
     "leave out the \";\""},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"query\": \"select 1; select 2\"}," TO),
     "shop.json:2:46: \"pipelines[0].from.query\": not a complete condition or query: it has a "
     "\";\"",
     "leave out the \";\""},
    {PIPE(NAME
          ",\"from\": {\"table\": \"t\", \"query\": \"select 1\", \"depends_on\": [{\"table\": "
          "\"u\", \"key\": [\"id\"], \"keys\": \"select $1) x, (select 1\"}]}," TO),
     "shop.json:2:111: \"pipelines[0].from.depends_on[0].keys\": not a complete condition or "
     "query: a \")\" closes no \"(\"",
     NULL},

    /* a data stream is append-only */
    {STREAM(FROM, ""),
     "shop.json:2:92: \"pipelines[0].to.mappings\" has no property \"@timestamp\" of type date, "
     "which a data stream needs",
     "add \"@timestamp\": {\"type\": \"date\"} to its properties, and name its column: \"fields\": "
     "{\"@timestamp\": \"created_at\"}"},
    {STREAM(FROM, ",\n\"routing\": \"k\""),
     "shop.json:3:12: \"pipelines[0].to.routing\" is not for a data stream, which takes no routing",
     NULL},
    {STREAM("\"from\": {\"table\": \"t\", \"capture\": {\"mode\": \"cursor\", \"column\": \"c\",\n"
            "\"deletes\": {\"reconcile\": \"1h\"}}}",
            ""),
     "shop.json:3:12: \"pipelines[0].from.capture.deletes\" looks for documents to delete, and a "
     "data stream takes no deletes",
     NULL},
    {PIPE(NAME "," FROM "," STREAM_TO("") ",\n\"on_schema_change\": \"rebuild\""),
     "shop.json:3:21: \"pipelines[0].on_schema_change\" is \"rebuild\", and a data stream is never "
     "rebuilt: leave it at \"stop\" here",
     NULL},

    /* secrets where they are not allowed */
    {URI("postgresql://u:" S3CRET "@h/d"),
     "shop.json:1:20: \"source.uri\": a password in the URI is refused",
     "name its origin in source.password: env, file, command, prompt or credential"},
    {URI("postgres://h/d?sslmode=require&p%61ssword=" S3CRET),
     "shop.json:1:20: \"source.uri\": a password in the URI is refused", NULL},
    {URI("host=h user=u password='" S3CRET "'"),
     "shop.json:1:20: \"source.uri\": a password in the URI is refused", NULL},
    {URI("host='a b' password = " S3CRET),
     "shop.json:1:20: \"source.uri\": a password in the URI is refused", NULL},
    {URI("mysql://u:" S3CRET "@h/d"),
     "shop.json:1:20: \"source.uri\": it must begin with postgresql://", NULL},
    {URI("db.internal " S3CRET),
     "shop.json:1:20: \"source.uri\": neither a URI nor a list of key=value",
     "write it like postgresql://user@host/database"},
    {"{\"source\": {\"uri\": \"postgresql://h/d\",\n\"password\": \"" S3CRET "\"}" REST,
     "shop.json:2:13: \"source.password\" must be one of env, file, command, prompt, credential; a "
     "secret in the file is refused",
     NULL},
    {"{\"source\": {\"uri\": \"postgresql://h/d\",\n\"password\": {\"env\": \"X\", \"default\": "
     "\"" S3CRET "\"}}" REST,
     "shop.json:2:13: \"source.password\" must be one of env, file, command, prompt, credential; a "
     "secret in the file is refused",
     NULL},
    {"{\"source\": {\"uri\": \"postgresql://h/d\",\n\"password\": {\"env\": \"X\", \"fresh\": "
     "true}}" REST,
     "shop.json:2:13: \"source.password.fresh\" is only for source.password by file, command or "
     "credential",
     NULL},
    {"{\"source\": {\"uri\": \"postgresql://h/d\",\n\"password\": {\"file\": \"X\", \"fresh\": "
     "1}}" REST,
     "shop.json:2:13: \"source.password.fresh\" must be true or false", NULL},
    {"{\"source\": {\"uri\": \"postgresql://h/d\",\n\"password\": {\"fresh\": true}}" REST,
     "shop.json:2:13: \"source.password\" must be one of env, file, command, prompt, credential; a "
     "secret in the file is refused",
     NULL},
    {AUTH("\"bearer\": {\"file\": \"X\", \"fresh\": true}"),
     "shop.json:2:20: \"service.auth.bearer.fresh\" is only for source.password by file, command "
     "or "
     "credential",
     NULL},
    {AUTH("\"bearer\": {\"credential\": \"../" S3CRET "\"}"),
     "shop.json:2:35: \"service.auth.bearer.credential\" is a path; a credential's name is "
     "expected",
     NULL},
    {URL("https://elastic:" S3CRET "@h:9200"),
     "shop.json:1:63: \"service.url\": a user or password in the URL is refused",
     "use service.auth"},
    {URL("ftp://h"), "shop.json:1:63: \"service.url\": it must begin with https:// or http://",
     NULL},
    {URL("https://h:99999"),
     "shop.json:1:63: \"service.url\": the port must be a number up to 65535", NULL},
    {URL("https:///x"), "shop.json:1:63: \"service.url\": the URL names no host", NULL},
    {URL("https://h/?key=" S3CRET),
     "shop.json:1:63: \"service.url\": a query or fragment in the URL", NULL},

    /* options that exclude or require each other */
    {AUTH("\"user\": \"u\""), "shop.json:2:9: \"service.auth.password\" is missing", NULL},
    {AUTH("\"password\": {\"env\": \"X\"}"), "shop.json:2:9: \"service.auth.user\" is missing",
     NULL},
    {AUTH("\"bearer\": {\"env\": \"X\"}, \"api_key\": {\"env\": \"X\"}"),
     "shop.json:2:9: \"service.auth\" must be one of api_key, bearer, user with password, "
     "aws_sigv4",
     NULL},
    {AUTH("\"aws_sigv4\": {\"service\": \"es\"}"),
     "shop.json:2:23: \"service.auth.aws_sigv4.region\" is missing", NULL},
    {AUTH("\"aws_sigv4\": {\"region\": \"r\", \"session_token\": {\"env\": \"X\"}, "
          "\"access_key_id\": {\"env\": \"X\"}}"),
     "shop.json:2:23: \"service.auth.aws_sigv4.secret_access_key\" is missing", NULL},
    {"{" SOURCE ",\"service\": {\"url\": \"http://search:9200\", \"auth\": {\"api_key\": {\"env\": "
     "\"X\"}}}," PIPELINES "}",
     "shop.json:1:63: \"service.url\" would send a credential over http:// to another host",
     "use https://, or set \"allow_cleartext_credentials\": true if a sidecar does TLS"},
    {"{" SOURCE ",\"service\": {\"url\": \"http://127.0.0.1:9200\", \"proxy\": \"http://p:3128\", "
     "\"auth\": {\"api_key\": {\"env\": \"X\"}}}," PIPELINES "}",
     "shop.json:1:63: \"service.url\" would send a credential over http:// to another host",
     "use https://, or set \"allow_cleartext_credentials\": true if a sidecar does TLS"},
    {"{" SOURCE
     ",\"service\": {\"url\": \"https://h\",\n\"tls\": {\"client_cert\": \"c.pem\"}}," PIPELINES
     "}",
     "shop.json:2:8: \"service.tls.client_key\" is missing", NULL},
    {WITH("\"limits\": {\"poll_min\": \"2s\"}"),
     "shop.json:2:24: \"limits.poll_min\" is longer than \"limits.poll_max\"", NULL},
    {PIPE2("\"limits\": {\"poll_max\": \"5ms\"}"),
     "shop.json:3:11: \"pipelines[0].limits.poll_min\" is longer than "
     "\"pipelines[0].limits.poll_max\"",
     NULL},
    {PIPE(NAME ",\"from\": {\"table\": \"t\", \"key\": [\"a\", \"a\"]}," TO),
     "shop.json:2:44: \"pipelines[0].from.key\" names a column twice", NULL},
    {"{" SOURCE "," SERVICE ",\"pipelines\": [" PIPELINE ",\n" PIPELINE "]}",
     "shop.json:2:10: \"pipelines[1].name\" is the name of another pipeline", NULL},
    {"{" SOURCE "," SERVICE ",\"pipelines\": [" PIPELINE ",\n{" NAME "," FROM
     ",\"to\": {\"index\": \"shop-articles\"," MAPPINGS "}}]}",
     "shop.json:2:53: \"pipelines[1].to.index\" is the index of another pipeline", NULL},
};

START_TEST(every_wrong_file_is_told_where_and_what)
{
    configfile_enter();
    unsetenv("ROWFERRY_TEST_NONE");
    int wrong = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err;
        struct config *c = configfile_load(cases[i].text, &err);
        if (c != NULL || strcmp(err.message, cases[i].message) != 0 ||
            (cases[i].hint != NULL && strcmp(err.hint, cases[i].hint) != 0)) {
            wrong++;
            fprintf(stderr, "%s\n  expected: %s (%s)\n  found:    %s (%s)\n", cases[i].text,
                    cases[i].message, cases[i].hint != NULL ? cases[i].hint : "", err.message,
                    err.hint);
        }
        config_free(c);
    }
    ck_assert_int_eq(wrong, 0);
    configfile_leave();
}
END_TEST

START_TEST(no_refusal_quotes_a_secret)
{
    configfile_enter();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err;
        config_free(configfile_load(cases[i].text, &err));
        ck_assert_ptr_null(strstr(err.message, S3CRET));
        ck_assert_ptr_null(strstr(err.hint, S3CRET));
        ck_assert_ptr_null(strstr(err.detail, S3CRET));
    }
    configfile_leave();
}
END_TEST

/* Other modules check names and mappings; this tests that they are called and the position is
 * reported. */
START_TEST(index_names_and_mappings_are_judged_with_their_place)
{
    configfile_enter();
    struct err err;
    static const char bad_index[] =
        PIPE(NAME "," FROM ",\n\"to\": {\"index\": \"Shop\"," MAPPINGS "}");
    ck_assert_ptr_null(configfile_load(bad_index, &err));
    ck_assert_msg(strncmp(err.message, "shop.json:3:17: \"pipelines[0].to.index\": ", 40) == 0,
                  "%s", err.message);
    static const char bad_mapping[] = PIPE(
        NAME "," FROM ",\n\"to\": {\"index\": \"i\",\"mappings\": {\"properties\": {\"a\": 3}}}");
    ck_assert_ptr_null(configfile_load(bad_mapping, &err));
    ck_assert_msg(strncmp(err.message, "shop.json:3:33: \"pipelines[0].to.mappings\": ", 43) == 0,
                  "%s", err.message);
    configfile_leave();
}
END_TEST

START_TEST(credentials_over_http_reach_only_this_machine)
{
    configfile_enter();
    static const char *const allowed[] = {
        "\"url\": \"http://localhost:9200\"",
        "\"url\": \"http://127.0.0.1\"",
        "\"url\": \"http://[::1]:9200/p\"",
        "\"url\": \"https://search\"",
        "\"allow_cleartext_credentials\": true, \"url\": \"http://search\"",
    };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{" SOURCE
                 ",\"service\": {%s, \"auth\": {\"bearer\": {\"env\": \"X\"}}}," PIPELINES "}",
                 allowed[i]);
        struct err err;
        struct config *c = configfile_load(text, &err);
        ck_assert_msg(c != NULL, "%s", err.message);
        config_free(c);
    }
    static const char *const refused[] = {"http://127.example", "http://localhost.example",
                                          "HTTP://search", "http://[::2]"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char text[1024];
        snprintf(
            text, sizeof(text),
            "{" SOURCE
            ",\"service\": {\"url\": \"%s\", \"auth\": {\"bearer\": {\"env\": \"X\"}}}," PIPELINES
            "}",
            refused[i]);
        struct err err;
        ck_assert_ptr_null(configfile_load(text, &err));
        ck_assert_ptr_nonnull(strstr(err.message, "over http://"));
    }
    configfile_leave();
}
END_TEST

START_TEST(connection_texts_without_a_password_pass)
{
    configfile_enter();
    static const char *const allowed[] = {
        "postgresql://",
        "postgresql://u@h1:5432,h2/d?sslmode=verify-full&target_session_attrs=read-write",
        "postgres:///d?host=/run/postgresql",
        "host=/run/postgresql dbname=shop user='a b'",
        "dbname=postgresql://h/d?passfile=x",
        "host=h options='-c search_path=x password=y'",
    };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text), "{\"source\": {\"uri\": \"%s\"}" REST, allowed[i]);
        struct err err;
        struct config *c = configfile_load(text, &err);
        ck_assert_msg(c != NULL, "%s: %s", allowed[i], err.message);
        config_free(c);
    }
    configfile_leave();
}
END_TEST

SUITE_MAIN("config/refused", every_wrong_file_is_told_where_and_what, no_refusal_quotes_a_secret,
           index_names_and_mappings_are_judged_with_their_place,
           credentials_over_http_reach_only_this_machine, connection_texts_without_a_password_pass)
