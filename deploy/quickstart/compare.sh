# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # the variables are those of ../quickstart.sh, which sources this
# The quickstart's own comparison of table and index; it shares nothing with rowferry.

# Every row as one line of JSON with sorted names, in the order of the key's bytes; no nulls.
rows() {
    PGTZ=UTC query -At -c "select json_strip_nulls(row_to_json(p)) from packages p order by source_id collate \"C\"" |
        jq -cS .
}

# Every document, the same way: pages of the whole index in the order of source_id.
documents() {
    local after='' last
    while :; do
        request POST "/$index/_search" \
            "{\"size\":5000,\"track_total_hits\":false,\"sort\":[{\"source_id\":\"asc\"}]$after}" >"$dir/page.json"
        last=$(jq -c '.hits.hits[-1].sort' "$dir/page.json")
        [ "$last" != null ] || return 0
        jq -cS '.hits.hits[]._source' "$dir/page.json"
        after=",\"search_after\":$last"
    done
}

# Both sides write a moment in UTC in their own way: +00:00 and Z mean the same.
one_zone() { sed -E 's/("updated_at":"[^"]*)(\+00:00|Z)"/\1Z"/'; }

compare() {
    begin_step 'Compare the index with the table, document by document'
    local differences
    request POST "/$index/_refresh" >/dev/null
    rows | one_zone >"$dir/rows"
    documents | one_zone >"$dir/documents"
    differences=$(diff "$dir/rows" "$dir/documents" | grep -c '^[<>]' || true)
    [ "$differences" = 0 ] || diff "$dir/rows" "$dir/documents" | head -6 | cut -c1-400
    end_step "$(grouped "$(wc -l <"$dir/rows")") rows, $(grouped "$(wc -l <"$dir/documents")") documents," \
        "$(grouped "$differences") differences"
    [ "$differences" = 0 ] || fail 'the index differs from the table'
    rm -f "$dir/rows" "$dir/documents" "$dir/page.json"
}
