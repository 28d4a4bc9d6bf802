/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: accepted ones, refused ones, and the parts read from them. */
#include "syntax/address.h"

#include <string.h>

#include "suite.h"

START_TEST(passwords_are_seen_in_every_form_that_libpq_reads)
{
    static const char *const refused[] = {
        "postgresql://u:x@h/d",
        "postgresql://u:@h/d",
        "postgres://:x@h",
        "postgresql:///d?password=x",
        "postgresql://h/d?a=b&password=x",
        "postgresql://h/d?pass%77ord=x",
        "postgresql://h/d?sslpassword=x",
        "password=x",
        " host = h password=x",
        "host='it\\'s' password=x",
        "host=a\\ b password = 'x'",
        "user=u sslpassword=x",
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct err err = {0};
        ck_assert_msg(address_check_uri(refused[i], &err) == ERR_CONFIG, "%s", refused[i]);
        ck_assert_str_eq(err.message, "a password in the URI is refused");
    }
}
END_TEST

START_TEST(what_only_looks_like_a_password_passes)
{
    static const char *const allowed[] = {
        "postgresql://u@h:5432/d",
        "postgresql://h:5432/a@b:c",
        "postgresql://u@[::1]:5432/d",
        "postgresql://h/d?passwords=1&options=password",
        "user=password dbname=password",
        "host='password=x'",
        "dbname='a\\\\' user=u",
        "passfile=/etc/pgpass",
        "service=shop",
    };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        struct err err = {0};
        ck_assert_msg(address_check_uri(allowed[i], &err) == 0, "%s: %s", allowed[i], err.message);
    }
}
END_TEST

START_TEST(texts_of_the_wrong_shape_are_refused_as_uris)
{
    static const char *const refused[] = {"db.internal", "host",       "=x",
                                          "host=h x",    "http://h/d", "POSTGRESQL://h"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct err err = {0};
        ck_assert_msg(address_check_uri(refused[i], &err) == ERR_CONFIG, "%s", refused[i]);
    }
}
END_TEST

START_TEST(a_cloud_id_is_the_url_of_its_elasticsearch)
{
    static const struct {
        const char *text, *url;
    } ids[] = {
        /* eu.cloud.example$abc123$def456 */
        {"shop:ZXUuY2xvdWQuZXhhbXBsZSRhYmMxMjMkZGVmNDU2", "https://abc123.eu.cloud.example"},
        {"ZXUuY2xvdWQuZXhhbXBsZSRhYmMxMjMkZGVmNDU2", NULL},
        /* eu.cloud.example:9243$abc123 */
        {"my shop:ZXUuY2xvdWQuZXhhbXBsZTo5MjQzJGFiYzEyMw==",
         "https://abc123.eu.cloud.example:9243"},
        /* eu.cloud.example$abc123:9244$x */
        {"a:b:ZXUuY2xvdWQuZXhhbXBsZSRhYmMxMjM6OTI0NCR4", "https://abc123.eu.cloud.example:9244"},
        {"shop:ZXUuY2xvdWQuZXhhbXBsZQ==", NULL},     /* eu.cloud.example */
        {"shop:ZXUuY2xvdWQuZXhhbXBsZSQ=", NULL},     /* eu.cloud.example$ */
        {"shop:ZXUuY2xvdWRAZXZpbCRhYmMxMjM=", NULL}, /* eu.cloud@evil$abc123 */
        {"shop:ZXUkYS9i", NULL},                     /* eu$a/b */
        {"shop:ZXUuY2xvdWQ!", NULL},
        {"h:9200", NULL},
        {"https://h:ZXUuY2xvdWQuZXhhbXBsZSRhYmMxMjMkZGVmNDU2", NULL},
    };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char *url = address_of_cloud_id(ids[i].text);
        ck_assert_msg((url == NULL) == (ids[i].url == NULL), "%s", ids[i].text);
        ck_assert_msg(url == NULL || strcmp(url, ids[i].url) == 0, "%s", url);
        free(url);
    }
}
END_TEST

START_TEST(urls_have_scheme_host_and_path_and_nothing_else)
{
    static const char *const allowed[] = {"https://h", "http://h:9200/", "HTTPS://h/a/b",
                                          "http://[::1]:9200", "https://h/a@b"};
    static const char *const refused[] = {
        "h:9200",      "https://",         "https://u@h",     "https://h:",
        "https://h:x", "https://h/ a",     "https://h:70000", "https://h#x",
        "https://h?x", "https://h\\@evil", "https://:9200",   "https://h\n",
    };
    struct err err;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        ck_assert_msg(address_check_url(allowed[i], &err) == 0, "%s", allowed[i]);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        ck_assert_msg(address_check_url(refused[i], &err) == ERR_CONFIG, "%s", refused[i]);
    }
}
END_TEST

START_TEST(only_loopback_is_safe_without_tls)
{
    static const char *const open[] = {"http://h", "http://127.0.0.1.example", "http://10.0.0.1:80",
                                       "http://localhostess", "http://[fe80::1]"};
    static const char *const safe[] = {"https://h", "http://127.0.0.1:80", "http://127.1.2.3",
                                       "http://LOCALHOST/x", "http://[::1]:9200"};
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        ck_assert_msg(address_is_open(open[i]), "%s", open[i]);
        ck_assert_msg(!address_is_open(safe[i]), "%s", safe[i]);
    }
}
END_TEST

START_TEST(listening_on_loopback_is_not_open)
{
    ck_assert(!address_listens_open("127.0.0.1:9187"));
    ck_assert(!address_listens_open("127.8.0.1:9187"));
    ck_assert(!address_listens_open("[::1]:9187"));
    ck_assert(!address_listens_open("localhost:9187"));
    ck_assert(address_listens_open("0.0.0.0:9187"));
    ck_assert(address_listens_open("[::]:9187"));
    ck_assert(address_listens_open("search-box:9187"));
}
END_TEST

START_TEST(listening_needs_host_and_port)
{
    static const char *const allowed[] = {"127.0.0.1:9187", "[::]:0", "localhost:65535"};
    static const char *const refused[] = {"9187", ":9187", "h:",  "h:65536",
                                          "h: 1", "[::1]", "h:-1"};
    struct err err;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        ck_assert_msg(address_check_listen(allowed[i], &err) == 0, "%s", allowed[i]);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        ck_assert_msg(address_check_listen(refused[i], &err) == ERR_CONFIG, "%s", refused[i]);
    }
}
END_TEST

SUITE_MAIN("config/address", passwords_are_seen_in_every_form_that_libpq_reads,
           what_only_looks_like_a_password_passes, texts_of_the_wrong_shape_are_refused_as_uris,
           a_cloud_id_is_the_url_of_its_elasticsearch,
           urls_have_scheme_host_and_path_and_nothing_else, only_loopback_is_safe_without_tls,
           listening_on_loopback_is_not_open, listening_needs_host_and_port)
