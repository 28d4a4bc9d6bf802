/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets from environment, file and credential, and the list of secrets in the configuration. */
#include "secret.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"
#include "rowferry/base/text.h"

#define COMMAND_TIMEOUT_MS 30000
#define PIPE_TIMEOUT_MS 10000
#define PATH_MAX_BYTES 16384

static int secret_from_env(const struct secret *s, const char *option, char **out, struct err *err)
{
    const char *value = getenv(s->place);
    if (value == NULL) {
        return err_set(err, ERR_CONFIG, "$%s of \"%s\" is not set", s->place, option);
    }
    *out = text_copy(value);
    return 0;
}

static int secret_from_file(const char *path, const char *option, char **out, char **warning,
                            struct err *err)
{
    struct buf text;
    struct stat info;
    int result = 0;
    buf_init(&text, SECRET_MAX_BYTES);
    const char *reason = file_read(path, PIPE_TIMEOUT_MS, &text, &info);
    if (reason != NULL) {
        result = err_set(err, ERR_CONFIG, "cannot read the file \"%s\" of \"%s\": %s", path, option,
                         reason);
    } else if (text.failed) {
        result = err_set(err, ERR_CONFIG, "the file \"%s\" of \"%s\" is too long for a secret",
                         path, option);
    } else {
        if ((info.st_mode & (S_IRGRP | S_IROTH)) != 0) {
            struct buf said;
            buf_init(&said, PATH_MAX_BYTES);
            buf_printf(&said, "the file \"%s\" of \"%s\" can be read by others; chmod 600 \"%s\"",
                       path, option, path);
            *warning = buf_detach(&said);
        }
        *out = text_copy_span(span_make(buf_text(&text), text.len));
    }
    if (text.data != NULL) {
        explicit_bzero(text.data, text.capacity);
    }
    buf_release(&text);
    return result;
}

static int secret_from_credential(const struct secret *s, const char *option, char **out,
                                  struct err *err)
{
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    if (directory == NULL || *directory == '\0') {
        err_set(err, ERR_CONFIG,
                "the credential \"%s\" of \"%s\": $CREDENTIALS_DIRECTORY is not set", s->place,
                option);
        return err_hint(err, "systemd sets it for a unit with LoadCredential=");
    }
    struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    buf_printf(&path, "%s/%s", directory, s->place);
    char *ignored = NULL; /* systemd sets the mode of its own files */
    int result = secret_from_file(buf_text(&path), option, out, &ignored, err);
    free(ignored);
    buf_release(&path);
    return result;
}

/* Cuts the last newline, and checks that the rest is one line of text. */
static int secret_check_value(char *value, const char *option, struct err *err)
{
    size_t len = strlen(value);
    if (len > 0 && value[len - 1] == '\n') {
        value[--len] = '\0';
    }
    if (len > 0 && value[len - 1] == '\r') {
        value[--len] = '\0';
    }
    if (len == 0) {
        return err_set(err, ERR_CONFIG, "the secret of \"%s\" is empty", option);
    }
    for (const char *at = value; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            return err_set(err, ERR_CONFIG,
                           "the secret of \"%s\" is more than one line, or has a control character",
                           option);
        }
    }
    return 0;
}

static int secret_read_origin(const struct secret *s, const char *option, int64_t timeout_ms,
                              char **out, char **warning, struct err *err)
{
    switch (s->origin) {
    case SECRET_ENV:
        return secret_from_env(s, option, out, err);
    case SECRET_FILE:
        return secret_from_file(s->place, option, out, warning, err);
    case SECRET_COMMAND:
        return secret_from_command(s->place, option, timeout_ms, out, err);
    case SECRET_PROMPT:
        return secret_from_prompt(s->place, option, out, err);
    case SECRET_CREDENTIAL:
        return secret_from_credential(s, option, out, err);
    case SECRET_RDS_IAM: /* a connection makes its own */
    case SECRET_NONE:
    default:
        return 0;
    }
}

int secret_read(struct secret *s, const char *option, int64_t command_timeout_ms, char **warning,
                struct err *err)
{
    *warning = NULL;
    if (s->origin == SECRET_NONE || s->value != NULL) {
        return 0;
    }
    char *value = NULL;
    int result = secret_read_origin(s, option, command_timeout_ms, &value, warning, err);
    if (result == 0 && value != NULL) {
        result = secret_check_value(value, option, err);
    }
    if (result != 0) {
        text_wipe(value);
        free(value);
        return result;
    }
    s->value = value;
    return 0;
}

/* --- all secrets of a configuration ----------------------------------------------------------- */

