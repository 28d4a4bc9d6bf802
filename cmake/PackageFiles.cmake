# SPDX-License-Identifier: Apache-2.0
# Run by cpack before it packs: what Debian wants compressed, elsewhere, or not at all.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(RENAME ${share}/doc/rowferry/CHANGELOG.md ${share}/doc/rowferry/changelog)
foreach(file man/man1/rowferry.1 doc/rowferry/changelog)
    execute_process(COMMAND gzip -9nf ${share}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
file(REMOVE ${share}/doc/rowferry/LICENSE) # copyright says where it is
