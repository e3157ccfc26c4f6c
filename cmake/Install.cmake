# What `cmake --install` lays down, and the package that find_package(onset) reads.
include(CMakePackageConfigHelpers)

set(onset_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/onset)

install(TARGETS onset EXPORT onset_targets)
install(DIRECTORY include/onset DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY figures DESTINATION ${CMAKE_INSTALL_DATADIR}/onset FILES_MATCHING PATTERN "*.toml")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT onset_targets NAMESPACE onset:: FILE onsetTargets.cmake DESTINATION ${onset_package_dir})
configure_package_config_file(cmake/onsetConfig.cmake.in ${PROJECT_BINARY_DIR}/onsetConfig.cmake
  INSTALL_DESTINATION ${onset_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onsetConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/onsetConfig.cmake ${PROJECT_BINARY_DIR}/onsetConfigVersion.cmake
  DESTINATION ${onset_package_dir})

# bin/onset of the build tree reads the figures of the source tree: edit and run, no rebuild.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/onset)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/figures ${PROJECT_BINARY_DIR}/share/onset/figures SYMBOLIC)
