#include "tests/compile/subprocess.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace fxjit::testing {

ProcessResult run_child(
    const std::string& name,
    const std::vector<std::pair<std::string, std::string>>& environment) {
  // One test alone: shards are of the tests that start it.
  std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX";
  for (const auto& [key, value] : environment)
    command += " " + key + "='" + value + "'";
  command += " '" + std::filesystem::read_symlink("/proc/self/exe").string() +
             "' --gtest_also_run_disabled_tests "
             "--gtest_filter=Child.DISABLED_" +
             name + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start " + command);
  ProcessResult result;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  result.exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (result.output.find("[ RUN ") == std::string::npos)
    throw std::runtime_error("no test was run by " + command + "\n" +
                             result.output);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string path =
      (std::filesystem::temp_directory_path() / "fxjit_test_XXXXXX").string();
  if (!mkdtemp(path.data())) throw std::runtime_error("mkdtemp failed");
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fxjit::testing
