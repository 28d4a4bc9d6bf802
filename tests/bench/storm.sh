# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An initial load into a sink that behaves like a node (four writers, a queue of ten) and refuses everything for
# thirty seconds; sourced by run.sh.

# Prints a field of the sink's statistics.
sink_field() { curl -fsS "$url/_sink" | jq ".$1"; }

# Prints bytes per second, measured over $1 seconds.
sink_rate() {
    local before after
    before=$(sink_field bytes)
    sleep "$1"
    after=$(sink_field bytes)
    echo $(((after - before) / $1))
}

# Prints one line of JSON. $1: seconds of storm.
storm() {
    local seconds=$1 pid before after refused taken in_storm most capacity rss
    start_sink --writers 4 --queue 10 --fixed-us 4000 --writer-bytes 1500000
    rm -f "$dir"/state.db*
    configure '{"in_flight": 32}'
    rf source install
    "$build/rowferry" -c "$dir/rowferry.json" --no-progress sync >/dev/null 2>"$dir/log" &
    pid=$!
    sleep 8
    refused=$(sink_field refused) taken=$(sink_field taken)
    before=$(sink_rate 12)
    refused=$(($(sink_field refused) - refused)) taken=$(($(sink_field taken) - taken))
    kill -USR1 "$sink_pid"
    in_storm=$(sink_field refused)
    sleep "$seconds"
    in_storm=$(($(sink_field refused) - in_storm))
    kill -USR2 "$sink_pid"
    sleep 10
    after=$(sink_rate 5)
    running "$pid" || die "the load ended before the storm did: it needs more rows"
    most=$(sink_field most_at_once)
    rss=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")
    kill -TERM "$pid"
    wait "$pid" || true
    stop_pid "$sink_pid" TERM 5
    wait "$sink_pid" || true
    sink_pid=''
    # a batch has about 360 KiB, because 32 in flight share a window of 12 MiB
    capacity=$((4 * 372000 * 1000000 / (4000 + 372000 * 1000000 / 1500000)))
    jq -cn --argjson before "$before" --argjson after "$after" --argjson refused "$refused" --argjson taken "$taken" \
        --argjson in_storm "$in_storm" --argjson most "$most" --argjson capacity "$capacity" --argjson rss "$rss" '{
            of_capacity: ($before / $capacity), refused_share: ($refused / ($refused + $taken)),
            tries_in_storm: $in_storm, after_of_before: ($after / $before), most_in_flight: $most,
            peak_rss_mib: ($rss / 1024)}'
}
