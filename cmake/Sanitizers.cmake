if(ONSET_SANITIZE)
  add_compile_options(-fsanitize=${ONSET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ONSET_SANITIZE})
endif()
