// The compiled programs of one module, by the shapes of their inputs. Look-ups
// by callers are wait-free. One thread at a time adds and drops entries. The
// size of all entries is bounded, in bytes. Programs of kinds of sizes are made
// anew in about a millisecond, so that they get a share of it alone: memory
// does not grow with the number of sizes that were seen.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
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

  // The entry for these inputs, null if there is none. Thread-safe and
  // wait-free.
  std::shared_ptr<const CompiledShape> find(
      std::span<const Value> inputs) const;

  // Adds an entry for inputs with this hash. If the entries then exceed the
  // cap, or those that are remade soon their share, the least recently used
  // ones are dropped, never the new one; calls that run a dropped entry keep it
  // alive. `others` are bytes that count towards the cap beside entries. Apart
  // from the search for an entry to drop, the time does not depend on the
  // number of entries.
  void add(size_t hash, std::shared_ptr<const CompiledShape> shape,
           size_t others = 0);

  // Drops all entries.
  void clear();

  // All entries, the least recently used first.
  std::vector<std::shared_ptr<const CompiledShape>> all() const;

 private:
  struct Entry {
    size_t hash = 0;
    std::shared_ptr<const CompiledShape> shape;
    size_t bytes = 0;
    bool is_remade = false;  // CompiledShape::is_remade_soon().
    // As last asked for, in working_; guarded by mutex_.
    std::multiset<size_t>::iterator working;
    mutable std::atomic<uint64_t> last_use{0};
  };
  // The entries whose hashes end alike. A bucket is never changed, only
  // replaced as a whole, because callers read it without a lock.
  using Bucket = std::vector<std::shared_ptr<const Entry>>;
  static constexpr size_t kBuckets = 256;

  const Entry* find_entry(std::span<const Value> inputs) const;
  void refresh_working();
  void drop_over_cap(const Entry* keep, size_t others);
  // Drops the least recently used entry, of those that are remade soon alone
  // if `remade`. False if there is none but `keep`.
  bool drop_oldest(const Entry* keep, bool remade);
  void erase(size_t index);
  void replace_bucket(size_t hash, std::unique_ptr<const Bucket> bucket);
  void wait_for_readers() const;

  const size_t memory_cap_;
  mutable std::mutex mutex_;  // Writers; guards the next five.
  std::vector<std::shared_ptr<Entry>> entries_;
  size_t total_bytes_ = 0;
  size_t remade_bytes_ = 0;        // Of entries that are remade soon.
  std::multiset<size_t> working_;  // Working memory is shared by the entries.
  size_t next_refresh_ = 0;
  // The number of look-ups that run now. A writer frees an old bucket when it
  // has seen this at zero.
  mutable std::atomic<int64_t> readers_{0};
  std::array<std::atomic<const Bucket*>, kBuckets> buckets_{};
  // Set if there is exactly one entry, which is then found without hashing.
  std::atomic<const Entry*> lone_{nullptr};
  mutable std::atomic<uint64_t> clock_{0};
  // After a fork, look-ups that ran in the parent will never end in the child.
  const support::ForkReset fork_reset_{
      [](void* self) { static_cast<ShapeTable*>(self)->readers_ = 0; }, this};
};

}  // namespace fxjit
