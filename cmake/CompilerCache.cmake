# ccache when it is there. Decided here and not in a preset, so that a preset works without it.
find_program(ONSET_CCACHE ccache)
mark_as_advanced(ONSET_CCACHE)
if(ONSET_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ONSET_CCACHE})
endif()
