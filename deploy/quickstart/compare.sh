# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # the variables are those of ../quickstart.sh, which sources this
# The quickstart's own comparison of table and index; it shares nothing with rowferry.

# Every row as one line of JSON with sorted names, in the order of the key's bytes; no nulls, and
# moments in UTC with six digits of a second.
rows() {
    query -At -c "select jsonb_strip_nulls(to_jsonb(p) || jsonb_build_object('updated_at',
            to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')))
        from packages p order by source_id collate \"C\"" | jq -cS .
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

compare() {
    begin_step 'Compare the index with the table, document by document'
    local differences
    request POST "/$index/_refresh" >/dev/null
    rows >"$dir/rows"
    documents >"$dir/documents"
    differences=$(diff "$dir/rows" "$dir/documents" | grep -c '^[<>]' || true)
    [ "$differences" = 0 ] || diff "$dir/rows" "$dir/documents" | head -6 | cut -c1-400
    end_step "$(grouped "$(wc -l <"$dir/rows")") rows, $(grouped "$(wc -l <"$dir/documents")") documents," \
        "$(grouped "$differences") differences"
    [ "$differences" = 0 ] || fail 'the index differs from the table'
    rm -f "$dir/rows" "$dir/documents" "$dir/page.json"
}
