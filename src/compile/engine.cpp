#include "src/compile/engine.h"

#include <map>
#include <mutex>
#include <utility>

#include "src/compile/environment.h"
#include "src/support/file_places.h"
#include "src/support/object_pack.h"

namespace fxjit {
namespace {

// Code kept in memory beyond what programs hold themselves.
constexpr uint64_t kCodeBytes = uint64_t{16} << 20;

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

support::ObjectCacheOptions disk_options(const CompileOptions& options) {
  support::ObjectCacheOptions disk;
  if (!options.cache_folder)
    disk.folder = support::cache_folder();
  else if (!options.cache_folder->empty())
    disk.folder = *options.cache_folder;
  disk.packs.assign(options.kernel_packs.begin(), options.kernel_packs.end());
  if (!options.shipped_kernels) return disk;
  if (const auto shipped = support::shipped_kernels())
    disk.packs.push_back(*shipped);
  return disk;
}

std::string key_of(CpuLevel level, const support::ObjectCacheOptions& disk,
                   const std::string& dump, bool debug_support) {
  std::string key(cpu_level_name(level));
  const auto add = [&](const std::string& text) { key += '\0' + text; };
  add(disk.folder ? disk.folder->string() : "");
  add(dump);
  for (const auto& pack : disk.packs) add(pack.string());
  return key + (debug_support ? "d" : "");
}

}  // namespace

Engine::Engine(CpuLevel level, support::ObjectCacheOptions disk,
               const std::string& dump_folder, bool debug_support)
    : disk_(std::move(disk)),
      compiler_(engine_options(level, dump_folder, debug_support)),
      // A dump needs the compilation to happen.
      cache_(compiler_, dump_folder.empty() ? &disk_ : nullptr, kCodeBytes) {}

Engine& Engine::shared(const CompileOptions& options) {
  const CpuLevel level = options.cpu_level.value_or(host_cpu_level());
  const std::string dump = options.dump_folder.empty()
                               ? environment().dump_folder
                               : options.dump_folder;
  support::ObjectCacheOptions disk = disk_options(options);
  const std::string key = key_of(level, disk, dump, options.debug_support);
  // Never destroyed: code may run until the process ends.
  static std::mutex* const mutex = new std::mutex;
  static auto* const engines = new std::map<std::string, Engine*>;
  std::lock_guard lock(*mutex);
  Engine*& engine = (*engines)[key];
  if (!engine)
    engine = new Engine(level, std::move(disk), dump, options.debug_support);
  return *engine;
}

size_t write_kernel_pack(const std::string& cache_folder,
                         const std::string& file) {
  return support::write_object_pack(cache_folder, file);
}

}  // namespace fxjit
