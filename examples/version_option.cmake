# How main begins in the programs that are taken from documents: with the option
# that all programs have.
set(main_with_version [[
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << fxjit::version_text() << "\n";
    return 0;
  }
]])

function(test_version program)
  add_test(NAME examples:${program}_version COMMAND ${program} --version)
  set_tests_properties(examples:${program}_version PROPERTIES
    PASS_REGULAR_EXPRESSION "oneDNN v")
endfunction()
