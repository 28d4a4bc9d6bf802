/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies errors of PostgreSQL. */
#include "pg/sqlstate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Prefixes of SQLSTATEs after which the same statement may succeed later. */
static const char *const passing[] = {
    "08",    /* connection */
    "40001", /* serialization failure */
    "40P01", /* deadlock */
    "53",    /* resources: connections, memory, disk */
    "55P03", /* lock not available */
    "57014", /* cancelled */
    "57P0",  /* shutdown, crash, starting up */
};

enum err_class sqlstate_class(const char *sqlstate)
{
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        if (strncmp(sqlstate, passing[i], strlen(passing[i])) == 0) {
            return ERR_TRANSIENT;
        }
    }
    return ERR_REJECTED;
}

bool sqlstate_is_refusal(const char *sqlstate)
{
    return strcmp(sqlstate, "42501") == 0 || strcmp(sqlstate, "55000") == 0 ||
           strcmp(sqlstate, "0A000") == 0;
}

static const struct {
    const char *sqlstate;
    const char *name;
} data_exceptions[] = {
    {"22001", "string_data_right_truncation"},
    {"22003", "numeric_value_out_of_range"},
    {"22004", "null_value_not_allowed"},
    {"22007", "invalid_datetime_format"},
    {"22008", "datetime_field_overflow"},
    {"22009", "invalid_time_zone_displacement_value"},
    {"2200N", "invalid_xml_content"},
    {"2201B", "invalid_regular_expression"},
    {"22012", "division_by_zero"},
    {"22021", "character_not_in_repertoire"},
    {"22023", "invalid_parameter_value"},
    {"2202E", "array_subscript_error"},
    {"22032", "invalid_json_text"},
    {"22P02", "invalid_text_representation"},
    {"22P03", "invalid_binary_representation"},
    {"22P05", "untranslatable_character"},
};

const char *sqlstate_data_exception(const char *sqlstate)
{
    for (size_t i = 0; i < sizeof(data_exceptions) / sizeof(data_exceptions[0]); i++) {
        if (strcmp(data_exceptions[i].sqlstate, sqlstate) == 0) {
            return data_exceptions[i].name;
        }
    }
    return strncmp(sqlstate, "22", 2) == 0 ? "data_exception" : NULL;
}

/* Refusals reported by libpq itself, or by a server or proxy without a code. */
static const char *const refusals[] = {
    "password authentication failed", "no pg_hba.conf entry",
    "no password supplied",           "server does not support SSL, but SSL was required",
    "certificate verify failed",      "root certificate file",
    "server certificate for",         "hannel binding",
};

/* Beginnings of libpq's messages about connection parameters that it cannot parse. */
static const char *const misunderstandings[] = {
    "invalid ",   "missing ",      "extra ",          "unexpected ",   "unterminated ",
    "forbidden ", "end of string", "could not match", "sslmode value",
};

static bool sqlstate_is_code(const char *at)
{
    for (int i = 0; i < 5; i++) {
        if (!isdigit((unsigned char)at[i]) && !isupper((unsigned char)at[i])) {
            return false;
        }
    }
    return at[5] == ':';
}

/* In verbose form a code follows the severity and two blanks, in any language. */
static const char *sqlstate_next_code(const char *message)
{
    for (const char *at = strstr(message, ":  "); at != NULL; at = strstr(at + 3, ":  ")) {
        if (sqlstate_is_code(at + 3)) {
            return at + 3;
        }
    }
    return NULL;
}

enum err_class sqlstate_of_connection(const char *message, char sqlstate[6])
{
    sqlstate[0] = '\0';
    for (const char *code = sqlstate_next_code(message); code != NULL;
         code = sqlstate_next_code(code)) {
        memcpy(sqlstate, code, 5);
        sqlstate[5] = '\0';
        if (sqlstate_class(sqlstate) == ERR_REJECTED) {
            return ERR_REJECTED;
        }
    }
    for (size_t i = 0; i < sizeof(misunderstandings) / sizeof(misunderstandings[0]); i++) {
        if (strncmp(message, misunderstandings[i], strlen(misunderstandings[i])) == 0) {
            return ERR_CONFIG;
        }
    }
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strstr(message, refusals[i]) != NULL) {
            return ERR_REJECTED;
        }
    }
    return ERR_TRANSIENT;
}

static void sqlstate_push_without_secret(struct buf *out, const char *text, const char *end,
                                         const char *secret)
{
    size_t secret_len = secret != NULL ? strlen(secret) : 0;
    while (text < end) {
        bool hit = secret_len > 0 && strncmp(text, secret, secret_len) == 0;
        buf_push(out, hit ? "***" : text, hit ? 3 : 1);
        text += hit ? secret_len : 1;
    }
}

void sqlstate_push_masked(struct buf *out, const char *message, const char *secret)
{
    sqlstate_push_without_secret(out, message, message + strlen(message), secret);
}

/* Appends "connection to .. failed: FATAL:  28P01: text" without severity and code, which err
 * has. */
static void sqlstate_push_line(struct buf *out, const char *text, const char *end,
                               const char *secret)
{
    const char *mark = memmem(text, (size_t)(end - text), ":  ", 3);
    if (mark != NULL) {
        const char *words = mark + (sqlstate_is_code(mark + 3) ? 3 + 7 : 3);
        while (mark > text && mark[-1] != ' ') {
            mark--;
        }
        sqlstate_push_without_secret(out, text, mark, secret);
        text = words;
    }
    sqlstate_push_without_secret(out, text, end, secret);
}

void sqlstate_one_line(struct buf *out, const char *message, const char *secret)
{
    bool first = true;
    while (*message != '\0') {
        size_t len = strcspn(message, "\n");
        bool guess = message[0] == '\t'; /* libpq's guess at the cause */
        if (len > 0 && !guess && strncmp(message, "LOCATION:", 9) != 0) {
            buf_push_text(out, first ? "" : "; ");
            first = false;
            sqlstate_push_line(out, message, message + len, secret);
        }
        message += len + (message[len] != '\0');
    }
}

/* "0x8f 0xa2 0xb7", in a message of any language. */
bool sqlstate_character(const char *words, char out[UNTRANSLATABLE_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strstr(words, "0x");
    size_t bytes = 0;
    while (at != NULL && strncmp(at, "0x", 2) == 0 && strspn(at + 2, digits) == 2 &&
           bytes++ < UNTRANSLATABLE_BYTES) {
        *out++ = at[2];
        *out++ = at[3];
        at += at[4] == ' ' ? 5 : 4;
    }
    *out = '\0';
    return bytes > 0 && bytes <= UNTRANSLATABLE_BYTES;
}

bool sqlstate_is_untranslatable(const struct err *why)
{
    return strcmp(why->sqlstate, "22P05") == 0;
}
