#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "fxjit/log.h"
#include "jit/engine/callable_plugin.h"
#include "jit/engine/debug_plugins.h"
#include "src/support/disk/descriptors.h"

namespace fxjit::jit {
namespace {

class PerfMapPlugin : public CallablePlugin {
 public:
  ~PerfMapPlugin() override {
    if (file_ >= 0) close(file_);
  }

 private:
  void add(const llvm::jitlink::Symbol& function) override {
    char range[48];
    std::snprintf(
        range, sizeof(range), "%llx %llx ",
        static_cast<unsigned long long>(function.getAddress().getValue()),
        static_cast<unsigned long long>(function.getSize()));
    append(range + function.getName().str() + "\n");
  }

  void append(const std::string& line) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ < 0 && !failed_) {
      const auto path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
      file_ = support::above_standard(
          open(path.c_str(),
               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    }
    const auto size = static_cast<ssize_t>(line.size());
    if (file_ >= 0 && write(file_, line.data(), line.size()) == size) return;
    if (!failed_) log(LogLevel::warning, "[jit] cannot write the perf map");
    failed_ = true;
  }

  std::mutex mutex_;
  int file_ = -1;
  bool failed_ = false;
};

}  // namespace

std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_perf_map_plugin() {
  return std::make_shared<PerfMapPlugin>();
}

}  // namespace fxjit::jit
