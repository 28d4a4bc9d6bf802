/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of both servers: their form, and the secrets that they must not contain. */
#include "syntax/address.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define KEYWORD_MAX_BYTES 256

static int address_password_refused(struct err *err)
{
    err_set(err, ERR_CONFIG, "a password in the URI is refused");
    return err_hint(err,
                    "name its origin in source.password: env, file, command, prompt or credential");
}

static bool address_is_secret_keyword(const char *keyword)
{
    return strcmp(keyword, "password") == 0 || strcmp(keyword, "sslpassword") == 0;
}

static bool address_starts_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* Decodes the percent escapes of a query's keyword as libpq does, and checks it. */
static bool address_query_keyword_is_secret(const char *text, size_t len)
{
    struct buf keyword;
    buf_init(&keyword, KEYWORD_MAX_BYTES);
    for (size_t i = 0; i < len; i++) {
        int byte = text[i] == '%' ? ascii_hex_byte(text + i + 1, len - i - 1) : -1;
        if (byte >= 0) {
            buf_push_char(&keyword, (char)byte);
            i += 2;
        } else {
            buf_push_char(&keyword, text[i]);
        }
    }
    bool secret = address_is_secret_keyword(buf_text(&keyword));
    buf_release(&keyword);
    return secret;
}

/* postgresql://user:password@host/db?password=x: libpq takes the text before the first @ or / as
 * the user's part if it ends with an @. */
static bool address_uri_has_password(const char *rest)
{
    size_t user = strcspn(rest, "@/");
    if (rest[user] == '@' && memchr(rest, ':', user) != NULL) {
        return true;
    }
    const char *query = strchr(rest, '?');
    while (query != NULL) {
        query++;
        if (address_query_keyword_is_secret(query, strcspn(query, "=&"))) {
            return true;
        }
        query = strchr(query, '&');
    }
    return false;
}

static const char *address_skip_conninfo_value(const char *at)
{
    if (*at != '\'') {
        while (*at != '\0' && !isspace((unsigned char)*at)) {
            at += *at == '\\' && at[1] != '\0' ? 2 : 1;
        }
        return at;
    }
    for (at++; *at != '\0' && *at != '\''; at++) {
        at += *at == '\\' && at[1] != '\0';
    }
    return *at == '\'' ? at + 1 : at;
}

