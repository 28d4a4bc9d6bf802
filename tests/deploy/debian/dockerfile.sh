# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Executes our container file in directory trees, like a container builder; sourced after tree.sh.

# copy_in FROM TREE SOURCE... DESTINATION: copies like COPY.
copy_in() {
    local from=$1 tree=$2 target=${*: -1} source
    shift 2
    mkdir -p "$tree/${target%/*}"
    for source in "${@:1:$#-1}"; do
        if [ "$source" = . ]; then
            mkdir -p "$tree/$target"
            tar -C "$from" --exclude-from="$from/deploy/container/Dockerfile.dockerignore" -c . | tar -C "$tree/$target" -x
        else
            # unquoted, because COPY accepts patterns
            # shellcheck disable=SC2086
            cp -r "$from"/$source "$tree/$target"
        fi
    done
}

# dockerfile REPOSITORY BASE DIR: builds each stage as DIR/<its name>, the last one as DIR/image. Sets $environment and
# $user for running the last one.
# shellcheck disable=SC2034
dockerfile() {
    local root=$1 base=$2 dir=$3 word rest tree='' mode words workdir=/
    while read -r word rest <&3; do
        case $word in
        FROM)
            tree=$dir/image environment=() workdir=/
            [[ $rest != *' AS '* ]] || tree=$dir/${rest##* }
            tree_new "$base" "$tree" ;;
        RUN) tree_run "$tree" sh -c "cd $workdir && $rest" || return 1 ;;
        COPY)
            mode=''
            if [[ $rest =~ ^--chmod=([0-7]+)\ (.*) ]]; then mode=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}; fi
            if [[ $rest =~ ^--from=([a-z]+)\ (.*) ]]; then
                read -ra words <<<"${BASH_REMATCH[2]}"
                copy_in "$dir/${BASH_REMATCH[1]}" "$tree" "${words[@]}" || return 1
            else
                read -ra words <<<"$rest"
                copy_in "$root" "$tree" "${words[@]}" || return 1
            fi
            [ -z "$mode" ] || chmod "$mode" "$tree/${words[-1]}" ;;
        ENV) read -ra environment <<<"$rest" ;;
        WORKDIR) workdir=$rest ;;
        USER) user=$rest ;;
        esac
    done 3< <(sed -E '/^#/d' "$root/deploy/container/Dockerfile" | sed -E ':a; /\\$/ { N; s/\\\n */ /; ba }')
}
