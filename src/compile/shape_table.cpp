#include "src/compile/shape_table.h"

#include <algorithm>
#include <thread>

#include "src/compile/input_key.h"

namespace fxjit {

ShapeTable::ShapeTable(size_t memory_cap)
    : memory_cap_(memory_cap), table_(new Table) {}

ShapeTable::~ShapeTable() { delete table_.load(); }

std::shared_ptr<const CompiledShape> ShapeTable::find(
    std::span<const Value> inputs) const {
  std::shared_ptr<const CompiledShape> found;
  readers_.fetch_add(1);
  const Table& table = *table_.load();
  // A single shape needs no hash to be found by.
  auto [first, last] = table.size() == 1
                           ? std::pair(table.begin(), table.end())
                           : table.equal_range(hash_inputs(inputs));
  for (; first != last && !found; ++first) {
    const Entry& entry = *first->second;
    if (!entry.shape->serves(inputs)) continue;
    found = entry.shape;
    entry.last_use.store(clock_.fetch_add(1, std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  }
  readers_.fetch_sub(1);
  return found;
}

void ShapeTable::add(size_t hash, std::shared_ptr<const CompiledShape> shape) {
  std::lock_guard lock(mutex_);
  auto entry = std::make_shared<Entry>();
  entry->shape = std::move(shape);
  entry->last_use.store(clock_.fetch_add(1) + 1);
  auto table = std::make_unique<Table>(*table_.load());
  const Entry* keep = entry.get();
  table->emplace(hash, std::move(entry));
  drop_over_cap(*table, keep);
  publish(std::move(table));
}

void ShapeTable::clear() {
  std::lock_guard lock(mutex_);
  publish(std::make_unique<Table>());
}

void ShapeTable::drop_over_cap(Table& table, const Entry* keep) const {
  size_t total = 0;
  for (const auto& [hash, entry] : table) total += entry->shape->bytes();
  while (total > memory_cap_ && table.size() > 1) {
    auto oldest = table.end();
    for (auto it = table.begin(); it != table.end(); ++it)
      if (it->second.get() != keep &&
          (oldest == table.end() ||
           it->second->last_use.load() < oldest->second->last_use.load()))
        oldest = it;
    total -= oldest->second->shape->bytes();
    table.erase(oldest);
  }
}

void ShapeTable::publish(std::unique_ptr<const Table> table) {
  const std::unique_ptr<const Table> old(table_.exchange(table.release()));
  // A reader that counted itself before the exchange may still look at `old`;
  // look-ups take well below a microsecond.
  while (readers_.load() != 0) std::this_thread::yield();
}

std::vector<std::shared_ptr<const CompiledShape>> ShapeTable::all() const {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<uint64_t, std::shared_ptr<const CompiledShape>>> list;
  for (const auto& [hash, entry] : *table_.load())
    list.emplace_back(entry->last_use.load(), entry->shape);
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::shared_ptr<const CompiledShape>> shapes;
  for (auto& [use, shape] : list) shapes.push_back(std::move(shape));
  return shapes;
}

}  // namespace fxjit
