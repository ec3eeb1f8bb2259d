#include "tools/fxjit/places.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "fxjit/error.h"

namespace fxjit::command {

namespace fs = std::filesystem;

namespace {

void remove(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
}

// Signals that end the process come to one thread, which removes the folder
// first.
void remove_when_ended(const std::string& folder) {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, number);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::thread([folder, ending] {
    int number = 0;
    while (sigwait(&ending, &number) != 0) {
    }
    remove(folder);
    pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    raise(number);
  }).detach();
}

}  // namespace

std::string shared_file(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path file = (program.parent_path() / FXJIT_SHARE / name);
  if (error || !fs::exists(file, error))
    throw UserError("[bench] " + file.lexically_normal().string() +
                    " is missing: install fxjit whole");
  return file.lexically_normal().string();
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : parent) / "fxjit_XXXXXX").string();
  if (!mkdtemp(path_.data()))
    throw UserError("[bench] no folder " + path_ + ": " + std::strerror(errno));
  remove_when_ended(path_);
}

TemporaryFolder::~TemporaryFolder() { remove(path_); }

}  // namespace fxjit::command
