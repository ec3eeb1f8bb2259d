// What eager functions keep from call to call: objects made for one tuple of
// shapes, the least recently used dropped beyond a fixed count. Thread-safe. An
// object that is dropped while somebody uses it lives on until they are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fxjit::kernels {

using ShapeKey = std::vector<int64_t>;

struct ShapeKeyHash {
  size_t operator()(const ShapeKey& key) const {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t part : key) {
      hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

template <typename T>
class ShapeCache {
 public:
  using Entry = std::shared_ptr<const T>;

  explicit ShapeCache(size_t capacity) : capacity_(capacity) {}

  // True when the key is known; an entry may be null ("nothing serves this").
  bool find(const ShapeKey& key, Entry* entry) {
    std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    order_.splice(order_.begin(), order_, found->second);
    *entry = found->second->second;
    return true;
  }

  void add(const ShapeKey& key, Entry entry) {
    std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found != places_.end()) {
      found->second->second = std::move(entry);
      return;
    }
    order_.emplace_front(key, std::move(entry));
    places_[key] = order_.begin();
    if (order_.size() <= capacity_) return;
    places_.erase(order_.back().first);
    order_.pop_back();
  }

  size_t size() {
    std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  using Order = std::list<std::pair<ShapeKey, Entry>>;

  const size_t capacity_;
  std::mutex mutex_;
  Order order_;  // Most recently used first.
  std::unordered_map<ShapeKey, typename Order::iterator, ShapeKeyHash> places_;
};

}  // namespace fxjit::kernels
