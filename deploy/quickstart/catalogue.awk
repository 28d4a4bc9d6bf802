# SPDX-License-Identifier: Apache-2.0
# `apt-cache dumpavail` on standard input, rows for COPY packages (...) FROM STDIN on standard
# output, columns in the order of `columns`. A stanza ends with an empty line; a line that begins
# with a blank goes on with the field before it.

BEGIN {
    columns = "Package Version Architecture Section Priority Maintainer Homepage Installed-Size Size " \
              "Depends Tag Description Description-md5"
    count = split(columns, names, " ")
}

# COPY's own escapes.
function escaped(text) {
    gsub(/\\/, "&&", text)
    gsub(/\t/, "\\t", text)
    gsub(/\n/, "\\n", text)
    return text
}

# "a, b (>= 1)" becomes the array {"a","b (>= 1)"}
function array(text,    parts, n, i, out) {
    n = split(text, parts, /,[ \n]*/)
    for (i = 1; i <= n; i++) {
        gsub(/["\\]/, "\\\\&", parts[i])
        out = out (i > 1 ? "," : "") "\"" parts[i] "\""
    }
    return "{" out "}"
}

function column(name) {
    if (!(name in field)) {
        return "\\N"
    }
    return escaped(name == "Depends" || name == "Tag" ? array(field[name]) : field[name])
}

function row(    key, line, i) {
    key = field["Package"] ":" field["Architecture"] ":" field["Version"]
    if (key in seen) {
        return
    }
    seen[key] = 1
    line = escaped(key)
    for (i = 1; i <= count; i++) {
        line = line "\t" column(names[i])
    }
    print line
}

/^[^ \t]/ {
    colon = index($0, ":")
    name = substr($0, 1, colon - 1)
    field[name] = substr($0, colon + 1)
    sub(/^[ \t]+/, "", field[name])
    next
}

/^[ \t]/ {
    field[name] = field[name] "\n" substr($0, 2)
    next
}

/^$/ {
    if ("Package" in field) {
        row()
    }
    split("", field)
}

END {
    if ("Package" in field) {
        row()
    }
}
