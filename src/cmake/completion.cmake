# jobman_completion(PROGRAM MODULE HEADER)
#
# The scripts by which shells complete the command lines of PROGRAM: installed where shells look for
# them, and as completion_scripts.cpp, which defines the CompletionScript() that MODULE's HEADER
# declares. They ask `PROGRAM __complete WORD...`, so they know no command themselves.
set(JOBMAN_COMPLETION ${CMAKE_CURRENT_LIST_DIR}/completion)
function(jobman_completion COMPLETION_PROGRAM COMPLETION_MODULE COMPLETION_HEADER)
  string(REPLACE "-" "_" COMPLETION_FUNCTION ${COMPLETION_PROGRAM})
  foreach(shell bash zsh fish)
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${COMPLETION_PROGRAM}.${shell})
    configure_file(${JOBMAN_COMPLETION}/script.${shell}.in ${script} @ONLY)
    string(TOUPPER COMPLETION_${shell} variable)
    file(READ ${script} ${variable})
  endforeach()
  # String constants: the binary needs no file beside it.
  configure_file(${JOBMAN_COMPLETION}/scripts.cpp.in completion_scripts.cpp @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${COMPLETION_PROGRAM}.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${COMPLETION_PROGRAM})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${COMPLETION_PROGRAM}.zsh
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _${COMPLETION_PROGRAM})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${COMPLETION_PROGRAM}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()
