// Files beside the command, and a folder for what lives as long as a call.
#pragma once

#include <string>

namespace fxjit::command {

// A file of share/fxjit, in the tree that the running program lies in.
// UserError where it is missing.
std::string shared_file(const std::string& name);

// An empty folder, removed at the end, also where a signal ends the process:
// to be made before other threads are, one at a time.
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

}  // namespace fxjit::command
