// Edges between nodes and the ranges over them. Every input of a node is one
// Use, linked into its producer's list of users, so that adding and removing a
// user costs O(1) and the list keeps the order of insertion.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

#include "fxjit/node_ptr.h"

namespace fxjit::fx {

class Node;

struct Use {
  NodePtr input = nullptr;  // The producer.
  NodePtr user = nullptr;   // Null while unlinked (a node of another graph).
  Use* prev = nullptr;
  Use* next = nullptr;
};

// The users of a node, each once, in the order in which they became users. Not
// safe against changes of that list while iterating: take `list()` for that.
class UserRange {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = NodePtr;
    using difference_type = std::ptrdiff_t;
    using pointer = const NodePtr*;
    using reference = NodePtr;
    iterator() = default;
    explicit iterator(const Use* at) : at_(at) {}
    NodePtr operator*() const { return at_->user; }
    iterator& operator++() {
      at_ = at_->next;
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(iterator a, iterator b) { return a.at_ == b.at_; }

   private:
    const Use* at_ = nullptr;
  };

  UserRange(const Use* first, size_t count) : first_(first), count_(count) {}
  iterator begin() const { return iterator(first_); }
  iterator end() const { return iterator(); }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  NodePtr front() const { return first_->user; }
  std::vector<NodePtr> list() const { return {begin(), end()}; }

 private:
  const Use* first_;
  size_t count_;
};

// The distinct inputs of a node, in order of appearance in args, then kwargs.
class InputRange {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = NodePtr;
    using difference_type = std::ptrdiff_t;
    using pointer = const NodePtr*;
    using reference = NodePtr;
    iterator() = default;
    explicit iterator(const Use* at) : at_(at) {}
    NodePtr operator*() const { return at_->input; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(iterator a, iterator b) { return a.at_ == b.at_; }

   private:
    const Use* at_ = nullptr;
  };

  InputRange(const Use* first, size_t count) : first_(first), count_(count) {}
  iterator begin() const { return iterator(first_); }
  iterator end() const { return iterator(first_ + count_); }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  NodePtr operator[](size_t i) const { return first_[i].input; }
  std::vector<NodePtr> list() const { return {begin(), end()}; }

 private:
  const Use* first_;
  size_t count_;
};

}  // namespace fxjit::fx
