# Standard headers that most files read are parsed once per target and not once per file, which takes
# about a third off the time to compile a typical one. Only headers that never change are in the
# list, so that an edit of ours compiles what it did before.
#
# A file that forgets an include compiles all the same where these are read first. The presets
# `debug`, `asan` and `tsan` therefore do without.
option(ONSET_PRECOMPILED_HEADERS "Parse the standard headers once per target" ON)

set(onset_common_headers
  <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <numbers> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <utility>
  <variant> <vector>)

# onset_precompile(TARGET [<more headers>...])
function(onset_precompile target)
  if(ONSET_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${onset_common_headers} ${ARGN})
  endif()
endfunction()
