/* SPDX-License-Identifier: Apache-2.0 */
/* POST _bulk: parses the whole body first, then applies it item by item in one transaction. */
#include "api/write.h"
#include "base/reader.h"

#include <errno.h>
#include <stdlib.h>

struct bulk {
    struct write *list;
    size_t count;
    size_t capacity;
    const char *default_index;
    const struct request *request;
    struct refusal *refusal;
};

static struct span take_line(struct span *rest)
{
    const char *newline = memchr(rest->data, '\n', rest->len);
    size_t n = newline != NULL ? (size_t)(newline - rest->data) : rest->len;
    struct span line = span_make(rest->data, n);
    size_t step = newline != NULL ? n + 1 : n;
    *rest = span_make(rest->data + step, rest->len - step);
    if (line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }
    return line;
}

static int broken(struct bulk *b, const struct reader *r)
{
    return refuse_text(b->refusal, 400,
                       r->problem_type != NULL ? r->problem_type : "json_parse_exception",
                       span_make(buf_text(&r->problem), r->problem.len));
}

static int set_version(struct bulk *b, struct write *w, struct span text)
{
    char *copy = text_copy_span(text);
    char *stop;
    errno = 0;
    w->version = strtoll(copy, &stop, 10);
    bool good = *stop == '\0' && stop != copy && errno == 0;
    free(copy);
    if (good) {
        return 0;
    }
    return refuse(b->refusal, 400,
                  b->request != NULL && errno == ERANGE ? "input_coercion_exception"
                                                        : "illegal_argument_exception",
                  "Numeric value (%.*s) out of range of long (-9223372036854775808 - "
                  "9223372036854775807)",
                  (int)text.len, text.data);
}

static void replace(char **place, struct span text)
{
    free(*place);
    *place = text_copy_span(text);
}

static void set_id(struct write *w, struct span text)
{
    free(w->id);
    w->id = mem_zero(text.len + 1, 1);
    memcpy(w->id, text.data, text.len);
    w->id_bytes = text.len;
}

static int set_metadata(struct bulk *b, struct write *w, const char *key, struct span text,
                        size_t line)
{
    if (strcmp(key, "_index") == 0) {
        replace(&w->index, text);
    } else if (strcmp(key, "_id") == 0) {
        set_id(w, text);
    } else if (strcmp(key, "version") == 0) {
        return set_version(b, w, text);
    } else if (strcmp(key, "version_type") == 0) {
        char *name = text_copy_span(text);
        bool good = version_type_parse(name, &w->version_type);
        free(name);
        return good ? 0
                    : refuse(b->refusal, 400, "illegal_argument_exception",
                             "No version type match [%.*s]", (int)text.len, text.data);
    } else if (strcmp(key, "require_alias") == 0) {
        w->require_alias = span_is(text, "true");
    } else if (strcmp(key, "pipeline") == 0) {
        replace(&w->pipeline, text);
    } else if (strcmp(key, "if_seq_no") == 0 || strcmp(key, "if_primary_term") == 0 ||
               strcmp(key, "op_type") == 0 || strcmp(key, "retry_on_conflict") == 0) {
        return refuse_unknown(b->refusal, "[%s] in an action line", key);
    } else if (strcmp(key, "routing") == 0) {
        w->routed = true;
    } else {
        return refuse(b->refusal, 400, "illegal_argument_exception",
                      "Action/metadata line [%zu] contains an unknown parameter [%s]", line, key);
    }
    return 0;
}

static int parse_metadata(struct bulk *b, struct reader *r, struct write *w, size_t line)
{
    struct members mark = {0};
    struct span key;
    struct span text;
    struct buf scratch;
    int more = reader_enter(r);
    buf_init(&scratch, (size_t)16 << 20);
    while (more == 0 && (more = reader_member(r, &mark, &key)) > 0) {
        char *name = text_copy_span(key);
        enum token token = reader_peek(r);
        if (token == TOKEN_OBJECT || token == TOKEN_ARRAY) {
            refuse(b->refusal, 400, "illegal_argument_exception",
                   "Malformed action/metadata line [%zu], expected a simple value for field [%s] "
                   "but found [%s]",
                   line, name, token == TOKEN_OBJECT ? "START_OBJECT" : "START_ARRAY");
            more = -2;
        } else if (reader_text(r, &scratch, &text) != 0) {
            more = -1;
        } else if (token == TOKEN_NULL) {
            more = 0;
        } else {
            more = set_metadata(b, w, name, text, line) != 0 ? -2 : 0;
        }
        free(name);
    }
    buf_release(&scratch);
    return more == -1 ? broken(b, r) : more;
}

