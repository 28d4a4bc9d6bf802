# SPDX-License-Identifier: Apache-2.0
# Run by embed(): writes OUT with the contents of FILES as C string literals, line by line.
set(text "/* generated from migrations/${ROOM}; edit the .sql files */\n")
string(APPEND text "#include \"rowferry/base/embed.h\"\n\nconst struct embedded ${ROOM}_sql[] = {\n")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} sql)
    string(REPLACE "\\" "\\\\" sql "${sql}")
    string(REPLACE "\"" "\\\"" sql "${sql}")
    string(REPLACE "\n" "\\n\"\n     \"" sql "${sql}")
    string(APPEND text "    {\"${name}\",\n     \"${sql}\"},\n")
endforeach()
string(APPEND text "    {0, 0},\n};\n")
file(WRITE ${OUT} "${text}")
