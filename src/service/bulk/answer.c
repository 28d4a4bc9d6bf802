/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets a bulk answer: maps keys to fields by their place, and items to operations. */
#include "rowferry/service/bulk/answer.h"
#include "rowferry/base/ascii.h"

#include <stdlib.h>
#include <string.h>

#include "bulk/written_index.h"
#include "http/walk.h"
#include "rowferry/service/bulk/outcome.h"

#define REASON_MAX_BYTES (2 * WALK_TEXT_BYTES + 256)

enum answer_place {
    PLACE_SKIP,
    PLACE_TOP,
    PLACE_ITEMS,
    PLACE_ITEM,
    PLACE_RESULT,
    PLACE_ERROR,
    PLACE_CAUSE
};

enum answer_field {
    FIELD_NONE,
    FIELD_ITEMS,
    FIELD_ACTION,
    FIELD_STATUS,
    FIELD_ID,
    FIELD_INDEX,
    FIELD_STORE,
    FIELD_ERROR,
    FIELD_TYPE,
    FIELD_REASON,
    FIELD_CAUSE,
    FIELD_CAUSE_TYPE,
    FIELD_CAUSE_REASON,
};

struct answer {
    struct walk walk;
    struct batch *batch;
    size_t wanted;                                /* expected items: one per operation sent */
    enum answer_place places[WALK_MAX_DEPTH + 1]; /* places of the open containers, by depth */
    enum answer_field field;                      /* field of the next value */
    bool items_seen;
    bool too_many;
    bool foreign; /* an item matches no unanswered operation */
    size_t item;  /* number of the next item */
    unsigned actions;
    enum operation_kind kind;
    struct operation *named; /* operation with the item's _id; null if the item has none */
    int status;
    bool has_error;
    bool diverted; /* the document went to a failure store */
    struct written_index where;
    struct buf type, reason, cause_type, cause_reason;
};

static const struct key_row {
    enum answer_place place;
    const char *key;
    enum answer_field field;
} keys[] = {
    {PLACE_TOP, "items", FIELD_ITEMS},           {PLACE_RESULT, "status", FIELD_STATUS},
    {PLACE_RESULT, "error", FIELD_ERROR},        {PLACE_RESULT, "_id", FIELD_ID},
    {PLACE_RESULT, "_index", FIELD_INDEX},       {PLACE_RESULT, "failure_store", FIELD_STORE},
    {PLACE_ERROR, "type", FIELD_TYPE},           {PLACE_ERROR, "reason", FIELD_REASON},
    {PLACE_ERROR, "caused_by", FIELD_CAUSE},     {PLACE_CAUSE, "type", FIELD_CAUSE_TYPE},
    {PLACE_CAUSE, "reason", FIELD_CAUSE_REASON},
};

struct answer *answer_new(void)
{
    struct answer *a = mem_zero(1, sizeof(*a));
    written_index_init(&a->where);
    buf_init(&a->type, WALK_TEXT_BYTES);
    buf_init(&a->reason, REASON_MAX_BYTES);
    buf_init(&a->cause_type, WALK_TEXT_BYTES);
    buf_init(&a->cause_reason, WALK_TEXT_BYTES);
    return a;
}

void answer_free(struct answer *a)
{
    if (a != NULL) {
        written_index_release(&a->where);
        buf_release(&a->type);
        buf_release(&a->reason);
        buf_release(&a->cause_type);
        buf_release(&a->cause_reason);
        free(a);
    }
}

static void answer_begin_item(struct answer *a)
{
    a->actions = 0;
    a->named = NULL;
    a->status = 0;
    a->has_error = false;
    a->diverted = false;
    buf_reset(&a->where.at);
    buf_reset(&a->type);
    buf_reset(&a->reason);
    buf_reset(&a->cause_type);
    buf_reset(&a->cause_reason);
}

/* Appends the cause to the reason, because the outer reason is often only "failed to parse". */
static void answer_join_cause(struct answer *a)
{
    if (a->cause_reason.len == 0) {
        return;
    }
    buf_push_literal(&a->reason, ", caused by ");
    buf_push(&a->reason, buf_text(&a->cause_type), a->cause_type.len);
    buf_push_literal(&a->reason, ": ");
    buf_push(&a->reason, buf_text(&a->cause_reason), a->cause_reason.len);
}

