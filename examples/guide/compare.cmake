# Runs PROGRAM, which must end well and print what is in the file EXPECTED.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
# Blanks at ends of lines cannot be seen on the page.
string(REGEX REPLACE "[ ]+\n" "\n" printed "${printed}")
string(REGEX REPLACE "[ ]+\n" "\n" expected "${expected}")
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR
    "expected:\n${expected}\ngot:\n${printed}\n(docs/torch_fx.md)")
endif()
