// Compiled code by key: in memory while it is used or fits, on disk between
// processes, else compiled. Called for each kernel of a program; knows nothing
// of kernels but their key text.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "jit/engine/compiler.h"
#include "src/support/disk/object_cache.h"

namespace fxjit::jit {

struct CodeCacheStats {
  uint64_t memory_hits = 0;
  uint64_t disk_hits = 0;
  uint64_t compiles = 0;
  uint64_t bytes_kept = 0;  // Code that the cache itself keeps alive.
};

// Thread-safe. Two threads that ask for the same key compile it once.
class CodeCache {
 public:
  using Builder = std::function<IrModule()>;

  // `disk` may be null and must outlive the cache, as must `compiler`. Code
  // beyond `max_bytes`, least recently asked for first, lives only as long as
  // its other owners.
  CodeCache(const Compiler& compiler, support::ObjectCache* disk,
            uint64_t max_bytes);

  // The code of `key_text`, which must tell apart all kernels;
  // the compiler's code_key is added. `build` is called on a miss, from this
  // thread. Sets `fresh` when the code was not in memory and this call brought
  // it there. Throws what `build` and the compiler throw, to every thread that
  // waits.
  std::shared_ptr<const CompiledCode> get(std::string_view key_text,
                                          const Builder& build,
                                          bool* fresh = nullptr);

  CodeCacheStats stats() const;

 private:
  using Code = std::shared_ptr<const CompiledCode>;
  using Key = support::CacheKey;

  struct Entry {
    std::weak_ptr<const CompiledCode> live;
    Code kept;                     // Null once over the bound.
    std::list<Key>::iterator use;  // Place in uses_, while kept.
    std::shared_future<Code> pending;
  };

  Code find(const Key& key, std::promise<Code>& promise,
            std::shared_future<Code>& pending);
  Code make(const Key& key, const Key& portable, const Builder& build);
  Code from_disk(const Key& key, const Key& portable);
  void publish(const Key& key, const Code& code);
  void keep(Entry& entry, const Key& key, const Code& code);
  void drop_over_bound(std::vector<Code>& dropped);
  void forget_dead_keys();
  void forget(const Key& key);

  const Compiler& compiler_;
  const std::string code_key_;  // The compiler's.
  support::ObjectCache* disk_;
  const uint64_t max_bytes_;

  mutable std::mutex mutex_;  // Guards what follows; not held while compiling.
  std::map<Key, Entry> entries_;
  size_t keys_left_ = 0;  // When dead ones were last forgotten.
  std::list<Key> uses_;  // Most recent first.
  CodeCacheStats stats_;
};

}  // namespace fxjit::jit
