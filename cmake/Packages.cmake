# Debian packages: `cpack -G DEB` in a build folder makes three of them. What the binaries need is read
# from them; the rest is said here.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME onset)
set(CPACK_PACKAGE_CONTACT "the authors of Onset <onset@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL command dev)
if(TARGET onset_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME onset)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "${PROJECT_DESCRIPTION}
The command, its manual page, figures, and completion for bash, zsh and fish.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, fonts-dejavu-core")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libonset-dev)
set(CPACK_COMPONENT_DEV_DESCRIPTION "${PROJECT_DESCRIPTION}
The library and its headers, for C++ programs.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libfmt-dev, libhwy-dev, libsqlite3-dev, libopenblas-dev, coinor-libclp-dev")

if(TARGET onset_python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-onset)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "${PROJECT_DESCRIPTION}
The Python module.")
  get_property(onset_python_version GLOBAL PROPERTY onset_python_version)
  string(REGEX MATCH "[0-9]+$" onset_python_minor "${onset_python_version}")
  math(EXPR onset_python_minor "${onset_python_minor} + 1")
  set(onset_python_next 3.${onset_python_minor})
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= ${onset_python_version}), python3 (<< ${onset_python_next}), python3-numpy, onset (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-xarray, python3-matplotlib, python3-tqdm")
endif()
include(CPack)
