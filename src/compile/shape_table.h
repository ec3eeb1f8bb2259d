// The compiled shapes of one module: look-ups are wait-free for callers while
// one thread at a time adds and drops entries. Bounded in bytes.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/compile/compiled_shape.h"
#include "src/support/section.h"

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
  // calls use them.
  void add(size_t hash, std::shared_ptr<const CompiledShape> shape);

  // Drops all entries.
  void clear();

  std::vector<std::shared_ptr<const CompiledShape>> all() const;

 private:
  struct Entry {
    std::shared_ptr<const CompiledShape> shape;
    mutable std::atomic<uint64_t> last_use{0};
  };
  using Table =
      std::unordered_multimap<size_t, std::shared_ptr<const Entry>>;

  void drop_over_cap(Table& table, const Entry* keep) const;
  void publish(std::unique_ptr<const Table> table);

  const size_t memory_cap_;
  mutable std::mutex mutex_;  // Writers.
  // Readers are counted while they look up, so that a writer knows when an old
  // table is free to go.
  mutable std::atomic<int64_t> readers_{0};
  std::atomic<const Table*> table_;
  mutable std::atomic<uint64_t> clock_{0};
  // A reader that stayed in the parent never ends.
  const support::ForkReset fork_reset_{
      [](void* self) { static_cast<ShapeTable*>(self)->readers_ = 0; }, this};
};

}  // namespace fxjit
