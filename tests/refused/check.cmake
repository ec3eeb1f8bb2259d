# Compiles SOURCE with FXJIT_REFUSED, which must fail and say what stands behind
# every "refused:" in it, as often as it stands there; without FXJIT_REFUSED the
# file must compile. FLAGS go to COMPILER.
cmake_minimum_required(VERSION 3.25)
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(command ${COMPILER} ${flags} -fsyntax-only ${SOURCE})

execute_process(COMMAND ${command} RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
  message(FATAL_ERROR "what is right does not compile:\n${said}")
endif()

execute_process(COMMAND ${command} -DFXJIT_REFUSED RESULT_VARIABLE failed
  ERROR_VARIABLE said)
if(NOT failed)
  message(FATAL_ERROR "${SOURCE} compiles")
endif()

function(count_of text part result)
  string(REPLACE "${part}" "" shorter "${text}")
  string(LENGTH "${text}" all)
  string(LENGTH "${shorter}" rest)
  string(LENGTH "${part}" one)
  math(EXPR count "(${all} - ${rest}) / ${one}")
  set(${result} ${count} PARENT_SCOPE)
endfunction()

file(READ ${SOURCE} source)
file(STRINGS ${SOURCE} cases REGEX "// refused: ")
list(REMOVE_DUPLICATES cases)
set(wrong "")
foreach(case IN LISTS cases)
  string(REGEX REPLACE ".*// refused: " "" text "${case}")
  count_of("${source}" "// refused: ${text}\n" wanted)
  count_of("${said}" "${text}" got)
  if(NOT got EQUAL wanted)
    string(APPEND wrong "'${text}': expected ${wanted} times, got ${got}\n")
  endif()
endforeach()
if(wrong)
  message(FATAL_ERROR "${wrong}")
endif()
