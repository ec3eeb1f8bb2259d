#include "src/fx/graph/string_pool.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace fxjit::fx {
namespace {

uint32_t hash_of(std::string_view text) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(text));
}

}  // namespace

size_t StringPool::find_slot(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].data) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && slot.size == text.size() &&
        std::memcmp(slot.data, text.data(), text.size()) == 0)
      return i;
    i = (i + 1) & mask;
  }
  return i;
}

void StringPool::grow() {
  constexpr size_t kFirstSlots = 64;
  std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max(kFirstSlots, old.size() * 2), Slot());
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.data) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].data) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

const char* StringPool::store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > free_bytes_) {
    const size_t bytes = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    free_ = blocks_.back().get();
    free_bytes_ = bytes;
  }
  char* const stored = free_;
  std::memcpy(stored, text.data(), text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return stored;
}

std::string_view StringPool::intern(std::string_view text, bool* added) {
  // At most half full: probes stay short.
  if (count_ * 2 >= slots_.size()) grow();
  const uint32_t hash = hash_of(text);
  Slot& slot = slots_[find_slot(text, hash)];
  *added = slot.data == nullptr;
  if (*added) {
    slot = {store(text), static_cast<uint32_t>(text.size()), hash};
    ++count_;
  }
  return {slot.data, slot.size};
}

std::string_view StringPool::intern(std::string_view text) {
  bool added = false;
  return intern(text, &added);
}

bool StringPool::contains(std::string_view text) const {
  if (slots_.empty()) return false;
  return slots_[find_slot(text, hash_of(text))].data != nullptr;
}

}  // namespace fxjit::fx
