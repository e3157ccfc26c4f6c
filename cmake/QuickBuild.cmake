# What makes a first build short, without a change to the program.
#
# Standard headers are parsed once per target. Only headers that never change are in the list, so
# that an edit of ours compiles what it did before. Where a target has many small sources that put
# words and tables together, a few neighbours are compiled as one; names that such a source keeps to
# itself must then differ from those of its neighbours, and the compiler says where they do not.
#
# A file that forgets an include compiles all the same where others come before it. The presets
# `debug`, `separate`, `clang`, `asan` and `tsan` therefore do without both.
option(ONSET_QUICK_BUILD "Parse standard headers once per target; compile small sources together" ON)

set(onset_common_headers
  <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <numbers> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <utility>
  <variant> <vector>)
set(onset_sources_together 5)

# onset_precompile(TARGET [<more headers>...])
function(onset_precompile target)
  if(ONSET_QUICK_BUILD)
    target_precompile_headers(${target} PRIVATE ${onset_common_headers} ${ARGN})
  endif()
endfunction()

# onset_compile_together(TARGET)
function(onset_compile_together target)
  if(ONSET_QUICK_BUILD)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${onset_sources_together})
  endif()
endfunction()
