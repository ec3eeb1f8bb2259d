#include "src/compile/engine.h"

#include <map>
#include <mutex>
#include <utility>

#include "kernels/kernels.h"
#include "src/compile/environment.h"
#include "src/support/disk/file_places.h"
#include "src/support/disk/object_pack.h"

namespace fxjit {
namespace {

// Code kept in memory beyond what programs hold themselves.
constexpr uint64_t kCodeBytes = uint64_t{16} << 20;

jit::EngineOptions engine_options(const CompileOptions& options) {
  jit::EngineOptions made;
  made.cpu_level = options.cpu_level.value_or(host_cpu_level());
  made.tune_for_host = !options.portable_kernels;
  made.dump_folder = dump_folder(options);
  made.perf_support = options.debug_support;
  made.gdb_support = options.debug_support;
  made.symbols = kernels::driver_symbols();
  return made;
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

std::string key_of(const jit::EngineOptions& options,
                   const support::ObjectCacheOptions& disk) {
  std::string key(cpu_level_name(options.cpu_level));
  const auto add = [&](const std::string& text) { key += '\0' + text; };
  add(disk.folder ? disk.folder->string() : "");
  add(options.dump_folder);
  for (const auto& pack : disk.packs) add(pack.string());
  return key + (options.gdb_support ? "d" : "") +
         (options.tune_for_host ? "" : "p");
}

}  // namespace

Engine::Engine(support::ObjectCacheOptions disk,
               const jit::EngineOptions& options)
    : disk_(std::move(disk)),
      compiler_(options),
      // A dump needs the compilation to happen.
      cache_(compiler_, options.dump_folder.empty() ? &disk_ : nullptr,
             kCodeBytes) {}

Engine& Engine::shared(const CompileOptions& options) {
  const jit::EngineOptions made = engine_options(options);
  support::ObjectCacheOptions disk = disk_options(options);
  const std::string key = key_of(made, disk);
  // Never destroyed: code may run until the process ends.
  static std::mutex* const mutex = new std::mutex;
  static auto* const engines = new std::map<std::string, Engine*>;
  std::lock_guard lock(*mutex);
  Engine*& engine = (*engines)[key];
  if (!engine) engine = new Engine(std::move(disk), made);
  return *engine;
}

size_t write_kernel_pack(const std::string& cache_folder,
                         const std::string& file) {
  return support::write_object_pack(cache_folder, file);
}

}  // namespace fxjit
