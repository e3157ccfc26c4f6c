# Flags that every target of ours is compiled with; interface target onset_flags.
add_library(onset_flags INTERFACE)
target_compile_options(onset_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  -Wfloat-conversion
  # No silent fused multiply-adds: the same bits whatever the instruction set; fast-math is not for us.
  -ffp-contract=off
  # No errno and no floating-point traps are read anywhere; without these plain loops do not vectorise.
  # Neither flag changes a value.
  -fno-math-errno -fno-trapping-math)
if(ONSET_WERROR)
  target_compile_options(onset_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps in `"text" + std::string` that are not there (GCC bug 105651).
  target_compile_options(onset_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND ONSET_QUICK_BUILD)
  # Neighbours are compiled as one source, so that a local name may hide one that another source keeps to
  # itself. Clang warns of that; the preset `clang`, which compiles each source alone, sees what is real.
  target_compile_options(onset_flags INTERFACE -Wno-shadow)
endif()
