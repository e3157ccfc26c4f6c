# Instrumented builds: a sanitizer stops at its first finding, and the standard library checks bounds.
if(ONSET_SANITIZE)
  add_compile_options(-fsanitize=${ONSET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${ONSET_SANITIZE})
  if(ONSET_SANITIZE MATCHES "undefined")
    # A check of every pointer at every use takes half of the time to compile. What it would find of
    # consequence, a null or a wild pointer that is used, the address sanitizer finds too.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow)
  endif()
endif()
# libFuzzer sees which branches an input takes only in code that was compiled for it; clang alone does.
if(ONSET_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
# Counters of lines; by way of atomics, since threads share them.
if(ONSET_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
