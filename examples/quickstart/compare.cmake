# Runs PROGRAM, which must end well, print the lines of the file EXPECTED up to the
# one that is "...", and report fused steps, all of them native.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
string(REGEX REPLACE "\\.\\.\\.\n$" "" expected "${expected}")
string(FIND "${printed}" "${expected}" place)
if(NOT place EQUAL 0)
  message(FATAL_ERROR "expected:\n${expected}\ngot:\n${printed}\n(README.md)")
endif()
if(NOT printed MATCHES "matmul\\+add\\+gelu" OR
   printed MATCHES "not native|interpreter")
  message(FATAL_ERROR "no fused or native steps:\n${printed}")
endif()
