#include <fcntl.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "fxjit/log.h"
#include "jit/engine/debug_plugins.h"

namespace fxjit::jit {
namespace {

using llvm::Error;
using llvm::jitlink::LinkGraph;
using llvm::orc::JITDylib;
using llvm::orc::MaterializationResponsibility;
using llvm::orc::ResourceKey;

std::string lines_of(LinkGraph& graph) {
  std::string lines;
  for (const auto* symbol : graph.defined_symbols()) {
    if (!symbol->isCallable() || !symbol->hasName()) continue;
    char range[48];
    std::snprintf(
        range, sizeof(range), "%llx %llx ",
        static_cast<unsigned long long>(symbol->getAddress().getValue()),
        static_cast<unsigned long long>(symbol->getSize()));
    lines += range + symbol->getName().str() + "\n";
  }
  return lines;
}

class PerfMapPlugin : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  ~PerfMapPlugin() override {
    if (file_ >= 0) close(file_);
  }

  void modifyPassConfig(MaterializationResponsibility&, LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PostFixupPasses.push_back([this](LinkGraph& graph) {
      append(lines_of(graph));
      return Error::success();
    });
  }

  Error notifyFailed(MaterializationResponsibility&) override {
    return Error::success();
  }
  // perf has no way to withdraw an entry.
  Error notifyRemovingResources(JITDylib&, ResourceKey) override {
    return Error::success();
  }
  void notifyTransferringResources(JITDylib&, ResourceKey,
                                   ResourceKey) override {}

 private:
  void append(const std::string& lines) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ < 0 && !failed_) {
      const auto path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
      file_ =
          open(path.c_str(),
               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    const auto size = static_cast<ssize_t>(lines.size());
    if (file_ >= 0 && write(file_, lines.data(), lines.size()) == size) return;
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
