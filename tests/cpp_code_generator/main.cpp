// cpp_code_generator FILE: writes the code of all cases into one header.
#include <fstream>
#include <iostream>

#include "tests/cpp_code/cases.h"

int main(int argc, char** argv) {
  namespace fx = fxjit::fx;
  if (argc != 2) return 2;
  std::ofstream file(argv[1]);
  try {
    for (const auto& [name, make] : fxjit::cpp_cases::all())
      file << fx::cpp_code(*make(), {.name = name, .name_space = "of_" + name}).src << '\n';
    file << fx::cpp_code(*fxjit::cpp_cases::free_graph(), "free_graph");
  } catch (const fxjit::Error& error) {
    std::cerr << "cpp_code_generator: " << error.what() << '\n';
    return 1;
  }
  return file.good() ? 0 : 1;
}
