#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubernetes_planted.sh REPOSITORY PROGRAM: checks that kubernetes.py finds faults planted in the manifests.
set -euo pipefail

root=$1 program=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tests"
cp -r "$root/tests/deploy" "$dir/tests/deploy"

# planted FILE EXPRESSION WORDS: changes FILE by a sed EXPRESSION; kubernetes.py must fail and print WORDS.
planted() {
    local rc=0
    rm -rf "$dir/deploy"
    cp -r "$root/deploy" "$dir/deploy"
    sed -i "$2" "$dir/deploy/kubernetes/$1"
    ! cmp -s "$root/deploy/kubernetes/$1" "$dir/deploy/kubernetes/$1" || { echo "nothing planted in $1: $2"; exit 1; }
    "$root/tests/deploy/kubernetes.py" "$dir" "$program" >"$dir/said" || rc=$?
    [ "$rc" != 77 ] || { cat "$dir/said"; exit 77; }
    if [ "$rc" != 1 ] || ! grep -qF "$3" "$dir/said"; then
        echo "not found, exit code $rc: $2 in $1"
        cat "$dir/said"
        exit 1
    fi
}

planted run/statefulset.yaml 's/readOnlyRootFilesystem/readOnlyRootFileSystem/' 'has no field readOnlyRootFileSystem'
planted run/statefulset.yaml 's/containerPort: 9187/containerPort: "9187"/' 'is not of type integer'
planted run/statefulset.yaml 's/runAsUser: 10001/runAsUser: 10002/' "runs as the image's account"
planted run/statefulset.yaml 's|/healthz|/health|' 'not so: alive'
planted run/statefulset.yaml 's/args: \[ run \]/args: [ runs ]/' 'rowferry runs'
planted sync/cronjob.yaml 's/Forbid/Allow/' 'two syncs at a time'
planted sync/cronjob.yaml 's/backoffLimit: 0/backoffLimit: 6/' 'tried again'
planted common/rowferry.json 's/"index"/"indx"/' 'exit code 2'
planted common/rowferry.json 's/--from-file=search/--from-file=key/' 'where search comes from'
echo 'kubernetes_planted: 9 of 9 found'
