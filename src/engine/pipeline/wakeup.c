/* SPDX-License-Identifier: Apache-2.0 */
/* One epoll descriptor for everything that may wake a pipeline. */
#include "pipeline/wakeup.h"

#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "rowferry/state/notice.h"

#define RINGERS 3

void wakeup_init(struct wakeup *b)
{
    *b = (struct wakeup){-1, -1, -1};
}

static bool wakeup_add(const struct wakeup *b, int fd, uint32_t once)
{
    struct epoll_event event = {.events = EPOLLIN | once, .data.fd = fd};
    return epoll_ctl(b->fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void wakeup_open(struct wakeup *b, const struct state *state, int wake_fd)
{
    wakeup_init(b);
    b->state_fd = notice_open(state);
    b->fd = epoll_create1(EPOLL_CLOEXEC);
    if (b->fd < 0 || b->state_fd < 0 || !wakeup_add(b, b->state_fd, 0) ||
        (wake_fd > 0 && !wakeup_add(b, wake_fd, EPOLLET))) {
        wakeup_close(b);
    }
}

void wakeup_close(struct wakeup *b)
{
    if (b->fd >= 0) {
        close(b->fd);
    }
    if (b->state_fd >= 0) {
        close(b->state_fd);
    }
    wakeup_init(b);
}

/* Returns the descriptor to wait for. The kernel removes a closed connection, and the next one may
 * get the same number. So source_fd is always added; adding it twice is harmless. */
int wakeup_fd(struct wakeup *b, int source_fd)
{
    if (b->fd < 0) {
        return -1;
    }
    if (b->source_fd >= 0 && b->source_fd != source_fd) {
        (void)epoll_ctl(b->fd, EPOLL_CTL_DEL, b->source_fd, NULL);
    }
    b->source_fd = source_fd;
    if (source_fd >= 0) {
        (void)wakeup_add(b, source_fd, 0);
    }
    return b->fd;
}

void wakeup_ask(struct wakeup *b, bool *source, bool *state)
{
    struct epoll_event events[RINGERS];
    int count = epoll_wait(b->fd, events, RINGERS, 0);
    *source = false;
    *state = false;
    for (int i = 0; i < count; i++) {
        *source = *source || events[i].data.fd == b->source_fd;
        *state = *state || events[i].data.fd == b->state_fd;
    }
    if (*state) {
        (void)notice_take(b->state_fd);
    }
}