static int malformed(struct bulk *b, size_t line, const char *expected, enum token found)
{
    static const char *const names[] = {
        [TOKEN_OBJECT] = "START_OBJECT", [TOKEN_ARRAY] = "START_ARRAY",
        [TOKEN_STRING] = "VALUE_STRING", [TOKEN_NUMBER] = "VALUE_NUMBER",
        [TOKEN_TRUE] = "VALUE_BOOLEAN",  [TOKEN_FALSE] = "VALUE_BOOLEAN",
        [TOKEN_NULL] = "VALUE_NULL",     [TOKEN_END] = "END",
        [TOKEN_BAD] = "NOT_AVAILABLE",
    };
    return refuse(b->refusal, 400, "illegal_argument_exception",
                  "Malformed action/metadata line [%zu], expected %s but found [%s]", line,
                  expected, names[found]);
}

static int parse_kind(struct bulk *b, struct span name, size_t line, enum write_kind *kind)
{
    for (int i = WRITE_INDEX; i <= WRITE_DELETE; i++) {
        if (span_is(name, write_name((enum write_kind)i))) {
            *kind = (enum write_kind)i;
            return 0;
        }
    }
    if (span_is(name, "update")) {
        return refuse_unknown(b->refusal, "the action [update], only index, create and delete");
    }
    return refuse(b->refusal, 400, "illegal_argument_exception",
                  "Malformed action/metadata line [%zu], expected one of [create, delete, index, "
                  "update] but found [%.*s]",
                  line, (int)name.len, name.data);
}

/* Parses an action line into w, including its kind. */
static int parse_action(struct bulk *b, struct span text, size_t line, struct write *w)
{
    struct reader r;
    struct members mark = {0};
    struct span name;
    int rc = -1;
    reader_init(&r, text);
    enum token token = reader_peek(&r);
    if (token == TOKEN_BAD) {
        reader_scalar(&r, &name);
        broken(b, &r);
        goto done;
    }
    if (token != TOKEN_OBJECT) {
        malformed(b, line, "START_OBJECT", token);
        goto done;
    }
    if (reader_enter(&r) != 0 || reader_member(&r, &mark, &name) <= 0) {
        if (r.problem_type != NULL) {
            broken(b, &r);
        } else {
            malformed(b, line, "FIELD_NAME", TOKEN_END);
        }
        goto done;
    }
    if (parse_kind(b, name, line, &w->kind) != 0) {
        goto done;
    }
    if (reader_peek(&r) != TOKEN_OBJECT) {
        malformed(b, line, "START_OBJECT or END_OBJECT", reader_peek(&r));
        goto done;
    }
    rc = parse_metadata(b, &r, w, line);
    if (rc == 0 && (reader_member(&r, &mark, &name) != 0 || reader_finish(&r) != 0)) {
        rc =
            r.problem_type != NULL ? broken(b, &r) : malformed(b, line, "END_OBJECT", TOKEN_STRING);
    }
done:
    reader_release(&r);
    return rc;
}

static struct write *add(struct bulk *b)
{
    if (b->count == b->capacity) {
        b->capacity = b->capacity == 0 ? 256 : b->capacity * 2;
        b->list = mem_grow(b->list, b->capacity, sizeof(*b->list));
    }
    const char *pipeline = request_parameter(b->request, "pipeline");
    b->list[b->count] = (struct write){
        .version = VERSION_NONE,
        .index = b->default_index != NULL ? text_copy(b->default_index) : NULL,
        .require_alias = request_flag(b->request, "require_alias"),
        .pipeline = pipeline != NULL ? text_copy(pipeline) : NULL,
    };
    return &b->list[b->count++];
}

static int parse(struct bulk *b, struct span body)
{
    size_t line = 0;
    if (body.len == 0) {
        return refuse(b->refusal, 400, "parse_exception", "request body is required");
    }
    if (body.data[body.len - 1] != '\n') {
        return refuse(b->refusal, 400, "illegal_argument_exception",
                      "The bulk request must be terminated by a newline [\\n]");
    }
    while (body.len > 0) {
        struct span action = take_line(&body);
        line++;
        if (action.len == 0) {
            continue;
        }
        struct write *w = add(b);
        if (parse_action(b, action, line, w) != 0) {
            return -1;
        }
        if (w->kind == WRITE_DELETE) {
            continue;
        }
        if (body.len == 0) {
            write_release(&b->list[--b->count]); /* dropped silently, as in the real services */
            break;
        }
        w->source = take_line(&body);
        line++;
    }
    return 0;
}

