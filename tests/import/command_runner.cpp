#include "tests/import/command_runner.h"

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace fxjit::testing_import {

namespace fs = std::filesystem;

Ran run_line(const std::string& line) {
  Ran ran;
  FILE* const pipe = popen(line.c_str(), "r");
  if (!pipe) return ran;
  char buffer[4096];
  for (size_t bytes; (bytes = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    ran.text.append(buffer, bytes);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  return ran;
}

std::string fxjit_program() { return FXJIT_BINARY_DIR "/bin/fxjit"; }

Ran fxjit_command(const std::string& arguments) {
  return run_line("FXJIT_CACHE= '" + fxjit_program() + "' " + arguments +
                  " 2>&1");
}

void Command::SetUp() {
  folder_ = ::testing::TempDir() + "fxjit_command_XXXXXX";
  ASSERT_NE(mkdtemp(folder_.data()), nullptr);
}

void Command::TearDown() { fs::remove_all(folder_); }

std::string Command::write(const std::string& name,
                           const std::string& bytes) const {
  std::ofstream(file(name), std::ios::binary) << bytes;
  return file(name);
}

std::string Command::write_script(const std::string& name,
                                  const std::string& text) const {
  const std::string path = write(name, text);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

}  // namespace fxjit::testing_import