static const struct {
    size_t offset;
    const char *option;
} all[] = {
    {offsetof(struct config, source.password), "source.password"},
    {offsetof(struct config, service.api_key), "service.auth.api_key"},
    {offsetof(struct config, service.bearer), "service.auth.bearer"},
    {offsetof(struct config, service.password), "service.auth.password"},
    {offsetof(struct config, service.aws_key_id), "service.auth.aws_sigv4.access_key_id"},
    {offsetof(struct config, service.aws_secret_key), "service.auth.aws_sigv4.secret_access_key"},
    {offsetof(struct config, service.aws_token), "service.auth.aws_sigv4.session_token"},
};

#define ALL (sizeof(all) / sizeof(all[0]))

static struct secret *secret_at(struct config *c, size_t i)
{
    return (void *)((char *)c + all[i].offset);
}

static const struct secret *secret_of(const struct config *c, size_t i)
{
    return (const void *)((const char *)c + all[i].offset);
}

/* A prompt cannot be repeated, and the environment of a process does not change. */
bool secret_can_change(enum secret_origin origin)
{
    return origin == SECRET_FILE || origin == SECRET_COMMAND || origin == SECRET_CREDENTIAL;
}

/* The data to read a secret again, when its configuration may have been freed. */
struct secret_place {
    struct secret secret; /* without a value */
    const char *option;
};

static char *secret_read_again(const void *context)
{
    const struct secret_place *o = context;
    struct secret s = {.origin = o->secret.origin, .place = o->secret.place};
    char *warning = NULL;
    struct err ignored; /* the caller reports the server's refusal */
    int rc = secret_read(&s, o->option, COMMAND_TIMEOUT_MS, &warning, &ignored);
    free(warning);
    return rc == 0 ? s.value : NULL;
}

static void secret_drop_origin(void *context)
{
    struct secret_place *o = context;
    free(o->secret.place);
    free(o);
}

static void secret_make_renewable(struct secret *s, const char *option)
{
    if (s->value == NULL || s->renewal != NULL || !secret_can_change(s->origin)) {
        return;
    }
    struct secret_place *o = mem_zero(1, sizeof(*o));
    *o = (struct secret_place){{.origin = s->origin, .place = text_copy(s->place)}, option};
    s->renewal = rotating_secret_new(s->value, secret_read_again, o, secret_drop_origin);
    if (s->fresh) {
        rotating_secret_set_fresh(s->renewal);
    }
}

int secret_resolve_all(struct config *c, struct err *err)
{
    for (size_t i = 0; i < ALL; i++) {
        char *warning;
        struct secret *s = secret_at(c, i);
        int result = secret_read(s, all[i].option, COMMAND_TIMEOUT_MS, &warning, err);
        if (warning != NULL) {
            c->warnings = mem_grow(c->warnings, c->warning_count + 1, sizeof(*c->warnings));
            c->warnings[c->warning_count++] = warning;
        }
        if (result != 0) {
            return result;
        }
        secret_make_renewable(s, all[i].option);
    }
    return 0;
}

void secret_keep_all_prompted(struct config *to, const struct config *from)
{
    for (size_t i = 0; i < ALL; i++) {
        struct secret *s = secret_at(to, i);
        const struct secret *former = secret_of(from, i);
        if (s->origin == SECRET_PROMPT && former->origin == SECRET_PROMPT && s->value == NULL &&
            former->value != NULL && strcmp(s->place, former->place) == 0) {
            s->value = text_copy(former->value);
        }
    }
}

void secret_borrow_all(struct config *to, const struct config *from)
{
    for (size_t i = 0; i < ALL; i++) {
        *secret_at(to, i) = *secret_of(from, i);
    }
}

void secret_free_all(struct config *c)
{
    for (size_t i = 0; i < ALL; i++) {
        struct secret *s = secret_at(c, i);
        rotating_secret_drop(s->renewal);
        text_wipe(s->value);
        free(s->value);
        free(s->place);
    }
}

static void secret_take_variable(struct secret *s, const char *name, bool wanted)
{
    if (wanted && s->origin == SECRET_NONE) {
        s->origin = SECRET_ENV;
        s->place = text_copy(name);
    }
}

void secret_complete_aws(struct service_config *s)
{
    if (s->aws_region == NULL) {
        return;
    }
    const char *token = getenv("AWS_SESSION_TOKEN");
    bool own = s->aws_key_id.origin == SECRET_NONE; /* a token belongs to the key beside it */
    secret_take_variable(&s->aws_key_id, "AWS_ACCESS_KEY_ID", true);
    secret_take_variable(&s->aws_secret_key, "AWS_SECRET_ACCESS_KEY", true);
    secret_take_variable(&s->aws_token, "AWS_SESSION_TOKEN",
                         own && token != NULL && *token != '\0');
    if (s->aws_service == NULL) {
        s->aws_service = text_copy("es");
    }
}
