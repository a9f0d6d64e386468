# SPDX-License-Identifier: Apache-2.0
# cmake --install: the static library, its headers, the tool, and find_package(moiety).
include(CMakePackageConfigHelpers)
set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/moiety)

install(TARGETS moiety EXPORT moietyTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT moietyTargets NAMESPACE moiety:: DESTINATION ${_package_dir})
install(DIRECTORY src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/moiety
        FILES_MATCHING PATTERN "*.h")
configure_package_config_file(cmake/moietyConfig.cmake.in moietyConfig.cmake
                              INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file(moietyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/moietyConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/moietyConfigVersion.cmake
              cmake/FindRDKit.cmake cmake/FindoneDNN.cmake
        DESTINATION ${_package_dir})
if(TARGET moiety_tool)
  install(TARGETS moiety_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
