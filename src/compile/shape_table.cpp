#include "src/compile/shape_table.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "src/compile/input_key.h"

namespace fxjit {
namespace {

// The share of the cap that programs which are remade soon may take.
constexpr size_t kRemadeShare = 32;

}  // namespace

ShapeTable::ShapeTable(size_t memory_cap) : memory_cap_(memory_cap) {}

ShapeTable::~ShapeTable() {
  for (const auto& bucket : buckets_) delete bucket.load();
}

std::shared_ptr<const CompiledShape> ShapeTable::find(
    std::span<const Value> inputs) const {
  std::shared_ptr<const CompiledShape> found;
  readers_.fetch_add(1);
  if (const Entry* const entry = find_entry(inputs)) {
    found = entry->shape;
    entry->last_use.store(clock_.fetch_add(1, std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  }
  readers_.fetch_sub(1);
  return found;
}

const ShapeTable::Entry* ShapeTable::find_entry(
    std::span<const Value> inputs) const {
  if (const Entry* const lone = lone_.load())
    return lone->shape->serves(inputs) ? lone : nullptr;
  const size_t hash = hash_inputs(inputs);
  const Bucket* const bucket = buckets_[hash % kBuckets].load();
  if (!bucket) return nullptr;
  for (const auto& entry : *bucket)
    if (entry->hash == hash && entry->shape->serves(inputs)) return entry.get();
  return nullptr;
}

void ShapeTable::add(size_t hash, std::shared_ptr<const CompiledShape> shape,
                     size_t others) {
  std::lock_guard lock(mutex_);
  auto entry = std::make_shared<Entry>();
  entry->hash = hash;
  entry->working = working_.insert(shape->working_bytes());
  entry->bytes = shape->bytes();
  entry->is_remade = shape->is_remade_soon();
  entry->shape = std::move(shape);
  entry->last_use.store(clock_.fetch_add(1) + 1);
  const Bucket* const old = buckets_[hash % kBuckets].load();
  auto bucket = std::make_unique<Bucket>(old ? *old : Bucket());
  bucket->push_back(entry);
  lone_.store(nullptr);
  replace_bucket(hash, std::move(bucket));
  total_bytes_ += entry->bytes;
  if (entry->is_remade) remade_bytes_ += entry->bytes;
  entries_.push_back(entry);
  refresh_working();
  drop_over_cap(entry.get(), others);
  if (entries_.size() == 1) lone_.store(entries_[0].get());
}

// Working memory grows with the number of calls at a time. Asking all of them
// at every addition would make it slower with each entry.
void ShapeTable::refresh_working() {
  constexpr size_t kAtOnce = 16;
  for (size_t i = 0; i < std::min(kAtOnce, entries_.size()); ++i) {
    Entry& entry = *entries_[next_refresh_++ % entries_.size()];
    working_.erase(entry.working);
    entry.working = working_.insert(entry.shape->working_bytes());
  }
}

void ShapeTable::drop_over_cap(const Entry* keep, size_t others) {
  while (remade_bytes_ > memory_cap_ / kRemadeShare &&
         drop_oldest(keep, true)) {
  }
  while (total_bytes_ + *working_.rbegin() + others > memory_cap_ &&
         drop_oldest(keep, false)) {
  }
}

bool ShapeTable::drop_oldest(const Entry* keep, bool remade) {
  size_t oldest = entries_.size();
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = *entries_[i];
    if (&entry == keep || (remade && !entry.is_remade)) continue;
    if (oldest == entries_.size() ||
        entry.last_use.load() < entries_[oldest]->last_use.load())
      oldest = i;
  }
  if (oldest == entries_.size()) return false;
  erase(oldest);
  return true;
}

void ShapeTable::erase(size_t index) {
  std::swap(entries_[index], entries_.back());
  const std::shared_ptr<Entry> entry = std::move(entries_.back());
  entries_.pop_back();
  total_bytes_ -= entry->bytes;
  if (entry->is_remade) remade_bytes_ -= entry->bytes;
  working_.erase(entry->working);
  auto bucket =
      std::make_unique<Bucket>(*buckets_[entry->hash % kBuckets].load());
  std::erase(*bucket, entry);
  replace_bucket(entry->hash, std::move(bucket));
}

void ShapeTable::clear() {
  std::lock_guard lock(mutex_);
  lone_.store(nullptr);
  std::array<const Bucket*, kBuckets> old{};
  for (size_t i = 0; i < kBuckets; ++i) old[i] = buckets_[i].exchange(nullptr);
  wait_for_readers();
  for (const Bucket* bucket : old) delete bucket;
  entries_.clear();
  working_.clear();
  total_bytes_ = remade_bytes_ = 0;
}

void ShapeTable::replace_bucket(size_t hash,
                                std::unique_ptr<const Bucket> bucket) {
  const std::unique_ptr<const Bucket> old(
      buckets_[hash % kBuckets].exchange(bucket.release()));
  wait_for_readers();
}

// A reader that counted itself before something was taken away may still look
// at it; look-ups take well below a microsecond.
void ShapeTable::wait_for_readers() const {
  while (readers_.load() != 0) std::this_thread::yield();
}

std::vector<std::shared_ptr<const CompiledShape>> ShapeTable::all() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Entry>> sorted = entries_;
  std::ranges::sort(sorted, {},
                    [](const auto& entry) { return entry->last_use.load(); });
  std::vector<std::shared_ptr<const CompiledShape>> shapes;
  for (const auto& entry : sorted) shapes.push_back(entry->shape);
  return shapes;
}

}  // namespace fxjit
