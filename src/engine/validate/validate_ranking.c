/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the searches of a trial, and ranks the values of its rows. */
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

/* Finds the row of a hit by its id, which may be the hash of a key. */
static bool validate_ranking_find(const struct validating *v, struct span id, size_t *place)
{
    char hash[KEY_ID_BYTES];
    const struct key_routing *routing = &v->options->routing;
    if (!routing->hashed || !key_is_hash(id)) {
        return sample_find(v->sample, id, place);
    }
    for (size_t i = 0; i < sample_count(v->sample); i++) {
        if (span_equal(key_id(hash, routing, sample_key(v->sample, i)), id)) {
            *place = i;
            return true;
        }
    }
    return false;
}

static void validate_ranking_place_hits(struct validating *v)
{
    v->places = mem_grow(v->places, v->hits.ids.count + 1, sizeof(*v->places));
    for (size_t i = 0; i < v->hits.ids.count; i++) {
        if (!validate_ranking_find(v, scan_list_get(&v->hits.ids, i), &v->places[i])) {
            v->places[i] = JUDGE_STRANGER;
        }
    }
}

static size_t validate_ranking_whole_sample(const struct validating *v)
{
    size_t n = sample_count(v->sample);
    return n < TRIAL_MOST ? n : TRIAL_MOST;
}

int validate_search_field(struct validating *v, const char *before, const char *field,
                          const char *after, size_t size, struct err *err)
{
    struct buf body;
    buf_init(&body, VALIDATE_TEXT_BYTES);
    buf_push_text(&body, before);
    text_json(&body, field, strlen(field));
    buf_push_text(&body, after);
    int rc = validate_search(v, buf_text(&body), size, err);
    buf_release(&body);
    return rc;
}

int validate_search_filled(struct validating *v, const char *field, size_t size, struct err *err)
{
    return validate_search_field(v, "{\"query\":{\"exists\":{\"field\":", field, "}}}", size, err);
}

int validate_search(struct validating *v, const char *body, size_t size, struct err *err)
{
    return validate_search_through(v, body, size, NULL, err);
}

int validate_search_through(struct validating *v, const char *body, size_t size,
                            const char *pipeline, struct err *err)
{
    int rc =
        trial_search(v->ports->service, v->trial.index, body,
                     size > 0 ? size : validate_ranking_whole_sample(v), pipeline, &v->hits, err);
    if (rc == 0) {
        validate_ranking_place_hits(v);
    }
    return rc;
}

int validate_search_text(struct validating *v, const char *q, const char *pipeline, struct err *err)
{
    int rc = trial_search_text(v->ports->service, v->trial.index, q,
                               validate_ranking_whole_sample(v), pipeline, &v->hits, err);
    if (rc == 0) {
        validate_ranking_place_hits(v);
    }
    return rc;
}

static void validate_ranking_take_value(void *context, size_t row, int64_t rank, const char *text)
{
    struct ranking *r = context;
    if ((r->count & (r->count - 1)) == 0) {
        r->items = mem_grow(r->items, r->count == 0 ? 1 : r->count * 2, sizeof(*r->items));
    }
    r->items[r->count++] = (struct ranked){row, rank};
    if (rank > r->last) {
        if (rank >= r->text_room) {
            r->text_room = rank * 2 + 8;
            r->texts = mem_grow(r->texts, (size_t)r->text_room, sizeof(*r->texts));
        }
        for (int64_t i = r->last + 1; i < rank; i++) {
            r->texts[i] = NULL;
        }
        r->texts[rank] = text_copy(text);
        r->last = rank;
    }
}

static void validate_ranking_take_text(void *context, size_t row, int64_t rank, const char *text)
{
    struct known_texts *k = context;
    (void)rank;
    if (k->count < VALIDATE_TEXTS) {
        k->rows[k->count] = row;
        k->texts[k->count++] = text_copy(text);
    }
}

int validate_texts_load(struct validating *v, const struct plan_step *step, size_t characters,
                        size_t most, struct known_texts *out, struct err *err)
{
    out->count = 0;
    return sample_texts(v->sample, step, characters, most, validate_ranking_take_text, out, err);
}

void validate_texts_release(struct known_texts *k)
{
    for (size_t i = 0; i < k->count; i++) {
        free(k->texts[i]);
    }
}

int validate_ranking_load(struct validating *v, const struct plan_step *step, struct ranking *r,
                          struct err *err)
{
    *r = (struct ranking){0};
    return sample_values(v->sample, step, validate_ranking_take_value, r, err);
}

void validate_ranking_release(struct ranking *r)
{
    for (int64_t i = 1; i <= r->last; i++) {
        free(r->texts[i]);
    }
    free(r->texts);
    free(r->items);
}

size_t validate_ranking_mark(struct validating *v, const struct ranking *r, int64_t low,
                             int64_t high)
{
    size_t marked = 0;
    memset(v->marks, 0, sample_count(v->sample) * sizeof(bool));
    for (size_t i = 0; i < r->count; i++) {
        const struct ranked *item = &r->items[i];
        if (item->rank >= low && item->rank <= high && v->indexed[item->row]) {
            marked += v->marks[item->row] ? 0 : 1;
            v->marks[item->row] = true;
        }
    }
    return marked;
}

bool validate_ranking_usable(const struct ranking *r, int64_t rank)
{
    return rank >= 1 && rank <= r->last && r->texts[rank] != NULL && strlen(r->texts[rank]) < 200;
}

size_t validate_ranking_probes(const struct ranking *r, int64_t probes[3])
{
    size_t run = 0;
    size_t most = 0;
    size_t n = 0;
    int64_t wanted[3] = {0, (r->last + 1) / 2, r->last};
    for (size_t i = 0; i < r->count; i++) {
        run = i > 0 && r->items[i].rank == r->items[i - 1].rank ? run + 1 : 1;
        if (run > most && validate_ranking_usable(r, r->items[i].rank)) {
            most = run;
            wanted[0] = r->items[i].rank;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        bool again = (n > 0 && probes[0] == wanted[i]) || (n > 1 && probes[1] == wanted[i]);
        if (validate_ranking_usable(r, wanted[i]) && !again) {
            probes[n++] = wanted[i];
        }
    }
    return n;
}

size_t validate_differs(struct validating *v, size_t *row, bool *missing)
{
    size_t differ = 0;
    *row = 0;
    *missing = false;
    for (size_t i = 0; i < v->hits.ids.count; i++) {
        size_t place = v->places[i];
        if (place == JUDGE_STRANGER || !v->marks[place]) {
            differ++;
            *row = place;
        } else {
            v->marks[place] = false;
        }
    }
    for (size_t i = 0; i < sample_count(v->sample); i++) {
        if (v->marks[i]) {
            differ++;
            *row = i;
            *missing = true;
        }
    }
    return differ;
}

const char *validate_key(const struct validating *v, size_t row)
{
    return row == JUDGE_STRANGER ? "?" : sample_key(v->sample, row).data;
}

bool validate_said_off(const struct validating *v, const char *property, const char *parameter)
{
    char *text = mapping_parameter(v->options->mapping, property, parameter);
    bool off = text != NULL && strcmp(text, "false") == 0;
    free(text);
    return off;
}

bool validate_searches_words(const struct validating *v, const struct property *p)
{
    bool text = strcmp(p->type, "text") == 0 || strcmp(p->type, "match_only_text") == 0;
    return text && !validate_said_off(v, p->name, "index");
}
