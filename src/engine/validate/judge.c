/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates ranks, orders, neighbours and sizes. */
#include "validate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"

#define AS_NEAR 1e-5 /* relative tolerance, because the products compute with floats */

size_t judge_rank(const size_t *hits, size_t count, size_t expected)
{
    for (size_t i = 0; i < count; i++) {
        if (hits[i] == expected) {
            return i + 1;
        }
    }
    return 0;
}

void judge_relevance_add(struct relevance *r, size_t rank)
{
    r->asked++;
    if (rank > 0) {
        r->found++;
        r->sum += 1 / (double)rank;
        r->at[rank < RELEVANCE_RANKS ? rank - 1 : RELEVANCE_RANKS - 1]++;
    }
}

double judge_relevance_mrr(const struct relevance *r)
{
    return r->asked > 0 ? r->sum / (double)r->asked : 0;
}

size_t judge_differ(const size_t *a, size_t a_count, const size_t *b, size_t b_count, size_t *place)
{
    size_t most = a_count > b_count ? a_count : b_count;
    size_t same = 0;
    *place = 0;
    for (size_t i = 0; i < most; i++) {
        same += i < a_count && judge_rank(b, b_count, a[i]) > 0 ? 1 : 0;
        if (*place == 0 && (i >= a_count || i >= b_count || a[i] != b[i])) {
            *place = i + 1;
        }
    }
    return most - same;
}

static int judge_compare_grades(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static double judge_gain(const int64_t *grades, size_t count, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < count && i < k; i++) {
        sum += (exp2((double)grades[i]) - 1) / log2((double)i + 2);
    }
    return sum;
}

double judge_ndcg(const int64_t *hits, size_t hit_count, int64_t *all, size_t count, size_t k)
{
    qsort(all, count, sizeof(*all), judge_compare_grades);
    double best = judge_gain(all, count, k);
    return best > 0 ? judge_gain(hits, hit_count, k) / best : 0;
}

size_t judge_order(const int64_t *ranks, size_t count, bool descending)
{
    for (size_t i = 1; i < count; i++) {
        int64_t before = ranks[i - 1];
        int64_t now = ranks[i];
        bool wrong =
            before == 0 ? now != 0 : now != 0 && (descending ? now > before : now < before);
        if (wrong) {
            return i;
        }
    }
    return count;
}

/* --- vectors --------------------------------------------------------------------------------- */

enum metric judge_metric(const char *similarity, enum metric fallback)
{
    static const struct {
        const char *name;
        enum metric metric;
    } names[] = {
        {"l2", METRIC_L2},
        {"l2_norm", METRIC_L2},
        {"l1", METRIC_L1},
        {"linf", METRIC_LINF},
        {"cosine", METRIC_COSINE},
        {"cosinesimil", METRIC_COSINE},
        {"dot_product", METRIC_DOT},
        {"innerproduct", METRIC_DOT},
        {"max_inner_product", METRIC_DOT},
    };
    for (size_t i = 0; similarity != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, similarity) == 0) {
            return names[i].metric;
        }
    }
    return similarity == NULL ? fallback : METRIC_NONE;
}

struct sums {
    double squares, absolute, largest, dot, a, b;
};

static struct sums judge_sum_up(const float *a, const float *b, size_t dimension)
{
    struct sums s = {0};
    for (size_t i = 0; i < dimension; i++) {
        double x = a[i];
        double y = b[i];
        double d = fabs(x - y);
        s.squares += d * d;
        s.absolute += d;
        s.largest = d > s.largest ? d : s.largest;
        s.dot += x * y;
        s.a += x * x;
        s.b += y * y;
    }
    return s;
}

double judge_distance(enum metric metric, const float *a, const float *b, size_t dimension)
{
    struct sums s = judge_sum_up(a, b, dimension);
    switch (metric) {
    case METRIC_L1:
        return s.absolute;
    case METRIC_LINF:
        return s.largest;
    case METRIC_COSINE:
        return s.a > 0 && s.b > 0 ? 1 - s.dot / sqrt(s.a * s.b) : 1;
    case METRIC_DOT:
        return -s.dot;
    case METRIC_L2:
    case METRIC_NONE:
    default:
        return s.squares;
    }
}

static int judge_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double judge_recall(double *all, size_t count, const double *hits, size_t hit_count, size_t k)
{
    size_t wanted = k < count ? k : count;
    if (wanted == 0) {
        return 0;
    }
    qsort(all, count, sizeof(*all), judge_compare_doubles);
    double last = all[wanted - 1];
    double reach = last + (fabs(last) + 1) * AS_NEAR;
    size_t found = 0;
    for (size_t i = 0; i < hit_count && i < k; i++) {
        found += hits[i] <= reach ? 1 : 0;
    }
    return (double)(found < wanted ? found : wanted) / (double)wanted;
}

size_t judge_vector(const char *text, float *out, size_t most)
{
    size_t count = 0;
    if (*text != '[' && *text != '{') {
        return 0;
    }
    text++;
    for (;;) {
        char *end;
        float value = strtof(text, &end);
        if (end == text || !isfinite(value)) {
            return 0;
        }
        if (count < most) {
            out[count] = value;
        }
        count++;
        text = end + strspn(end, " ");
        if (*text == ']' || *text == '}') {
            return count;
        }
        if (*text++ != ',') {
            return 0;
        }
    }
}

/* --- texts and sizes ------------------------------------------------------------------------- */

static bool judge_of_word(char c)
{
    return ascii_is_digit(c) || ascii_is_letter(c) || (unsigned char)c >= 0x80;
}

/* Returns true if a mark at text[i] joins letters to one word: don't, example.com, a_b. */
static bool judge_joins(const char *text, size_t i)
{
    return text[i] == '_' || (text[i] != '\0' && strchr("'.:,", text[i]) != NULL && i > 0 &&
                              judge_of_word(text[i - 1]) && judge_of_word(text[i + 1]));
}

bool judge_word(const char *text, size_t *at, struct span *word)
{
    for (;;) {
        while (text[*at] != '\0' && !judge_of_word(text[*at])) {
            ++*at;
        }
        size_t from = *at;
        while (judge_of_word(text[*at])) {
            ++*at;
        }
        *word = span_make(text + from, *at - from);
        bool part = judge_joins(text, *at) || (from > 0 && judge_joins(text, from - 1));
        if (word->len == 0 || (word->len >= 3 && !part)) {
            return word->len > 0;
        }
    }
}

int64_t judge_whole(int64_t some, int64_t documents, int64_t rows)
{
    return some > 0 && documents > 0 && rows > 0
               ? (int64_t)((double)some / (double)documents * (double)rows)
               : 0;
}