static void answer_apply_outcome_operation(struct operation *o, const struct item *item)
{
    o->answered = true;
    o->http_status = item->status;
    o->outcome = outcome_of_item(o, item, &o->seen);
}

static bool answer_settle_item(struct answer *a)
{
    struct operation *o = a->named != NULL ? a->named : &a->batch->operations[a->item];
    a->foreign = o->answered;
    if (a->foreign) {
        return false;
    }
    struct item item = {
        .status = a->status,
        .has_error = a->has_error,
        .diverted = a->diverted,
        .type = span_make(buf_text(&a->type), a->type.len),
        .reason = span_make(buf_text(&a->reason), a->reason.len),
    };
    written_index_look(&a->where, o->kind, &item);
    answer_apply_outcome_operation(o, &item);
    bool astray = item.dropped || item.moved;
    if (astray) {
        written_index_explain(&a->where, &item, &a->type, &a->reason);
        buf_reset(&a->cause_reason);
    } else if (a->diverted && !a->has_error) {
        buf_push_literal(&a->type, "failure_store");
        buf_push_literal(&a->reason, "a data stream's failure store took the document");
    }
    if (o->outcome != OUTCOME_DONE && (a->has_error || a->diverted || astray)) {
        answer_join_cause(a);
        batch_set_reason(a->batch, o, span_make(buf_text(&a->type), a->type.len),
                         span_make(buf_text(&a->reason), a->reason.len));
    }
    return true;
}

/* Returns the place of a container that follows this field. */
static enum answer_place answer_place_of_field(enum answer_field field)
{
    switch (field) {
    case FIELD_ITEMS:
        return PLACE_ITEMS;
    case FIELD_ACTION:
        return PLACE_RESULT;
    case FIELD_ERROR:
        return PLACE_ERROR;
    case FIELD_CAUSE:
        return PLACE_CAUSE;
    default:
        return PLACE_SKIP;
    }
}

static bool answer_open_item(struct answer *a, enum answer_place *place, bool array)
{
    if (a->item >= a->wanted) {
        a->too_many = true;
        return false;
    }
    *place = PLACE_ITEM;
    answer_begin_item(a);
    return !array;
}

static bool answer_on_open(void *context, unsigned depth, bool array)
{
    struct answer *a = context;
    enum answer_place *place = &a->places[depth];
    if (depth == 1) {
        *place = PLACE_TOP;
        return !array;
    }
    if (a->places[depth - 1] == PLACE_ITEMS) {
        return answer_open_item(a, place, array);
    }
    enum answer_field field = a->field;
    a->field = FIELD_NONE;
    *place = answer_place_of_field(field);
    if (*place == PLACE_ITEMS) {
        bool first = !a->items_seen;
        a->items_seen = true;
        return array && first;
    }
    a->has_error = a->has_error || *place == PLACE_ERROR;
    return *place == PLACE_SKIP || !array;
}

static bool answer_on_close(void *context, unsigned depth)
{
    struct answer *a = context;
    a->field = FIELD_NONE;
    if (depth > 1 && a->places[depth - 1] == PLACE_ITEMS) {
        bool ours = answer_settle_item(a);
        a->item++;
        return ours;
    }
    return true;
}

static bool answer_on_key(void *context, unsigned depth, struct span text)
{
    struct answer *a = context;
    enum answer_place place = a->places[depth];
    a->field = FIELD_NONE;
    if (place == PLACE_SKIP) {
        return true;
    }
    if (place == PLACE_ITEM) {
        a->field = FIELD_ACTION;
        a->kind = span_is(text, "delete") ? OPERATION_DELETE : OPERATION_UPSERT;
        return ++a->actions == 1;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].place == place && span_is(text, keys[i].key)) {
            a->field = keys[i].field;
        }
    }
    a->walk.exact = a->field == FIELD_ID; /* all other texts are only displayed */
    return true;
}

