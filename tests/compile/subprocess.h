// Runs a test of this program in a process of its own: for what is read once
// per process, for exits, and for limits that cannot be taken back.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fxjit::testing {

struct ProcessResult {
  int exit_code = -1;  // 128 + signal when ended by one.
  std::string output;  // Standard output and error.
};

// Runs the test named "Child.DISABLED_<name>" with further environment
// variables.
ProcessResult run_child(
    const std::string& name,
    const std::vector<std::pair<std::string, std::string>>& environment = {});

// A folder that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace fxjit::testing
