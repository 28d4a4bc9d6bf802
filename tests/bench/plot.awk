# SPDX-License-Identifier: Apache-2.0
# Draws a plot as SVG, readable on light and on dark ground:
#
#   awk -f plot.awk POINTS >FILE.svg
#
# Lines of POINTS, their parts separated by tabs:
#
#   title|xlabel|ylabel  TEXT
#   kind                 bars (x is a name) or lines (x is a number, drawn by its logarithm)
#   point                SERIES  X  Y  [LEAST  MOST]
BEGIN {
    FS = "\t"
    width = 760; height = 380; left = 78; right = 20; top = 64; bottom = 56
    split("#3b82f6 #e08a1e #2fa860 #d6569b #8b5cf6 #64a3b0", colours, " ")
}
$1 == "title" || $1 == "xlabel" || $1 == "ylabel" || $1 == "kind" { said[$1] = $2 }
$1 == "point" {
    if (!($2 in number_of)) { number_of[$2] = ++series; name_of[series] = $2 }
    if (!($3 in place_of)) { place_of[$3] = ++places; label_of[places] = $3 }
    n++
    of[n] = number_of[$2]; x[n] = $3; y[n] = $4
    lo[n] = $5 == "" ? $4 : $5; hi[n] = $6 == "" ? $4 : $6
    most = hi[n] > most ? hi[n] : most
    if (n == 1 || $3 + 0 < first) first = $3 + 0
    if (n == 1 || $3 + 0 > last) last = $3 + 0
}

function escaped(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
function text(px, py, anchor, words, size, class) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\"%s>%s</text>\n", px, py, anchor, size, \
        class == "" ? "" : " class=\"" class "\"", escaped(words)
}
function line(x1, y1, x2, y2, attributes) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, attributes
}
function up(value) { return height - bottom - value / ceiling * (height - top - bottom) }
function across(value) {
    return left + 24 + (last > first ? (log(value) - log(first)) / (log(last) - log(first)) : 0.5) * (width - left - right - 48)
}
function short(value) {
    if (value >= 1e6) return sprintf("%.3g M", value / 1e6)
    if (value >= 1e4) return sprintf("%.3g k", value / 1e3)
    return sprintf("%.3g", value)
}
# 1, 2 or 5 times a power of ten, so that about five of them reach the top.
function step_of(value,    power) {
    power = 10 ^ int(log(value / 5) / log(10) - (value < 5))
    return value / 5 <= power ? power : value / 5 <= 2 * power ? 2 * power : value / 5 <= 5 * power ? 5 * power : 10 * power
}
function frame(    step, value) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"system-ui, sans-serif\" role=\"img\">\n", width, height
    printf "<title>%s</title>\n", escaped(said["title"])
    print "<style>text { fill: #1f2328 } .soft { fill: #59636e } .grid { stroke: #818b981f } .axis, .spread { stroke: #59636e }"
    print "@media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .soft { fill: #9198a1 } .grid { stroke: #9198a133 } .axis, .spread { stroke: #9198a1 } }</style>"
    text(left - 50, 24, "start", said["title"], 16)
    step = step_of(most)
    ceiling = step * (int(most / step - 1e-9) + 1)
    for (value = 0; value <= ceiling * 1.0001; value += step) {
        line(left, up(value), width - right, up(value), "class=\"" (value == 0 ? "axis" : "grid") "\"")
        text(left - 8, up(value) + 4, "end", short(value), 12, "soft")
    }
    text(left - 50, 48, "start", said["ylabel"], 12, "soft")
    text((left + width - right) / 2, height - 10, "middle", said["xlabel"], 12, "soft")
}
function legend(    i, at) {
    at = width - right
    for (i = series; i >= 1; i--) {
        at -= 8 * length(name_of[i])
        text(at, 48, "start", name_of[i], 12)
        printf "<rect x=\"%.1f\" y=\"39\" width=\"10\" height=\"10\" rx=\"2\" fill=\"%s\"/>\n", at - 15, colours[i]
        at -= 32
    }
}
function bars(    i, slot, bar, at) {
    slot = (width - left - right) / places
    bar = slot * 0.7 / series
    for (i = 1; i <= n; i++) {
        at = left + slot * (place_of[x[i]] - 1) + slot * 0.15 + bar * (of[i] - 1)
        printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" fill=\"%s\"/>\n", at, up(y[i]), bar * 0.94, up(0) - up(y[i]), colours[of[i]]
        if (hi[i] > lo[i]) line(at + bar * 0.47, up(hi[i]), at + bar * 0.47, up(lo[i]), "class=\"spread\" stroke-width=\"1.5\"")
        text(at + bar * 0.47, up(hi[i]) - 5, "middle", short(y[i]), 11)
    }
    for (i = 1; i <= places; i++) text(left + slot * (i - 0.5), height - bottom + 18, "middle", label_of[i], 12)
}
function lines(    i, s, path, drawn) {
    for (s = 1; s <= series; s++) {
        path = ""
        for (i = 1; i <= n; i++) {
            if (of[i] != s) continue
            path = path sprintf("%s%.1f,%.1f", path == "" ? "" : " ", across(x[i]), up(y[i]))
            if (hi[i] > lo[i]) line(across(x[i]), up(hi[i]), across(x[i]), up(lo[i]), "class=\"spread\"")
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", across(x[i]), up(y[i]), colours[s]
            text(across(x[i]), up(y[i]) - 9, "middle", short(y[i]), 11)
        }
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colours[s]
    }
    for (i = 1; i <= places; i++) text(across(label_of[i]), height - bottom + 18, "middle", short(label_of[i]), 12)
}
END {
    frame()
    if (series > 1) legend()
    if (said["kind"] == "bars") bars(); else lines()
    print "</svg>"
}
