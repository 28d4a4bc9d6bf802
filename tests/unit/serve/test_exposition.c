/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the text format, with any content of a label. */
#include "exposition.h"

#include <math.h>

#include "suite.h"

static void expect(struct buf *out, const char *text)
{
    ck_assert_str_eq(buf_text(out), text);
    buf_release(out);
}

START_TEST(a_family_has_a_head_and_samples)
{
    struct buf out;
    const struct label labels[] = {{"pipeline", "articles"}, {"le", "0.5"}, {0}};
    const struct label none[] = {{0}};
    buf_init(&out, 4096);
    exposition_head(&out, "x_seconds", "histogram", "how long");
    exposition_int(&out, "x_seconds", "_bucket", labels, 7);
    exposition_real(&out, "x_seconds", "_sum", none, 0.25);
    exposition_int(&out, "x_seconds", "_count", none, INT64_MAX);
    exposition_real(&out, "x_seconds", "", none, NAN);
    expect(&out, "# HELP x_seconds how long\n# TYPE x_seconds histogram\n"
                 "x_seconds_bucket{pipeline=\"articles\",le=\"0.5\"} 7\n"
                 "x_seconds_sum 0.25\nx_seconds_count 9223372036854775807\nx_seconds NaN\n");
}
END_TEST

START_TEST(nothing_in_a_label_ends_it)
{
    struct buf out;
    const struct label labels[] = {{"a", "say \"no\" \\ or\nnot} 1"}, {0}};
    const struct label broken[] = {{"a", "\xff\xfe ok"}, {0}};
    buf_init(&out, 4096);
    exposition_int(&out, "x", "", labels, 1);
    exposition_int(&out, "x", "", broken, 1);
    expect(&out, "x{a=\"say \\\"no\\\" \\\\ or\\nnot} 1\"} 1\n"
                 "x{a=\"\xef\xbf\xbd\xef\xbf\xbd ok\"} 1\n");
}
END_TEST

START_TEST(an_empty_label_is_none)
{
    struct buf out;
    const struct label labels[] = {{"a", ""}, {"b", NULL}, {"c", "d"}, {0}};
    const struct label empty[] = {{"a", ""}, {0}};
    buf_init(&out, 4096);
    exposition_int(&out, "x", "", labels, 1);
    exposition_int(&out, "x", "", empty, 2);
    expect(&out, "x{c=\"d\"} 1\nx 2\n");
}
END_TEST

SUITE_MAIN("serve/exposition", a_family_has_a_head_and_samples, nothing_in_a_label_ends_it,
           an_empty_label_is_none)
