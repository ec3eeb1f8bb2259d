// The compiled shapes of one module: look-ups are wait-free for callers while
// one thread at a time adds and drops entries. Bounded in bytes.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/compile/compiled_shape.h"
#include "src/support/threads/section.h"

namespace fxjit {

class ShapeTable {
 public:
  explicit ShapeTable(size_t memory_cap);
  ~ShapeTable();
  ShapeTable(const ShapeTable&) = delete;
  ShapeTable& operator=(const ShapeTable&) = delete;

  // Null when the inputs have no entry.
  std::shared_ptr<const CompiledShape> find(
      std::span<const Value> inputs) const;

  // Adds an entry for inputs with this hash and drops the least recently used
  // ones beyond the cap (never the new one). Dropped entries live on while
  // calls use them. Takes as long for the thousandth entry as for the tenth,
  // but for the search of one to drop.
  void add(size_t hash, std::shared_ptr<const CompiledShape> shape);

  // Drops all entries.
  void clear();

  // Least recently used first.
  std::vector<std::shared_ptr<const CompiledShape>> all() const;

 private:
  struct Entry {
    size_t hash = 0;
    std::shared_ptr<const CompiledShape> shape;
    size_t bytes = 0;  // As last asked for; guarded by mutex_.
    mutable std::atomic<uint64_t> last_use{0};
  };
  // Entries whose hashes end alike. Never changed: replaced as a whole.
  using Bucket = std::vector<std::shared_ptr<const Entry>>;
  static constexpr size_t kBuckets = 256;

  const Entry* find_entry(std::span<const Value> inputs) const;
  void refresh_bytes();
  void drop_over_cap(const Entry* keep);
  void erase(size_t index);
  void replace_bucket(size_t hash, std::unique_ptr<const Bucket> bucket);
  void wait_for_readers() const;

  const size_t memory_cap_;
  mutable std::mutex mutex_;  // Writers; guards the next three.
  std::vector<std::shared_ptr<Entry>> entries_;
  size_t total_bytes_ = 0;
  size_t next_refresh_ = 0;
  // Readers are counted while they look up, so that a writer knows when an old
  // bucket is free to go.
  mutable std::atomic<int64_t> readers_{0};
  std::array<std::atomic<const Bucket*>, kBuckets> buckets_{};
  // The only entry, which needs no hash to be found by.
  std::atomic<const Entry*> lone_{nullptr};
  mutable std::atomic<uint64_t> clock_{0};
  // A reader that stayed in the parent never ends.
  const support::ForkReset fork_reset_{
      [](void* self) { static_cast<ShapeTable*>(self)->readers_ = 0; }, this};
};

}  // namespace fxjit
