/* SPDX-License-Identifier: Apache-2.0 */
/* Network namespaces, created with ip of iproute2, and the settings that frames forwarded by a
 * program need. */
#include "hosts.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (8 << 20)
#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

static int spaces[HOSTS];
static int sockets[WIRES_PORTS];

/* Creates a namespace and enters it. */
static int new_space(void)
{
    return unshare(CLONE_NEWNET) == 0 ? open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC) : -1;
}

static bool ip(const char *format, int a, int b, int c)
{
    char arguments[256];
    char command[512];
    snprintf(arguments, sizeof(arguments), format, a, b, c);
    snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin; ip %s >/dev/null 2>&1",
             arguments);
    return system(command) == 0;
}

/* Turns offloading off, because the switch would see frames without checksums and oversized
 * segments. */
static bool without_offload(void)
{
    struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
    struct ifreq request = {.ifr_name = "eth0"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    request.ifr_data = (char *)&off;
    bool good = fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0;
    close(fd);
    return good;
}

/* Called in the switch's namespace, at the other end of the wire. */
static bool add_host(int host)
{
    hosts_enter(HOST_SWITCH);
    return ip("link add to%d type veth peer name eth0 address 02:00:00:00:00:0%d netns "
              "/proc/$PPID/fd/%d",
              host, host, spaces[host]) &&
           ip("link set to%d up", host, 0, 0) && (hosts_enter((enum host)host), true) &&
           ip("link set lo up", 0, 0, 0) && ip("addr add 10.203.0.%d/24 dev eth0", host, 0, 0) &&
           ip("link set eth0 up", 0, 0, 0) && without_offload() && (hosts_enter(HOST_SWITCH), true);
}

static int open_wire(int host)
{
    char name[16];
    int one = 1;
    int size = BUFFER_BYTES;
    snprintf(name, sizeof(name), "to%d", host);
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(ETH_P_ALL),
                                  .sll_ifindex = (int)if_nametoindex(name)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    return fd;
}

static const char *make(void)
{
    if (system("PATH=$PATH:/usr/sbin:/sbin; command -v ip >/dev/null") != 0) {
        return "needs ip (apt-get install iproute2)";
    }
    for (int i = 0; i < HOSTS; i++) {
        spaces[i] = new_space();
        if (spaces[i] < 0) {
            return "this user may not make network namespaces (CAP_SYS_ADMIN)";
        }
    }
    for (int i = 0; i < WIRES_PORTS; i++) {
        sockets[i] = -1;
        if (i >= 1 && i < HOSTS) {
            if (!add_host(i)) {
                return "this machine gives no pair of virtual network cards (veth, CAP_NET_ADMIN)";
            }
            sockets[i] = open_wire(i);
            if (sockets[i] < 0) {
                return "this machine gives no packet socket (CAP_NET_RAW)";
            }
        }
    }
    return NULL;
}

bool hosts_make(const char **why)
{
    *why = make();
    if (*why == NULL) {
        hosts_enter(HOST_TESTER);
    }
    return *why == NULL;
}

void hosts_enter(enum host host)
{
    if (setns(spaces[host], CLONE_NEWNET) != 0) {
        perror("setns");
        abort();
    }
}

const char *hosts_address(enum host host)
{
    static char texts[HOSTS][16];
    snprintf(texts[host], sizeof(texts[host]), "10.203.0.%d", (int)host);
    return texts[host];
}

void hosts_connect(uint64_t seed)
{
    wires_start(sockets, seed);
}

void hosts_say(enum host a, enum host b, const struct wires_rule *rule)
{
    wires_say((int)a, (int)b, rule);
    wires_say((int)b, (int)a, rule);
}