static struct buf *answer_text_of_field(struct answer *a, enum answer_field field)
{
    switch (field) {
    case FIELD_INDEX:
        return &a->where.at;
    case FIELD_TYPE:
        return &a->type;
    case FIELD_REASON:
    case FIELD_ERROR:
        return &a->reason;
    case FIELD_CAUSE_TYPE:
        return &a->cause_type;
    case FIELD_CAUSE_REASON:
        return &a->cause_reason;
    default:
        return NULL;
    }
}

/* Returns false if only a container is allowed here: an action or an item that is a plain value. */
static bool answer_may_be_plain(const struct answer *a, unsigned depth)
{
    return depth > 0 && a->places[depth] != PLACE_ITEMS && a->field != FIELD_ACTION &&
           a->field != FIELD_ITEMS;
}

static bool answer_is_named(const struct answer *a, const struct operation *o, struct span id)
{
    char hash[KEY_ID_BYTES];
    struct span key = key_id(hash, &a->batch->routing, batch_key(a->batch, o));
    return !o->answered && o->kind == a->kind && key.len == id.len &&
           memcmp(key.data, id.data, id.len) == 0;
}

/* Finds the operation with this id; it nearly always has the item's position. The order differs if
 * an ingest pipeline refuses or drops several documents. OpenSearch then exchanges their positions,
 * and a drop (200) may take the position of a refusal. A witness has its document's id, but is a
 * delete. */
static bool answer_find_named(struct answer *a, struct span id)
{
    size_t place = a->item;
    if (a->named != NULL) {
        return false;
    }
    for (size_t i = 0; i < a->wanted && a->named == NULL; i++) {
        struct operation *o = &a->batch->operations[place];
        a->named = answer_is_named(a, o, id) ? o : NULL;
        place = place + 1 < a->wanted ? place + 1 : 0;
    }
    a->foreign = a->named == NULL;
    return !a->foreign;
}

static bool answer_on_string(void *context, unsigned depth, struct span text)
{
    struct answer *a = context;
    if (!answer_may_be_plain(a, depth) || (a->field == FIELD_ID && !answer_find_named(a, text))) {
        return false;
    }
    a->walk.exact = false;
    struct buf *kept = answer_text_of_field(a, a->field);
    if (kept != NULL) {
        buf_reset(kept);
        buf_push(kept, text.data, text.len);
    }
    a->has_error = a->has_error || a->field == FIELD_ERROR;
    a->diverted = a->diverted || (a->field == FIELD_STORE && span_is(text, "used"));
    bool good = a->field != FIELD_STATUS;
    a->field = FIELD_NONE;
    return good;
}

/* Returns -1 if text is not a status. */
static int answer_parse_status(struct span text)
{
    int status = 0;
    for (size_t i = 0; i < text.len && text.len == 3; i++) {
        if (!ascii_is_digit(text.data[i])) {
            return -1;
        }
        status = status * 10 + (text.data[i] - '0');
    }
    return status >= 100 ? status : -1;
}

static bool answer_on_scalar(void *context, unsigned depth, struct span text)
{
    struct answer *a = context;
    enum answer_field field = a->field;
    if (!answer_may_be_plain(a, depth)) {
        return false;
    }
    a->field = FIELD_NONE;
    if (field != FIELD_STATUS) {
        return true;
    }
    bool first = a->status == 0;
    a->status = answer_parse_status(text);
    return first && a->status > 0;
}

/* Removes the key, provided that JSON does not escape any of its bytes. */
static bool answer_skip_key(struct span *bytes, struct span key)
{
    for (size_t i = 0; i < key.len; i++) {
        if ((unsigned char)key.data[i] < 0x20 || key.data[i] == '"' || key.data[i] == '\\') {
            return false;
        }
    }
    return skip(bytes, key.data, key.len);
}

static bool answer_skip_start(struct span *bytes, enum operation_kind kind)
{
    return kind == OPERATION_DELETE ? SKIP(bytes, "{\"delete\":{")
                                    : SKIP(bytes, "{\"index\":{") || SKIP(bytes, "{\"create\":{");
}