static const char *address_skip_space(const char *at)
{
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* Returns 1 if it contains a password, 0 if not, -1 if it is not a list of key=value. */
static int address_conninfo_has_password(const char *at)
{
    for (at = address_skip_space(at); *at != '\0'; at = address_skip_space(at)) {
        size_t len = strcspn(at, "= \t\r\n");
        char *keyword = text_copy_span(span_make(at, len));
        bool secret = address_is_secret_keyword(keyword);
        free(keyword);
        at = address_skip_space(at + len);
        if (*at != '=' || len == 0) {
            return -1;
        }
        if (secret) {
            return 1;
        }
        at = address_skip_conninfo_value(address_skip_space(at + 1));
    }
    return 0;
}

int address_check_uri(const char *uri, struct err *err)
{
    const char *scheme = strstr(uri, "://");
    if (scheme != NULL && strcspn(uri, "= \t") > (size_t)(scheme - uri)) {
        /* libpq requires lower case */
        if (strncmp(uri, "postgresql://", 13) != 0 && strncmp(uri, "postgres://", 11) != 0) {
            return err_set(err, ERR_CONFIG, "it must begin with postgresql://");
        }
        return address_uri_has_password(scheme + 3) ? address_password_refused(err) : 0;
    }
    int found = address_conninfo_has_password(uri);
    if (found < 0) {
        err_set(err, ERR_CONFIG, "neither a URI nor a list of key=value");
        return err_hint(err, "write it like postgresql://user@host/database");
    }
    return found > 0 ? address_password_refused(err) : 0;
}

/* Finds the part between scheme and path. Returns false if the scheme is not http or https. */
static bool address_url_authority(const char *url, struct span *authority)
{
    const char *start = address_starts_with(url, "https://")  ? url + strlen("https://")
                        : address_starts_with(url, "http://") ? url + strlen("http://")
                                                              : NULL;
    if (start != NULL) {
        *authority = span_make(start, strcspn(start, "/?#\\"));
    }
    return start != NULL;
}

/* Splits "host:port" and "[address]:port". Returns false if the port is invalid. */
static bool address_split_port(struct span text, struct span *host, struct span *port)
{
    *host = text;
    *port = span_make("", 0);
    const char *colon = memrchr(text.data, ':', text.len);
    const char *bracket = memrchr(text.data, ']', text.len);
    if (colon != NULL && (bracket == NULL || colon > bracket)) {
        host->len = (size_t)(colon - text.data);
        *port = span_make(colon + 1, text.len - host->len - 1);
        if (port->len == 0 || port->len > 5) {
            return false;
        }
    }
    long number = 0;
    for (size_t i = 0; i < port->len; i++) {
        if (!ascii_is_digit(port->data[i])) {
            return false;
        }
        number = number * 10 + (port->data[i] - '0');
    }
    return number <= 65535;
}

static bool address_has_blank(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

/* `refused`: characters that may not occur. `instead`: of a user and password. */
static int address_check_http(const char *url, const char *refused, const char *instead,
                              struct err *err)
{
    struct span authority;
    struct span host;
    struct span port;
    if (!address_url_authority(url, &authority)) {
        return err_set(err, ERR_CONFIG, "it must begin with https:// or http://");
    }
    if (memchr(authority.data, '@', authority.len) != NULL) {
        err_set(err, ERR_CONFIG, "a user or password in the URL is refused");
        return err_hint(err, "%s", instead);
    }
    if (address_has_blank(url)) {
        return err_set(err, ERR_CONFIG, "a blank or control character in the URL");
    }
    if (strpbrk(url, refused) != NULL) {
        return err_set(err, ERR_CONFIG, "a query or fragment in the URL");
    }
    if (!address_split_port(authority, &host, &port)) {
        return err_set(err, ERR_CONFIG, "the port must be a number up to 65535");
    }
    if (host.len == 0) {
        return err_set(err, ERR_CONFIG, "the URL names no host");
    }
    return 0;
}

/* --- a cloud id ------------------------------------------------------------------------------- */

/* Returns -1 for a character that base64 does not have. */
static int address_base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Appends what base64 encodes, up to the padding. Returns false if it is not base64. */
static bool address_push_decoded(struct buf *out, const char *text)
{
    unsigned bits = 0;
    int have = 0;
    for (; address_base64_value(*text) >= 0; text++) {
        bits = bits << 6 | (unsigned)address_base64_value(*text);
        have += 6;
        if (have >= 8) {
            have -= 8;
            buf_push_char(out, (char)(bits >> have & 0xff));
        }
    }
    return strspn(text, "=") == strlen(text) && strlen(text) <= 2;
}

/* Splits off "name" or "name:port" before the next '$'. */
static bool address_next_part(const char **at, struct span *host, struct span *port)
{
    static const char of_names[] =
        "0123456789.-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct span part = span_make(*at, strcspn(*at, "$"));
    *at += part.len + ((*at)[part.len] == '$');
    return address_split_port(part, host, port) && host->len > 0 &&
           strspn(host->data, of_names) >= host->len;
}

char *address_of_cloud_id(const char *text)
{
    struct buf decoded;
    struct buf url;
    struct span host, host_port, node, node_port;
    const char *colon = strrchr(text, ':');
    char *made = NULL;
    buf_init(&decoded, 1024);
    buf_init(&url, 1024);
    if (colon != NULL && strstr(text, "://") == NULL && address_push_decoded(&decoded, colon + 1)) {
        const char *at = buf_text(&decoded);
        bool fits = address_next_part(&at, &host, &host_port) &&
                    address_next_part(&at, &node, &node_port) &&
                    strlen(buf_text(&decoded)) == decoded.len; /* no NUL byte */
        if (fits) {
            struct span port = node_port.len > 0 ? node_port : host_port;
            buf_printf(&url, "https://%.*s.%.*s%s%.*s", (int)node.len, node.data, (int)host.len,
                       host.data, port.len > 0 ? ":" : "", (int)port.len, port.data);
        }
        made = fits && !url.failed ? text_copy(buf_text(&url)) : NULL;
    }
    buf_release(&decoded);
    buf_release(&url);
    return made;
}

int address_check_url(const char *url, struct err *err)
{
    return address_check_http(url, "?#\\", "use service.auth", err);
}

int address_check_service(const char *text, struct err *err)
{
    char *of_cloud = address_of_cloud_id(text);
    if (of_cloud != NULL) {
        free(of_cloud);
        return 0;
    }
    return strstr(text, "://") != NULL
               ? address_check_url(text, err)
               : err_set(err, ERR_CONFIG,
                         "it must begin with https:// or http://, or be a cloud id");
}

int address_check_hook(const char *url, struct err *err)
{
    return address_check_http(url, "#\\", "let a command send it", err);
}

static bool address_is_loopback(struct span host)
{
    char *text = text_copy_span(host);
    bool ipv4 = strncmp(text, "127.", 4) == 0 && text[strspn(text, "0123456789.")] == '\0';
    bool loopback = ipv4 || strcasecmp(text, "localhost") == 0 || strcmp(text, "[::1]") == 0;
    free(text);
    return loopback;
}

bool address_is_open(const char *url)
{
    struct span authority;
    struct span host;
    struct span port;
    return address_starts_with(url, "http://") && address_url_authority(url, &authority) &&
           address_split_port(authority, &host, &port) && !address_is_loopback(host);
}

bool address_listens_open(const char *listen)
{
    struct span host;
    struct span port;
    return address_split_port(span_make(listen, strlen(listen)), &host, &port) &&
           !address_is_loopback(host);
}

int address_check_listen(const char *listen, struct err *err)
{
    struct span host;
    struct span port;
    if (address_has_blank(listen) ||
        !address_split_port(span_make(listen, strlen(listen)), &host, &port) || host.len == 0 ||
        port.len == 0) {
        return err_set(err, ERR_CONFIG, "host:port is expected, like \"127.0.0.1:9187\"");
    }
    return 0;
}

int address_check_host(const char *name, struct err *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (*name == '\0' || name[strspn(name, allowed)] != '\0') {
        return err_set(err, ERR_CONFIG,
                       "a host's name is expected, without scheme and port, like \"status.shop\"");
    }
    return 0;
}
