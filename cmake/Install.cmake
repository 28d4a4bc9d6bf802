# SPDX-License-Identifier: Apache-2.0
# What users need, and nothing of what only developers do: program, manual, units, schema, examples.
include(GNUInstallDirs)

install(TARGETS rowferry RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${MANUAL_PAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES src/cli/shell/bash.completion RENAME rowferry
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES src/cli/shell/zsh.completion RENAME _rowferry DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES src/cli/shell/fish.completion RENAME rowferry.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES docs/rowferry.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/rowferry)
install(FILES CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png"
        PATTERN devsearch.md EXCLUDE PATTERN evidence EXCLUDE)
install(DIRECTORY deploy/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(folder container grafana kubernetes prometheus)
    install(DIRECTORY deploy/${folder} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endforeach()
install(FILES deploy/systemd/rowferry.sysusers.conf DESTINATION lib/sysusers.d RENAME rowferry.conf)

# The units name the program where it is installed, which is known only then.
file(GLOB units CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/deploy/systemd/*.service
     ${CMAKE_SOURCE_DIR}/deploy/systemd/*.timer)
foreach(unit IN LISTS units)
    cmake_path(GET unit FILENAME name)
    install(CODE "
        file(READ \"${unit}\" text)
        string(REPLACE \"=/usr/bin/rowferry \" \"=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/rowferry \" text \"\${text}\")
        set(to \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${name}\")
        message(STATUS \"Installing: \$ENV{DESTDIR}\${to}\")
        file(WRITE \"\$ENV{DESTDIR}\${to}\" \"\${text}\")
        file(CHMOD \"\$ENV{DESTDIR}\${to}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${to}\")")
endforeach()
