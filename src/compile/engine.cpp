#include "src/compile/engine.h"

#include <map>
#include <mutex>

#include "src/compile/environment.h"
#include "src/support/xdg_paths.h"

namespace fxjit {
namespace {

// Code kept in memory beyond what programs hold themselves.
constexpr uint64_t kCodeBytes = uint64_t{64} << 20;

jit::EngineOptions engine_options(CpuLevel level,
                                  const std::string& dump_folder,
                                  bool debug_support) {
  jit::EngineOptions options;
  options.cpu_level = level;
  options.dump_folder = dump_folder;
  options.perf_support = debug_support;
  options.gdb_support = debug_support;
  return options;
}

support::ObjectCacheOptions disk_options(const std::string& folder) {
  support::ObjectCacheOptions options;
  if (!folder.empty()) options.folder = folder;
  return options;
}

std::string default_cache_folder() {
  const auto folder = support::cache_folder();
  return folder ? folder->string() : "";
}

}  // namespace

Engine::Engine(CpuLevel level, const std::string& cache_folder,
               const std::string& dump_folder, bool debug_support)
    : disk_(disk_options(cache_folder)),
      compiler_(engine_options(level, dump_folder, debug_support)),
      // A dump needs the compilation to happen.
      cache_(compiler_, dump_folder.empty() ? &disk_ : nullptr, kCodeBytes) {}

Engine& Engine::shared(const CompileOptions& options) {
  const CpuLevel level = options.cpu_level.value_or(host_cpu_level());
  const std::string cache =
      options.cache_folder ? *options.cache_folder : default_cache_folder();
  const std::string dump = options.dump_folder.empty()
                               ? environment().dump_folder
                               : options.dump_folder;
  const std::string key = std::string(cpu_level_name(level)) + '\0' + cache +
                          '\0' + dump + (options.debug_support ? "d" : "");
  // Never destroyed: code may run until the process ends.
  static std::mutex* const mutex = new std::mutex;
  static auto* const engines = new std::map<std::string, Engine*>;
  std::lock_guard lock(*mutex);
  Engine*& engine = (*engines)[key];
  if (!engine) engine = new Engine(level, cache, dump, options.debug_support);
  return *engine;
}

}  // namespace fxjit
