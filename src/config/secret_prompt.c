/* SPDX-License-Identifier: Apache-2.0 */
/* A secret entered on the terminal, without echo. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "secret.h"

/* Reads to the end of the line; the newline is not kept. */
static void secret_prompt_read_line(int terminal, struct buf *line)
{
    char c = '\0';
    for (;;) {
        ssize_t got = read(terminal, &c, 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0 || c == '\n') {
            return;
        }
        buf_push_char(line, c);
    }
}

static void secret_prompt_print(int terminal, const char *text)
{
    ssize_t ignored = write(terminal, text, strlen(text));
    (void)ignored;
}

/* Blocks signals until the echo is restored, so that an interrupt does not leave a silent
 * terminal. */
static void secret_prompt_ask(int terminal, const char *question, struct buf *line)
{
    struct termios before;
    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    bool known = tcgetattr(terminal, &before) == 0;
    if (known) {
        struct termios silent = before;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(terminal, TCSAFLUSH, &silent);
    }
    secret_prompt_print(terminal, question);
    secret_prompt_read_line(terminal, line);
    secret_prompt_print(terminal, "\n");
    if (known) {
        tcsetattr(terminal, TCSAFLUSH, &before);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

int secret_from_prompt(const char *prompt, const char *option, char **out, struct err *err)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0) {
        err_set(err, ERR_CONFIG, "the secret of \"%s\" is asked on a terminal, and there is none",
                option);
        return err_hint(err, "use env, file, command or credential without a terminal");
    }
    struct buf question;
    struct buf line;
    buf_init(&question, SECRET_MAX_BYTES);
    buf_init(&line, SECRET_MAX_BYTES);
    buf_printf(&question, "%s: ", *prompt != '\0' ? prompt : option);
    secret_prompt_ask(terminal, buf_text(&question), &line);
    close(terminal);
    *out = text_copy_span(span_make(buf_text(&line), line.len));
    if (line.data != NULL) {
        explicit_bzero(line.data, line.capacity);
    }
    buf_release(&line);
    buf_release(&question);
    return 0;
}
