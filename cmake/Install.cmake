# What `cmake --install` lays down, in three parts that are also the Debian packages: the command, the
# library for developers with the package that find_package(onset) reads, and the Python module.
include(CMakePackageConfigHelpers)

set(onset_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/onset)

install(TARGETS onset EXPORT onset_targets COMPONENT dev)
install(DIRECTORY include/onset DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT onset_targets NAMESPACE onset:: FILE onsetTargets.cmake
  DESTINATION ${onset_package_dir} COMPONENT dev)
configure_package_config_file(cmake/onsetConfig.cmake.in ${PROJECT_BINARY_DIR}/onsetConfig.cmake
  INSTALL_DESTINATION ${onset_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onsetConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/onsetConfig.cmake ${PROJECT_BINARY_DIR}/onsetConfigVersion.cmake
  DESTINATION ${onset_package_dir} COMPONENT dev)

install(DIRECTORY figures DESTINATION ${CMAKE_INSTALL_DATADIR}/onset COMPONENT command
  FILES_MATCHING PATTERN "*.toml")
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT command)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT command
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.ipynb")

# The manual page and completion for shells are written by the command itself (tool/CMakeLists.txt).
set(onset_written ${PROJECT_BINARY_DIR}/share/written)
install(FILES ${onset_written}/onset.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${onset_written}/onset.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME onset COMPONENT command)
install(FILES ${onset_written}/onset.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT command)
# Debian's zsh looks into the second folder for what packages bring, and all others into the first.
install(FILES ${onset_written}/_onset DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${onset_written}/_onset DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)

# bin/onset of the build tree reads the figures of the source tree: edit and run, no rebuild.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/onset)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/figures ${PROJECT_BINARY_DIR}/share/onset/figures SYMBOLIC)
