# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # the variables are those of ../opensearch, which sources this
# Configures one node: loopback, no discovery, no disk watermarks; with security a CA, users and roles.

node_yml() {
    cat <<YML
cluster.name: realsearch
node.name: n1
discovery.type: single-node
network.host: 127.0.0.1
http.port: $port
transport.port: $(free_port)
cluster.routing.allocation.disk.threshold_enabled: false
YML
}

opensearch_security_yml() {
    cat <<YML
plugins.security.ssl.transport.pemcert_filepath: node.pem
plugins.security.ssl.transport.pemkey_filepath: node.key
plugins.security.ssl.transport.pemtrustedcas_filepath: ca.pem
plugins.security.ssl.transport.enforce_hostname_verification: false
plugins.security.ssl.http.enabled: true
plugins.security.ssl.http.pemcert_filepath: node.pem
plugins.security.ssl.http.pemkey_filepath: node.key
plugins.security.ssl.http.pemtrustedcas_filepath: ca.pem
plugins.security.nodes_dn: ["CN=realsearch node"]
plugins.security.allow_default_init_securityindex: true
plugins.security.audit.type: noop
plugins.security.restapi.roles_enabled: ["all_access"]
YML
}

elasticsearch_security_yml() {
    cat <<YML
xpack.security.enabled: true
xpack.security.autoconfiguration.enabled: false
xpack.security.http.ssl.enabled: true
xpack.security.http.ssl.certificate: node.pem
xpack.security.http.ssl.key: node.key
xpack.security.transport.ssl.enabled: false
YML
}

# Creates a CA and a certificate for localhost and 127.0.0.1.
certificates() {
    need openssl openssl
    [ ! -e node.pem ] || return 0
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=realsearch CA' -keyout ca.key -out ca.pem
    openssl req -newkey rsa:2048 -nodes -subj '/CN=realsearch node' -keyout node.key -out node.csr
    openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -out node.pem \
        -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1')
    cp ca.pem ..
}

secure() {
    (cd "$config" && certificates) 2>"$dir/openssl.log" || { cat "$dir/openssl.log" >&2; die "openssl failed"; }
    if [ "$product" = opensearch ]; then
        mkdir -p "$config/opensearch-security"
        cp "$here/realsearch/opensearch-security/"*.yml "$config/opensearch-security/"
    else
        cp "$here/realsearch/elasticsearch-security/"* "$config/"
    fi
    "${product}_security_yml" >>"$yml"
    chmod -R go-rwx "$config"
}

# Applies --set, which replaces a line with the same key.
configure() {
    local config=$dir/config yml=$dir/config/$product.yml line
    mkdir -p "$config" "$dir/data" "$dir/logs"
    node_yml >"$yml"
    cp "$here/realsearch/log4j2.properties" "$config/"
    [ -z "$security" ] || secure
    for line in "${settings[@]}"; do
        awk -v key="${line%%:*}:" '$1 != key' "$yml" >"$yml.new"
        mv "$yml.new" "$yml"
        printf '%s\n' "$line" >>"$yml"
    done
}
