# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Temporary directory trees of Debian 12, and running commands in them; sourced, not run.

# skip REASON...: ends the test as skipped.
skip() { echo "skip: $*"; exit 77; }

# Checks the requirements: root, permission to mount, and Debian's archive.
needs_trees() {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    command -v debootstrap >/dev/null || skip 'debootstrap is not here'
    unshare --mount --pid --net --uts --ipc --cgroup --fork true 2>/dev/null || skip 'no namespaces are to be had'
}

# tree_base DIR: creates a minimal Debian 12 once and keeps it.
tree_base() {
    [ ! -e "$1/.complete" ] || return 0
    rm -rf "$1"
    mkdir -p "$1"
    debootstrap --variant=minbase bookworm "$1" >"$1.log" 2>&1 ||
        skip "debootstrap: $(tail -1 "$1.log")"
    echo 'APT::Install-Recommends "false";' >"$1/etc/apt/apt.conf.d/90recommends"
    touch "$1/.complete"
}

# tree_new BASE DIR: copies it, with this machine's access to the archive.
tree_new() {
    cp -a --reflink=auto "$1" "$2"
    cp /etc/resolv.conf /etc/hosts "$2/etc/"
    cp -an /etc/apt/apt.conf.d/. "$2/etc/apt/apt.conf.d/"
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d" # nothing is started by being installed
    chmod +x "$2/usr/sbin/policy-rc.d"
}

# tree_mounts DIR: mounts the usual file systems; call it in a separate mount namespace.
tree_mounts() {
    local device
    mount --make-rprivate /
    mount --rbind "$1" "$1"
    mount -t tmpfs -o mode=755 tmpfs "$1/dev"
    for device in null zero full random urandom tty; do
        touch "$1/dev/$device"
        mount --bind "/dev/$device" "$1/dev/$device"
    done
    mkdir "$1/dev/pts" "$1/dev/shm"
    mount -t tmpfs tmpfs "$1/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$1/dev/pts"
    ln -s pts/ptmx "$1/dev/ptmx"
    ln -s /proc/self/fd "$1/dev/fd"
    mount -t proc proc "$1/proc"
}

# tree_run DIR COMMAND...: runs it in the tree as root, with the machine's network or the one that $tree_network enters.
tree_network=()
tree_run() {
    local dir=$1
    shift
    export -f tree_mounts
    # shellcheck disable=SC2016 # expanded by the inner shell
    "${tree_network[@]}" unshare --mount --pid --fork --kill-child bash -c 'tree_mounts "$1" && dir=$1 && shift && exec chroot "$dir" "$@"' - "$dir" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@" </dev/null
}

child_of() { tr -d ' ' <"/proc/$1/task/$1/children"; }

# innermost PID: prints the last of a chain of children.
innermost() {
    local child
    child=$(child_of "$1")
    if [ -n "$child" ]; then innermost "$child"; else echo "$1"; fi
}

# tree_boot DIR LOG: starts systemd as process 1 of the tree, with a loopback network only. Sets $machine and $init.
tree_boot() {
    cat >"$1/var/cache/boot" <<'BOOT'
#!/bin/sh
set -e
mount --make-rshared / # credentials arrive by that
ip link set lo up 2>/dev/null || true
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd || mount -t cgroup2 cgroup /sys/fs/cgroup
exec /lib/systemd/systemd --system --show-status=no systemd.unit=multi-user.target
BOOT
    chmod +x "$1/var/cache/boot"
    export -f tree_mounts
    # shellcheck disable=SC2016
    unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child bash -c \
        'tree_mounts "$1" && mount -t sysfs sysfs "$1/sys" && cd "$1" && pivot_root . . && umount -l . && cd / &&
         exec env -i container=tree PATH=/usr/sbin:/usr/bin:/sbin:/bin /var/cache/boot' - "$1" >"$2" 2>&1 </dev/null &
    machine=$!
    local end=$((SECONDS + 60))
    init=''
    until [ -n "$init" ] && tree_in systemctl is-system-running 2>/dev/null | grep -qE '^(running|degraded)$'; do
        if ! kill -0 "$machine" 2>/dev/null || [ "$SECONDS" -ge "$end" ]; then
            return 1
        fi
        sleep 0.2
        init=$(child_of "$machine")
    done
}

# tree_in COMMAND...: runs it in the tree that tree_boot started.
tree_in() {
    nsenter --target "$init" --mount --pid --net --uts --ipc --cgroup --root --wd \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@" </dev/null
}
