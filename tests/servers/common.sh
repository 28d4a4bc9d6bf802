# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by the scripts that start temporary servers; sourced, not run.

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }
need() { command -v "$1" >/dev/null || die "needs $1 (apt-get install $2)"; }

# Prints a free loopback port below the kernel's range of ephemeral ports.
free_port() {
    local port
    while :; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { printf '%s\n' "$port"; return; }
    done
}

# running PID: returns true unless the process has ended; a zombie counts as ended.
running() { kill -0 "$1" 2>/dev/null && ! grep -qs '^State:.*Z' "/proc/$1/status"; }

# stop_pid PID SIGNAL SECONDS: sends the signal, waits, and sends SIGKILL after the deadline.
stop_pid() {
    local end=$((SECONDS + $3))
    kill "-$2" "$1" 2>/dev/null || return 0
    while running "$1" && [ "$SECONDS" -lt "$end" ]; do sleep 0.05; done
    ! running "$1" || kill -KILL "$1" 2>/dev/null || true
}

# usage FILE: prints the comment at the top of a script.
usage() { awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$1" >&2; }
