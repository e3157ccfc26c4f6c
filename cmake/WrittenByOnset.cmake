# Lets the command ONSET write its manual page and its completion for shells into FOLDER.
file(MAKE_DIRECTORY ${FOLDER})
foreach(entry "man|onset.1" "completion bash|onset.bash" "completion zsh|_onset" "completion fish|onset.fish")
  string(REPLACE "|" ";" entry "${entry}")
  list(GET entry 0 words)
  list(GET entry 1 file)
  string(REPLACE " " ";" words "${words}")
  execute_process(COMMAND ${ONSET} ${words} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
