# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian packages for the scripts that build, try out and test; sourced, not run.

# what the build needs
# shellcheck disable=SC2034
build_packages=(gcc libc6-dev cmake ninja-build pkg-config libpq-dev libcurl4-openssl-dev libjson-c-dev
    libsqlite3-dev libmicrohttpd-dev)
# what cpack -G DEB needs beside it
# shellcheck disable=SC2034
pack_packages=(dpkg-dev file)
# what breaks networks and clocks for tests/crash
# shellcheck disable=SC2034
fault_packages=(iproute2 libfaketime)
# what a real OpenSearch needs (tests/servers/opensearch)
# shellcheck disable=SC2034
opensearch_packages=(maven openjdk-17-jdk-headless)

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Debian's PostgreSQL makes and starts a cluster of its own when it is installed; nobody asked for one.
without_cluster() {
    local conf=/etc/postgresql-common/createcluster.d/rowferry.conf rc=0
    as_root mkdir -p "${conf%/*}"
    echo 'create_main_cluster = false' | as_root tee "$conf" >/dev/null
    "$@" || rc=$?
    as_root rm -f "$conf"
    return "$rc"
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# install_packages LOG PACKAGE...: those that are missing; asks root or sudo only then.
install_packages() {
    local log=$1 package missing=()
    shift
    for package in "$@"; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        { echo "needs root or sudo to install: ${missing[*]}" >&2; return 1; }
    { apt_get update && without_cluster apt_get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
        { tail -5 "$log" >&2; return 1; }
}
