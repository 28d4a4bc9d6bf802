# SPDX-License-Identifier: Apache-2.0
# Run by embed(): writes OUT with the contents of FILES as C string literals, line by line.
set(text "/* generated; edit the files that it is made of */\n")
string(APPEND text "#include \"rowferry/base/embed.h\"\n\nconst struct embedded ${TABLE}[] = {\n")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} content)
    string(REPLACE "\\" "\\\\" content "${content}")
    string(REPLACE "\"" "\\\"" content "${content}")
    string(REPLACE "\n" "\\n\"\n     \"" content "${content}")
    string(APPEND text "    {\"${name}\",\n     \"${content}\"},\n")
endforeach()
string(APPEND text "    {0, 0},\n};\n")
file(WRITE ${OUT} "${text}")
