/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams to the service manager, received on real sockets. */
#include "rowferry/daemon/sdnotify.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "suite.h"

/* Binds a socket to a path, or to an abstract name that begins with @, and sets $NOTIFY_SOCKET. */
static int manager(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    size_t len = strlen(name);
    memcpy(address.sun_path, name, len);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)(const void *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static void expect(int fd, const char *text)
{
    char got[128];
    ssize_t len = recv(fd, got, sizeof(got), 0);
    ck_assert_int_eq(len, (ssize_t)strlen(text));
    ck_assert_mem_eq(got, text, (size_t)len);
}

START_TEST(a_message_arrives_at_a_path)
{
    char directory[] = "/tmp/rowferry-notify-XXXXXX";
    char path[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/s", directory);
    int fd = manager(path);
    sdnotify_send("READY=1");
    expect(fd, "READY=1");
    sdnotify_send("RELOADING=1\nMONOTONIC_USEC=5");
    expect(fd, "RELOADING=1\nMONOTONIC_USEC=5");
    close(fd);
    unlink(path);
    rmdir(directory);
}
END_TEST

START_TEST(a_message_arrives_at_an_abstract_name)
{
    char name[64];
    snprintf(name, sizeof(name), "@rowferry-notify-%ld", (long)getpid());
    int fd = manager(name);
    sdnotify_send("WATCHDOG=1");
    expect(fd, "WATCHDOG=1");
    close(fd);
}
END_TEST

START_TEST(a_message_without_a_manager_is_dropped)
{
    static const char *const names[] = {"", "@", "relative", "/nowhere/at/all"};
    unsetenv("NOTIFY_SOCKET");
    sdnotify_send("READY=1");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        setenv("NOTIFY_SOCKET", names[i], 1);
        sdnotify_send("READY=1");
    }
}
END_TEST

START_TEST(the_watchdog_is_fed_twice_as_often_as_required)
{
    char pid[32];
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    ck_assert_int_eq(sdnotify_watchdog_ms(), 0);
    setenv("WATCHDOG_USEC", "30000000", 1);
    ck_assert_int_eq(sdnotify_watchdog_ms(), 15000);
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    setenv("WATCHDOG_PID", pid, 1);
    ck_assert_int_eq(sdnotify_watchdog_ms(), 15000);
    setenv("WATCHDOG_PID", "1", 1); /* it watches another process */
    ck_assert_int_eq(sdnotify_watchdog_ms(), 0);
}
END_TEST

SUITE_MAIN("daemon/sdnotify", a_message_arrives_at_a_path, a_message_arrives_at_an_abstract_name,
           a_message_without_a_manager_is_dropped, the_watchdog_is_fed_twice_as_often_as_required)
