#include "jit/engine/code_cache.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "jit/engine/ir_module.h"

namespace fxjit::jit {
CodeCache::CodeCache(const Compiler& compiler, support::ObjectCache* disk,
                     uint64_t max_bytes)
    : compiler_(compiler),
      code_key_(compiler.code_key()),
      disk_(disk),
      max_bytes_(max_bytes) {}

std::shared_ptr<const CompiledCode> CodeCache::get(std::string_view key_text,
                                                   const Builder& build,
                                                   bool* fresh) {
  const auto key_with = [&](const std::string& compiler) {
    return support::make_cache_key(compiler + "\n" + std::string(key_text));
  };
  const Key key = key_with(code_key_);
  std::promise<Code> promise;
  std::shared_future<Code> pending;
  if (Code code = find(key, promise, pending)) return code;
  if (pending.valid()) return pending.get();
  try {
    Code code = make(key, key_with(compiler_.portable_code_key()), build);
    publish(key, code);
    promise.set_value(code);
    if (fresh) *fresh = true;
    return code;
  } catch (...) {
    forget(key);
    promise.set_exception(std::current_exception());
    throw;
  }
}

// Code that is alive; or the pending compile of another thread; or neither,
// after entering `promise` as the pending compile.
CodeCache::Code CodeCache::find(const Key& key, std::promise<Code>& promise,
                                std::shared_future<Code>& pending) {
  std::vector<Code> dropped;  // Unmaps code after the lock is released.
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = entries_[key];
  if (entry.pending.valid()) {
    pending = entry.pending;
    return nullptr;
  }
  if (Code code = entry.live.lock()) {
    ++stats_.memory_hits;
    keep(entry, key, code);
    drop_over_bound(dropped);
    return code;
  }
  entry.pending = promise.get_future().share();
  return nullptr;
}

CodeCache::Code CodeCache::make(const Key& key, const Key& portable,
                                const Builder& build) {
  // A dump is wanted for what is read from disk, too: compile it then.
  const bool use_disk =
      disk_ != nullptr && compiler_.options().dump_folder.empty();
  if (use_disk) {
    if (Code code = from_disk(key, portable)) return code;
  }
  const auto start = std::chrono::steady_clock::now();
  IrModule module = build();
  const std::chrono::duration<double, std::micro> emitting =
      std::chrono::steady_clock::now() - start;
  CompiledObject object = compiler_.compile(std::move(module));
  object.timings.emit_us = emitting.count();
  Code code = compiler_.link(object);
  if (use_disk) disk_->store(key, std::as_bytes(std::span(object.bytes)));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++stats_.compiles;
  return code;
}

CodeCache::Code CodeCache::from_disk(const Key& key, const Key& portable) {
  auto bytes = disk_->load_packed(portable);
  if (!bytes) bytes = disk_->load(key);
  if (!bytes) return nullptr;
  try {
    auto code = compiler_.link(
        {{reinterpret_cast<const char*>(bytes->data()), bytes->size()}});
    code->origin_ = CodeOrigin::disk;
    const std::lock_guard<std::mutex> lock(mutex_);
    ++stats_.disk_hits;
    return code;
  } catch (const InternalError& error) {
    // The entry passed its checksum, so compiling again will show the same
    // unless the entry was made elsewhere.
    log(LogLevel::warning,
        "[cache] an entry does not link and is compiled again: " +
            error.message());
    return nullptr;
  }
}

void CodeCache::publish(const Key& key, const Code& code) {
  std::vector<Code> dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = entries_[key];
  entry.live = code;
  entry.pending = {};
  keep(entry, key, code);
  drop_over_bound(dropped);
}

void CodeCache::keep(Entry& entry, const Key& key, const Code& code) {
  if (entry.kept != nullptr) {
    uses_.splice(uses_.begin(), uses_, entry.use);
    return;
  }
  uses_.push_front(key);
  entry.use = uses_.begin();
  entry.kept = code;
  stats_.bytes_kept += code->code_bytes();
}

// Hands over what is beyond the bound.
void CodeCache::drop_over_bound(std::vector<Code>& dropped) {
  while (stats_.bytes_kept > max_bytes_ && !uses_.empty()) {
    Entry& entry = entries_.at(uses_.back());
    uses_.pop_back();
    stats_.bytes_kept -= entry.kept->code_bytes();
    dropped.push_back(std::move(entry.kept));
    entry.kept = nullptr;
  }
  forget_dead_keys();
}

// Keys whose code is gone. It looks at all of them, and so waits until there
// are twice as many as it left the last time.
void CodeCache::forget_dead_keys() {
  constexpr size_t kFewKeys = 64;
  if (entries_.size() < std::max(kFewKeys, 2 * keys_left_)) return;
  std::erase_if(entries_, [](const auto& item) {
    return item.second.live.expired() && !item.second.pending.valid();
  });
  keys_left_ = entries_.size();
}

void CodeCache::forget(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(key);
}

CodeCacheStats CodeCache::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace fxjit::jit
