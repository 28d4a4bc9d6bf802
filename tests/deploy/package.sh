#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package.sh BUILD: builds the Debian package, installs it in a separate root, uses it, removes it and purges it.
set -euo pipefail

build=$1
fail() { echo "package: $*"; exit 1; }
for tool in cpack dpkg dpkg-deb dpkg-shlibdeps file; do
    command -v "$tool" >/dev/null || { echo "skip: $tool (Debian packages cmake, dpkg-dev, file) is not here"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
root=$dir/root

# dpkg without a chroot: dependencies are missing in that root, and maintainer scripts find the root in DPKG_ROOT.
in_root() {
    dpkg --root="$root" --force-not-root --force-script-chrootless --force-depends --log="$dir/dpkg.log" "$@" \
        >"$dir/dpkg.out" 2>&1 || { cat "$dir/dpkg.out"; fail "dpkg $*"; }
}
files() { (cd "$root" && find . -path ./var/lib/dpkg -prune -o ! -type d -print | sort); }

cpack --config "$build/CPackConfig.cmake" -G DEB -B "$dir/out" >"$dir/cpack.log" 2>&1 ||
    { cat "$dir/cpack.log"; fail 'cpack'; }
deb=$(echo "$dir"/out/rowferry_*.deb)

# metadata
depends=$(dpkg-deb -f "$deb" Depends)
for library in libc6 libpq5 libcurl4 libjson-c5 libsqlite3-0 libmicrohttpd12; do
    [[ ", $depends," =~ ,\ $library( \(|,) ]] || fail "depends not on $library: $depends"
done
[ "$(dpkg-deb --ctrl-tarfile "$deb" | tar xO ./conffiles)" = /etc/default/rowferry ] || fail 'conffiles'
if dpkg-deb -c "$deb" | grep -E 'devsearch|/tests?/|\.a$|/include/'; then fail 'that is for developers'; fi
if dpkg-deb -c "$deb" | grep -v ' root/root '; then fail 'not owned by root'; fi
if dpkg-deb -c "$deb" | grep -vE '^(d..x..x..x|-..x..x..x|-rw-r--r--) '; then fail 'modes'; fi

# installation in an empty root
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$root/etc"
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
before=$(files)
in_root -i "$deb"
for file in usr/bin/rowferry usr/share/man/man1/rowferry.1.gz usr/share/rowferry/rowferry.schema.json \
    usr/share/doc/rowferry/copyright usr/share/doc/rowferry/changelog.gz usr/share/doc/rowferry/run.md \
    usr/share/doc/rowferry/examples/rowferry.json etc/default/rowferry \
    usr/share/bash-completion/completions/rowferry usr/share/zsh/vendor-completions/_rowferry \
    usr/share/fish/vendor_completions.d/rowferry.fish \
    usr/share/doc/rowferry/examples/prometheus/rowferry.rules.yml usr/lib/sysusers.d/rowferry.conf \
    usr/lib/systemd/system/rowferry{,-sync}{,@}.service usr/lib/systemd/system/rowferry-sync{,@}.timer; do
    [ -s "$root/$file" ] || fail "$file is missing"
done
[ -d "$root/etc/rowferry" ] || fail 'no /etc/rowferry'
! command -v systemd-sysusers >/dev/null || grep -q '^rowferry:.*:/var/lib/rowferry:' "$root/etc/passwd" ||
    fail 'the account is missing'

# the installed program, example and man page work
program=$root/usr/bin/rowferry
"$program" --help | grep -q '^ *sync ' || fail '--help'
"$program" --version | grep -qF "$(dpkg-deb -f "$deb" Version)" || fail '--version'
example=$root/usr/share/doc/rowferry/examples/rowferry.json
sed "s|/var/lib/rowferry|$dir|; s|db.internal|127.0.0.1:1|" "$example" >"$dir/rowferry.json"
rc=0
CREDENTIALS_DIRECTORY=$dir "$program" -c "$dir/rowferry.json" status >"$dir/status" 2>&1 || rc=$?
[ "$rc" = 0 ] && grep -q '^articles' "$dir/status" || { cat "$dir/status"; fail "status of the example: exit code $rc"; }
if command -v groff >/dev/null; then
    said=$(zcat "$root/usr/share/man/man1/rowferry.1.gz" | groff -mdoc -Tutf8 -ww 2>&1 >/dev/null)
    [ -z "$said" ] || fail "man page: $said"
fi

# remove keeps state and configuration; purge keeps the state and files written by people
mkdir -p "$root/var/lib/rowferry"
touch "$root/var/lib/rowferry/rowferry.db" "$root/etc/rowferry/rowferry.json"
account=$(cd "$root" && find ./etc -maxdepth 1 -type f | sort)
in_root --remove rowferry
left=$(files)
[ "$left" = "$(sort <<<"$before${before:+$'\n'}$account
./etc/default/rowferry
./etc/rowferry/rowferry.json
./var/lib/rowferry/rowferry.db")" ] || { echo "$left"; fail 'left after remove'; }
rm "$root/etc/rowferry/rowferry.json"
in_root --purge rowferry
left=$(files)
[ "$left" = "$(sort <<<"$before${before:+$'\n'}$account
./var/lib/rowferry/rowferry.db")" ] || { echo "$left"; fail 'left after purge'; }
[ ! -e "$root/etc/rowferry" ] && [ ! -e "$root/usr/share/doc/rowferry" ] || fail 'folders left after purge'
echo "package: $(dpkg-deb -c "$deb" | wc -l) entries, depends on $depends"
