/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of both servers and of the listener. An accepted address has no user, no query and no
 * invisible characters. A refusal is one line.
 */
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "syntax/address.h"

static void expect_refusal(int rc, const struct err *err)
{
    FUZZ_EXPECT(rc == ERR_CONFIG && err->class == ERR_CONFIG, "refused with %d", rc);
    FUZZ_EXPECT(err->message[0] != '\0' && strchr(err->message, '\n') == NULL, "message: %s",
                err->message);
}

static void check_good_url(const char *text)
{
    const char *rest = strstr(text, "://");
    FUZZ_EXPECT(rest != NULL &&
                    (strncasecmp(text, "http:", 5) == 0 || strncasecmp(text, "https:", 6) == 0),
                "%s", text);
    size_t host = strcspn(rest + 3, "/");
    FUZZ_EXPECT(host > 0 && memchr(rest + 3, '@', host) == NULL, "%s", text);
    FUZZ_EXPECT(strpbrk(text, "?#\\ \t\r\n\x7f") == NULL, "%s", text);
    /* must not crash on any text */
    (void)address_is_open(text);
}

static void check_url(const char *text)
{
    struct err err = {.class = ERR_NONE};
    int rc = address_check_service(text, &err);
    char *of_cloud = address_of_cloud_id(text);
    if (rc != 0) {
        expect_refusal(rc, &err);
        FUZZ_EXPECT(of_cloud == NULL, "%s", text);
        return;
    }
    check_good_url(of_cloud != NULL ? of_cloud : text);
    free(of_cloud);
}

static void check_listen(const char *text)
{
    struct err err = {.class = ERR_NONE};
    int rc = address_check_listen(text, &err);
    if (rc != 0) {
        expect_refusal(rc, &err);
        return;
    }
    const char *port = strrchr(text, ':');
    FUZZ_EXPECT(port != NULL && port > text && port[1] != '\0' &&
                    strspn(port + 1, "0123456789") == strlen(port + 1) && atol(port + 1) <= 65535,
                "%s", text);
    (void)address_listens_open(text);
}

static void check_uri(const char *text)
{
    struct err err = {.class = ERR_NONE};
    int rc = address_check_uri(text, &err);
    if (rc != 0) {
        expect_refusal(rc, &err);
        return;
    }
    FUZZ_EXPECT(strncmp(text, "password=", 9) != 0, "%s", text);
    const char *scheme = strstr(text, "://");
    const char *query = scheme != NULL ? strchr(scheme, '?') : NULL;
    FUZZ_EXPECT(query == NULL || strncmp(query, "?password=", 10) != 0 ||
                    strcspn(text, "= \t") <= (size_t)(scheme - text),
                "%s", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    check_url(text);
    check_listen(text);
    check_uri(text);
    free(text);
    return 0;
}
