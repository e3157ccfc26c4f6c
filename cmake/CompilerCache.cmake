# ccache when it is there. Decided here and not in a preset, so that a preset works without it.
find_program(ONSET_CCACHE ccache)
mark_as_advanced(ONSET_CCACHE)
if(ONSET_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache stores what was compiled with precompiled headers only when it is told that they do not
  # depend on __TIME__ and on macros defined before them: ours do not. Remembering hashes of files by
  # inode spares it from reading the large precompiled file for every source.
  set(onset_ccache_settings CCACHE_INODECACHE=true CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Builds with clang have debug information: of lines, for what sanitizers print. A copy of the
    # tree in another folder then finds its objects too; the lines name the folder of the first.
    list(APPEND onset_ccache_settings CCACHE_NOHASHDIR=true CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER env ${onset_ccache_settings} ${ONSET_CCACHE})
endif()
