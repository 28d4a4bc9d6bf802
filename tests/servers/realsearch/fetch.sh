# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # the variables are those of ../opensearch, which sources this
# The jars of a node, by Maven, into a cache that is filled once for each product and version.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/rowferry/servers

java_major() { "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1; }

# $JAVA_HOME, else the one on PATH, else any; OpenSearch 3 and Elasticsearch 9 need 21.
find_java() {
    local want=17 candidate
    case $product-$major in opensearch-[12] | elasticsearch-[78]) ;; *) want=21 ;; esac
    for candidate in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
        if [ -x "$candidate" ] && [ "$(java_major "$candidate")" -ge "$want" ]; then
            java=$(readlink -f "$candidate")
            return
        fi
    done
    die "needs Java $want or newer for $product $version (apt-get install openjdk-17-jdk-headless)"
}

maven() {
    mvn -B -q -f "$here/realsearch/pom.xml" "$@" >"$cache/maven.log" 2>&1 && return
    tail -20 "$cache/maven.log" >&2
    die "maven failed"
}

# jars PROFILES DIR
jars() { maven "-P$1" "-Dv=$version" dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$2"; }

# plugin NAME VERSION DIR: unpacks a plugin of OpenSearch.
plugin() {
    maven dependency:copy "-Dartifact=org.opensearch.plugin:opensearch-$1:$2:zip" "-DoutputDirectory=$3"
    (cd "$3" && "${java%java}jar" xf ./*.zip && rm ./*.zip)
}

artifact() { basename "$1" | sed -E 's/-[0-9].*//'; } # log4j-api-2.21.0.jar -> log4j-api

# module NAME CLASS [JAR...]: a module directory of Elasticsearch, with its descriptor and its own jars.
module() {
    local to=$home/modules/$1 jar
    mkdir -p "$to"
    printf '%s\n' "name=$1" "description=$1" "version=$version" "elasticsearch.version=$version" \
        java.version=17 "classname=$2" >"$to/plugin-descriptor.properties"
    for jar in "$1" "${@:3}"; do
        jar=$home/lib/$jar-$version.jar
        [ ! -e "$jar" ] || mv "$jar" "$to/"
    done
}

# compile CLASS DIR
compile() {
    "${java%java}javac" -nowarn -cp "$home/lib/*" -sourcepath "$here/realsearch" -d "$2" "$here/realsearch/$1.java" 2>"$cache/javac.log" && return
    cat "$cache/javac.log" >&2
    die "javac failed"
}

fetch_opensearch() {
    local jar
    [ -z "$security" ] || plugin security "$version.0" "$home/plugin"
    [ -z "$knn" ] || plugin knn "$knn_version" "$home/plugin"
    # one flat class path: of what both bring the server's own copy stays
    for jar in "$home"/plugin/*.jar; do
        [ ! -e "$jar" ] || compgen -G "$home/lib/$(artifact "$jar")-[0-9]*.jar" >/dev/null || mv "$jar" "$home/lib/"
    done
    rm -rf "$home/plugin"
    compile RealOpenSearch "$home/classes"
}

fetch_elasticsearch() {
    module transport-netty4 org.elasticsearch.transport.netty4.Netty4Plugin
    module realsearch-extras "$extras"
    if [ -n "$security" ]; then
        module x-pack-core org.elasticsearch.xpack.core.XPackPlugin x-pack-template-resources
        module x-pack-security org.elasticsearch.xpack.security.Security
        # opensaml is not published where Maven looks; OpenSearch's security plugin bundles it
        plugin security 2.19.4.0 "$home/plugin"
        mv "$home"/plugin/opensaml-*.jar "$home"/plugin/java-support-*.jar "$home/lib/"
        rm -rf "$home/plugin"
    fi
    compile RealElasticsearch "$home/classes"
    compile "$extras" "$home/modules/realsearch-extras"
}

# Sets home, the folder of the jars, another one for other classes of ours. Two scripts at once wait for
# each other.
fetch() {
    local lock made
    find_java
    mkdir -p "$cache"
    made=$(cat "$here"/realsearch/{pom.xml,fetch.sh,*.java} | cksum | cut -d' ' -f1)
    home=$cache/$product-$version${security:+-security}${knn:+-knn}-$made
    exec {lock}>"$cache/lock"
    flock "$lock"
    if [ ! -e "$home/complete" ]; then
        need mvn maven
        [ -x "${java%java}javac" ] ||
            die "needs a JDK to compile small classes (apt-get install openjdk-17-jdk-headless)"
        say "fetching $product $version${security:+ with security}${knn:+ with k-NN}"
        rm -rf "$home"
        mkdir -p "$home/classes"
        jars "$product${security:+,$product-security}" "$home/lib"
        "fetch_$product"
        touch "$home/complete"
    fi
    exec {lock}>&-
}
