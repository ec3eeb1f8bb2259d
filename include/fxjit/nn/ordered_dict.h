// A map from names to items that keeps the order of insertion. Look-ups are
// linear while small and hashed from then on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fxjit::nn {

template <typename T>
class OrderedDict {
 public:
  using Entry = std::pair<std::string, T>;

  const T* find(std::string_view key) const {
    size_t i = position(key);
    return i == kAbsent ? nullptr : &entries_[i].second;
  }
  T* find(std::string_view key) {
    size_t i = position(key);
    return i == kAbsent ? nullptr : &entries_[i].second;
  }
  // Replaces in place or appends.
  T& set(std::string_view key, T item) {
    size_t i = position(key);
    if (i == kAbsent) {
      i = entries_.size();
      entries_.emplace_back(std::string(key), std::move(item));
      if (!index_.empty() || entries_.size() > kLinear) reindex_from(i);
    } else {
      entries_[i].second = std::move(item);
    }
    return entries_[i].second;
  }
  bool erase(std::string_view key) {
    size_t i = position(key);
    if (i == kAbsent) return false;
    index_.erase(entries_[i].first);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    if (entries_.size() > kLinear)
      reindex_from(i);
    else
      index_.clear();
    return true;
  }
  // All entries; nothing is left.
  std::vector<Entry> take() {
    index_.clear();
    return std::exchange(entries_, {});
  }
  bool contains(std::string_view key) const { return position(key) != kAbsent; }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  const Entry& entry(size_t i) const { return entries_[i]; }

 private:
  static constexpr size_t kLinear = 16;
  static constexpr size_t kAbsent = static_cast<size_t>(-1);

  size_t position(std::string_view key) const {
    if (!index_.empty()) {
      auto found = index_.find(std::string(key));
      return found == index_.end() ? kAbsent : found->second;
    }
    for (size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].first == key) return i;
    return kAbsent;
  }
  void reindex_from(size_t first) {
    if (index_.empty()) first = 0;
    for (size_t i = first; i < entries_.size(); ++i)
      index_[entries_[i].first] = i;
  }

  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace fxjit::nn
