#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI runs beyond ctest: everything compiles with clang, clang-format has nothing to change,
# clang-tidy nothing to say. Installs the three by apt where they are missing.
set -eu
cd "$(dirname "$0")/.."

missing=
for tool in clang clang-format clang-tidy; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update >/dev/null
    $sudo apt-get install -y --no-install-recommends $missing >/dev/null
fi

formatted=$(find src include tests -name '*.[ch]' | wc -l)
find src include tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror

cmake --preset clang >/dev/null
cmake --build --preset clang -- --quiet

tidied=$(find src -name '*.c' | wc -l)
if ! find src -name '*.c' -print0 |
    xargs -0 -n 1 -P "$(nproc)" timeout 300 clang-tidy --quiet -p build/clang >build/clang/tidy 2>&1; then
    grep -vE '^[0-9]+ warnings? generated|^Suppressed' build/clang/tidy
    echo "lint: clang-tidy found faults"
    exit 1
fi
echo "lint: $formatted files formatted, built with clang, $tidied sources tidy, 0 violations"
