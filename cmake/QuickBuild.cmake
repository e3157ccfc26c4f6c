# What makes a first build short, without a change to the program.
#
# Headers of others are parsed once per target. Only headers that never change are in the list, so
# that an edit of ours compiles what it did before. A few neighbouring sources are compiled as one,
# since most of the time goes into what they all include; names that a source keeps to itself must
# then differ from those of its neighbours, and the compiler says where they do not. Arithmetic is
# neither contracted nor reordered (cmake/Warnings.cmake), so that no result depends on either.
#
# A file that forgets an include compiles all the same where others come before it. The presets
# `debug` and `clang`, from which clang-tidy reads, therefore do without both.
option(ONSET_QUICK_BUILD "Parse headers of others once per target; compile neighbouring sources together" ON)

set(onset_common_headers
  <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <numbers> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <utility>
  <variant> <vector>)
set(onset_sources_together 8)

# onset_precompile(TARGET [<more headers>...])
#
# GCC begins to collect garbage at 128 MB, which the headers nearly fill; up to a
# tenth of its time then goes into that. Most sources are done before they reach a gigabyte.
#
# Clang writes paths and times into what it precompiles, so that a compiler cache would find nothing
# in another copy of the tree; it gains little from it besides.
function(onset_precompile target)
  if(ONSET_QUICK_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1048576)
    target_precompile_headers(${target} PRIVATE ${onset_common_headers} ${ARGN})
  endif()
endfunction()

# onset_compile_together(TARGET [ALONE <sources>...])
#
# Neighbours are sources of one folder, or of folders in it, two levels below that of the target: a
# new file moves those of its own folder only. What is dear to compile stands alone, so that an edit
# of a neighbour does not compile it again.
function(onset_compile_together target)
  if(NOT ONSET_QUICK_BUILD)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(REMOVE_ITEM sources ${arg_ALONE})
  list(SORT sources)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    string(REGEX MATCH "^in/[^/]*(/[^/]*)?" folder "in/${folder}")
    string(MAKE_C_IDENTIFIER ${folder} group)
    math(EXPR ${group} "${${group}} + 1")
    math(EXPR number "(${${group}} - 1) / ${onset_sources_together}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${number})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
