# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB: a package for the Debian that it is built on.
install(FILES deploy/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES deploy/debian/default DESTINATION /etc/default RENAME rowferry COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON) # the units name their program, and files lie in /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};rowferry;ALL;/;${CMAKE_BINARY_DIR};rowferry;debian;/")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/PackageFiles.cmake)
set(CPACK_PACKAGE_NAME rowferry)
set(CPACK_PACKAGE_CONTACT "the rowferry developers <rowferry@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keep a search index equal to a PostgreSQL table")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"rowferry finds what changed in a table of PostgreSQL, turns rows into JSON
documents, and sends upserts and deletes in bulk to OpenSearch or Elasticsearch.
It runs as a scheduled job or continuously, needs no extension and no replication
slot, and goes on after any crash where its last checkpoint stands.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "systemd (>= 252), postgresql-client")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles
    ${CMAKE_SOURCE_DIR}/deploy/debian/postinst ${CMAKE_SOURCE_DIR}/deploy/debian/prerm
    ${CMAKE_SOURCE_DIR}/deploy/debian/postrm)
include(CPack)
