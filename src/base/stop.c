/* SPDX-License-Identifier: Apache-2.0 */
/* The signal flag, the program's only mutable global state besides the log's settings. */
#include "rowferry/base/stop.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/log.h"

static volatile sig_atomic_t stop;

static void stop_on_signal(int number)
{
    if (__atomic_exchange_n(&stop, 1, __ATOMIC_RELAXED) != 0) { /* other threads read the flag */
        const char *erase = log_erasing();
        (void)!write(STDERR_FILENO, erase, strlen(erase));
        _exit(128 + number);
    }
}

void stop_ask(void)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
}

bool stop_asked(void)
{
    return stop_is_set(&stop);
}

const volatile sig_atomic_t *stop_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = stop_on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction before;
        /* keep ignoring a signal that the shell set to ignored (nohup) */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
    return &stop;
}
