// The format of the dump is that of
// tools/perf/Documentation/jitdump-specification.txt of the Linux kernel.
#include <fcntl.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fxjit/log.h"
#include "jit/engine/debug_plugins.h"
#include "src/support/disk/descriptors.h"

namespace fxjit::jit {
namespace {

struct Header {
  uint32_t magic = 0x4A695444;  // "JiTD"
  uint32_t version = 1;
  uint32_t total_size = sizeof(Header);
  uint32_t elf_machine = llvm::ELF::EM_X86_64;
  uint32_t unused = 0;
  uint32_t pid = 0;
  uint64_t timestamp = 0;
  uint64_t flags = 0;
};

// Followed by the name, a zero, and the code.
struct CodeLoad {
  uint32_t id = 0;  // JIT_CODE_LOAD
  uint32_t total_size = 0;
  uint64_t timestamp = 0;
  uint32_t pid = 0;
  uint32_t thread = 0;
  uint64_t address = 0;
  uint64_t code_address = 0;
  uint64_t code_size = 0;
  uint64_t code_index = 0;  // Unique.
};

// As `perf record -k 1` counts.
uint64_t timestamp() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

template <typename T>
std::string bytes_of(const T& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

// One for the process, however many linkers there are: perf reads one file.
class JitDump {
 public:
  static JitDump& instance() {
    // Never destroyed: perf reads it to the end.
    static JitDump* const dump = new JitDump;
    return *dump;
  }

  void add(std::string_view name, uint64_t address, std::string_view code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failed_ || (!file_ && !start())) return;
    CodeLoad load;
    load.total_size =
        static_cast<uint32_t>(sizeof(load) + name.size() + 1 + code.size());
    load.timestamp = timestamp();
    load.pid = static_cast<uint32_t>(getpid());
    load.thread = static_cast<uint32_t>(syscall(SYS_gettid));
    load.address = load.code_address = address;
    load.code_size = code.size();
    load.code_index = count_++;
    write_all(bytes_of(load) + std::string(name) + '\0' + std::string(code));
  }

 private:
  // perf finds the file by an executable mapping of it.
  bool start() {
    const auto path = "/tmp/jit-" + std::to_string(getpid()) + ".dump";
    file_.emplace(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (!file_->open()) return fail();
    Header header;
    header.pid = static_cast<uint32_t>(getpid());
    header.timestamp = timestamp();
    write_all(bytes_of(header));
    const void* const marker =
        mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)),
             PROT_READ | PROT_EXEC, MAP_PRIVATE, file_->number(), 0);
    return marker != MAP_FAILED && !failed_ ? true : fail();
  }

  void write_all(const std::string& bytes) {
    if (!file_->write(std::as_bytes(std::span(bytes)))) fail();
  }

  bool fail() {
    if (!failed_) log(LogLevel::warning, "[jit] cannot write the jitdump");
    failed_ = true;
    return false;
  }

  std::mutex mutex_;
  std::optional<support::Descriptor> file_;
  uint64_t count_ = 0;
  bool failed_ = false;
};

// Looks at each object once its code is final; perf has no way to withdraw what
// it was told.
class PerfPlugin : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  void modifyPassConfig(llvm::orc::MaterializationResponsibility&,
                        llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PostFixupPasses.push_back([this](llvm::jitlink::LinkGraph& graph) {
      for (const llvm::jitlink::Symbol* symbol : graph.defined_symbols())
        if (symbol->isCallable() && symbol->hasName()) add(*symbol);
      return llvm::Error::success();
    });
  }

  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility&) override {
    return llvm::Error::success();
  }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&,
                                      llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey,
                                   llvm::orc::ResourceKey) override {}

 private:
  // A function with a name, at its place. May be called by any thread.
  void add(const llvm::jitlink::Symbol& function) {
    const std::string name = function.getName().str();
    const uint64_t address = function.getAddress().getValue();
    const auto code = function.getSymbolContent();
    char range[48];
    std::snprintf(range, sizeof(range), "%llx %llx ",
                  static_cast<unsigned long long>(address),
                  static_cast<unsigned long long>(function.getSize()));
    append(range + name + "\n");
    dump_.add(name, address, {code.data(), code.size()});
  }

  void append(const std::string& line) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    if (!file_)
      file_.emplace(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW,
                    0600);
    if (file_->open() && file_->write(std::as_bytes(std::span(line)))) return;
    if (!failed_) log(LogLevel::warning, "[jit] cannot write the perf map");
    failed_ = true;
  }

  JitDump& dump_ = JitDump::instance();
  std::mutex mutex_;
  std::optional<support::Descriptor> file_;  // The map.
  bool failed_ = false;
};

}  // namespace

std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_perf_plugin() {
  return std::make_shared<PerfPlugin>();
}

}  // namespace fxjit::jit