/* Reports all problems of all writes in one refusal. */
static int validate(struct bulk *b)
{
    size_t problems = 0;
    if (b->count == 0) {
        return refuse(b->refusal, 400, "action_request_validation_exception",
                      "Validation Failed: 1: no requests added;");
    }
    for (size_t i = 0; i < b->count; i++) {
        char *problem = write_problem(&b->list[i]);
        if (problem != NULL) {
            if (problems++ == 0) {
                refuse(b->refusal, 400, "action_request_validation_exception",
                       "Validation Failed: ");
            }
            buf_printf(&b->refusal->reason, "%zu: %s;", problems, problem);
            free(problem);
        }
    }
    return problems == 0 ? 0 : -1;
}

/* If a write with require_alias names an index, deletes of the same name do not create it
 * either. */
static void mark_no_create(struct bulk *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (!b->list[i].require_alias || b->list[i].kind == WRITE_DELETE) {
            continue;
        }
        for (size_t k = 0; k < b->count; k++) {
            b->list[k].no_create =
                b->list[k].no_create || strcmp(b->list[k].index, b->list[i].index) == 0;
        }
        return;
    }
}

static void push_failed(const struct write *w, const struct index *ix,
                        const struct refusal *refusal, struct buf *out)
{
    buf_push_literal(out, "\"_index\":");
    push_json_text(out, ix != NULL ? ix->name : w->index);
    buf_push_literal(out, ",\"_id\":");
    push_json(out, span_make(w->id != NULL ? w->id : "", w->id_bytes));
    buf_printf(out, ",\"status\":%d,\"error\":", refusal->status);
    refusal_render(refusal, out, false);
}

static int apply(struct server *s, struct bulk *b, struct buf *items, bool *errors)
{
    const char *asked = request_parameter(b->request, "refresh");
    bool forced = asked != NULL && (asked[0] == '\0' || strcmp(asked, "true") == 0);
    struct index *last = NULL;
    for (size_t i = 0; i < b->count; i++) {
        struct write *w = &b->list[i];
        struct index *ix = NULL;
        int status = 0;
        buf_printf(items, "%s{\"%s\":{", i > 0 ? "," : "", write_name(w->kind));
        int fault = faults_take_item(&s->faults, w->id, w->kind == WRITE_DELETE);
        int rc = fault != 0 ? fault_refuse(b->refusal, fault, s->options->product, w->index)
                            : write_apply(s, w, forced, items, &status, &ix, b->refusal);
        if (rc == 0) {
            buf_printf(items, ",\"status\":%d}}", status);
        } else if (b->refusal->status == 500 && fault == 0) {
            return -1;
        } else {
            push_failed(w, ix, b->refusal, items);
            buf_push_literal(items, "}}");
            *errors = true;
        }
        if (ix != NULL && last != NULL && ix != last &&
            index_refresh_as_asked(s, b->request, last, b->refusal) != 0) {
            return -1;
        }
        last = ix != NULL ? ix : last;
    }
    return last != NULL ? index_refresh_as_asked(s, b->request, last, b->refusal) : 0;
}

static int apply_all(struct server *s, struct bulk *b, struct answer *a)
{
    struct buf items;
    bool errors = false;
    int64_t begun_ms = clock_monotonic_us(&s->clock) / 1000;
    buf_init(&items, ANSWER_MAX_BYTES);
    int rc = store_begin(s->store, b->refusal);
    if (rc == 0) {
        rc = apply(s, b, &items, &errors);
        rc = store_end(s->store, rc == 0, b->refusal) != 0 ? -1 : rc;
    }
    long long took = (long long)(clock_monotonic_us(&s->clock) / 1000 - begun_ms);
    const char *flag = errors ? "true" : "false";
    if (s->options->product == OPENSEARCH) {
        buf_printf(&a->body, "{\"took\":%lld,\"errors\":%s,\"items\":[", took, flag);
    } else {
        buf_printf(&a->body, "{\"errors\":%s,\"took\":%lld,\"items\":[", flag, took / 200 * 200);
    }
    buf_push(&a->body, items.data, items.len);
    buf_push_literal(&a->body, "]}");
    buf_release(&items);
    return rc;
}

static int check_refresh(const struct server *s, const struct bulk *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (refresh_check(s, b->request, b->list[i].index, b->refusal) != 0) {
            return -1;
        }
    }
    return 0;
}

HANDLER(bulk)
{
    struct bulk b = {.request = q,
                     .refusal = refusal,
                     .default_index = q->segment_count == 2 ? q->segments[0] : NULL};
    int rc = parse(&b, q->body) != 0 || validate(&b) != 0 || check_refresh(s, &b) != 0 ? -1 : 0;
    s->bulk_requests++;
    s->bulk_bytes += (int64_t)q->body.len;
    if (rc == 0) {
        s->bulk_operations += (int64_t)b.count;
        mark_no_create(&b);
        rc = apply_all(s, &b, a);
    }
    for (size_t i = 0; i < b.count; i++) {
        write_release(&b.list[i]);
    }
    free(b.list);
    return rc;
}
