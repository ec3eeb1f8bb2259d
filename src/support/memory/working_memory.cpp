#include "src/support/memory/working_memory.h"

#include <array>
#include <utility>

namespace fxjit::support {
namespace {

// What is asked for beside what is needed, when a block was too small: calls of
// growing sizes would otherwise fetch new pages each time. Pages that are never
// touched take no memory.
size_t with_reserve(size_t bytes) { return bytes + bytes / 4; }

}  // namespace

std::shared_ptr<WorkingMemory> WorkingMemory::shared() {
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new std::weak_ptr<WorkingMemory>;
  std::lock_guard lock(*mutex);
  std::shared_ptr<WorkingMemory> memory = known->lock();
  if (!memory) *known = memory = std::make_shared<WorkingMemory>();
  return memory;
}

void WorkingMemory::expect(size_t bytes) {
  std::lock_guard lock(mutex_);
  needs_.insert(bytes);
  largest_ = *needs_.rbegin();
}

void WorkingMemory::forget(size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    needs_.erase(needs_.find(bytes));
    const size_t largest = needs_.empty() ? 0 : *needs_.rbegin();
    if (largest_.exchange(largest) == largest) return;
  }
  drop_large();
}

std::unique_ptr<AlignedBlock> WorkingMemory::take(size_t bytes) {
  std::unique_ptr<AlignedBlock> block = kept_.take();
  if (!block) return std::make_unique<AlignedBlock>(bytes);
  if (block->size() >= bytes) return block;
  block.reset();  // First, so that both are never there at once.
  return std::make_unique<AlignedBlock>(with_reserve(bytes));
}

void WorkingMemory::give(std::unique_ptr<AlignedBlock> block) {
  if (block->size() <= most_kept()) kept_.give(std::move(block));
}

size_t WorkingMemory::most_kept() const { return with_reserve(largest_); }

void WorkingMemory::drop_large() {
  std::array<std::unique_ptr<AlignedBlock>, kKept> blocks;
  for (auto& block : blocks) block = kept_.take();
  for (auto& block : blocks)
    if (block) give(std::move(block));
}

}  // namespace fxjit::support