static bool answer_skip_status(struct span *bytes, int *status)
{
    if (!SKIP(bytes, "\"status\":") || bytes->len < 3) {
        return false;
    }
    *status = answer_parse_status(span_make(bytes->data, 3));
    *bytes = span_make(bytes->data + 3, bytes->len - 3);
    return *status > 0 && SKIP(bytes, "}}");
}

/* Recognises a successful item by its bytes if it belongs to the operation at its position. Nearly
 * all items do, and this costs a tenth of parsing them. */
static size_t answer_on_take(void *context, unsigned depth, struct span bytes)
{
    struct answer *a = context;
    if (a->places[depth] != PLACE_ITEMS || a->item >= a->wanted) {
        return 0;
    }
    struct operation *o = &a->batch->operations[a->item];
    struct span rest = bytes;
    char hash[KEY_ID_BYTES];
    struct item item = {0};
    if (o->answered || !answer_skip_start(&rest, o->kind) ||
        !written_index_skip(&a->where, &rest) ||
        (SKIP(&rest, "\"_id\":\"") &&
         !(answer_skip_key(&rest, key_id(hash, &a->batch->routing, batch_key(a->batch, o))) &&
           SKIP(&rest, "\","))) ||
        !answer_skip_status(&rest, &item.status)) {
        return 0;
    }
    answer_apply_outcome_operation(o, &item);
    a->item++;
    return bytes.len - rest.len;
}

static const struct walk_events events = {answer_on_open,   answer_on_close,  answer_on_key,
                                          answer_on_string, answer_on_scalar, answer_on_take};

static void answer_set_all_unknown(struct batch *b)
{
    size_t in_flight = batch_in_flight(b);
    for (size_t i = 0; i < in_flight; i++) {
        struct operation *o = &b->operations[i];
        o->outcome = OUTCOME_UNKNOWN;
        o->answered = false;
        o->http_status = 0;
        o->seen = 0;
        o->reason_len = 0;
    }
    buf_reset(&b->reasons);
}

void answer_begin(struct answer *a, struct batch *batch, const char *index)
{
    walk_begin(&a->walk, &events, a);
    a->batch = batch;
    a->wanted = batch_in_flight(batch);
    a->field = FIELD_NONE;
    a->items_seen = false;
    a->too_many = false;
    a->foreign = false;
    a->item = 0;
    written_index_expect(&a->where, batch->creates, index);
    answer_set_all_unknown(batch);
}

bool answer_feed(struct answer *a, const char *bytes, size_t len)
{
    return walk_feed(&a->walk, bytes, len);
}

static int answer_explain(const struct answer *a, struct err *err)
{
    size_t wanted = a->wanted;
    if (a->too_many) {
        return err_set(err, ERR_TRANSIENT,
                       "the answer to a bulk request has more items than its %zu operations",
                       wanted);
    }
    if (a->foreign) {
        err_set(err, ERR_TRANSIENT,
                "item %zu of the answer to a bulk request matches no operation, or one that "
                "already has an item",
                a->item + 1);
        err_hint(err, "an ingest pipeline must not change \"_id\"");
        return ERR_TRANSIENT;
    }
    if (a->walk.state == WALK_BROKEN) {
        return err_set(
            err, ERR_TRANSIENT,
            "could not read the answer to a bulk request: it is not a bulk answer from byte "
            "%zu on",
            a->walk.passed);
    }
    if (!walk_whole(&a->walk)) {
        return err_set(err, ERR_TRANSIENT,
                       "the answer to a bulk request ends after %zu bytes and %zu of %zu items",
                       a->walk.passed, a->item, wanted);
    }
    return err_set(
        err, ERR_TRANSIENT,
        "the answer to a bulk request has %zu items, expected %zu, one for each operation", a->item,
        wanted);
}

int answer_end(struct answer *a, struct err *err)
{
    if (walk_whole(&a->walk) && a->items_seen && a->item == a->wanted) {
        return 0;
    }
    answer_set_all_unknown(a->batch);
    return answer_explain(a, err);
}
