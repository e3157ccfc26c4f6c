# ccache when it is there. Decided here and not in a preset, so that a preset works without it.
find_program(ONSET_CCACHE ccache)
mark_as_advanced(ONSET_CCACHE)
if(ONSET_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache stores what was compiled with precompiled headers only when it is told that they do not
  # depend on __TIME__ and on macros defined before them: ours do not. Remembering hashes of files by
  # inode spares it from reading the large precompiled file for every source.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_INODECACHE=true CCACHE_SLOPPINESS=pch_defines,time_macros ${ONSET_CCACHE})
endif()
