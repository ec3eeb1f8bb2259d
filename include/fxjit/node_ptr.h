// NodePtr: a reference to a node of a graph, as Python's names are. The graph
// owns the node; a NodePtr is valid as long as the node is, and may be null.
//
// It is a pointer without a pointer's arithmetic: `node + 1`, `node[1]` and
// `node < other` do not compile, where a torch.fx Node raises TypeError. A
// node's value in a graph's calls is `fx::proxy(node)`.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

namespace fxjit::fx {

class Node;

template <typename T>
concept NoOperand =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>;

class NodePtr {
 public:
  constexpr NodePtr() = default;
  constexpr NodePtr(std::nullptr_t) {}            // NOLINT
  constexpr NodePtr(Node* node) : node_(node) {}  // NOLINT

  constexpr Node* get() const { return node_; }
  constexpr Node* operator->() const { return node_; }
  constexpr Node& operator*() const { return *node_; }
  constexpr explicit operator bool() const { return node_ != nullptr; }
  // For functions that only read a node.
  constexpr operator const Node*() const { return node_; }  // NOLINT

  friend constexpr bool operator==(NodePtr a, NodePtr b) {
    return a.node_ == b.node_;
  }
  friend constexpr bool operator==(NodePtr a, const Node* b) {
    return a.node_ == b;
  }
  friend constexpr bool operator==(NodePtr a, Node* b) { return a.node_ == b; }
  friend constexpr bool operator==(NodePtr a, std::nullptr_t) {
    return a.node_ == nullptr;
  }

  // What pointers can and nodes cannot. The operators of values say more about
  // theirs.
  template <NoOperand T>
  friend void operator+(NodePtr, const T&) = delete;
  template <NoOperand T>
  friend void operator+(const T&, NodePtr) = delete;
  friend void operator+(NodePtr, NodePtr) = delete;
  template <NoOperand T>
  friend void operator-(NodePtr, const T&) = delete;
  template <NoOperand T>
  friend void operator-(const T&, NodePtr) = delete;
  friend void operator-(NodePtr, NodePtr) = delete;
  template <NoOperand T>
  friend void operator<(NodePtr, const T&) = delete;
  template <NoOperand T>
  friend void operator<(const T&, NodePtr) = delete;
  friend void operator<(NodePtr, NodePtr) = delete;
  template <NoOperand T>
  friend void operator>(NodePtr, const T&) = delete;
  template <NoOperand T>
  friend void operator>(const T&, NodePtr) = delete;
  friend void operator>(NodePtr, NodePtr) = delete;
  template <NoOperand T>
  friend void operator<=(NodePtr, const T&) = delete;
  template <NoOperand T>
  friend void operator<=(const T&, NodePtr) = delete;
  friend void operator<=(NodePtr, NodePtr) = delete;
  template <NoOperand T>
  friend void operator>=(NodePtr, const T&) = delete;
  template <NoOperand T>
  friend void operator>=(const T&, NodePtr) = delete;
  friend void operator>=(NodePtr, NodePtr) = delete;
  template <typename T>
  void operator[](const T&) const = delete;
  void operator+() const = delete;

 private:
  Node* node_ = nullptr;
};

}  // namespace fxjit::fx

template <>
struct std::hash<fxjit::fx::NodePtr> {
  size_t operator()(fxjit::fx::NodePtr node) const noexcept {
    return std::hash<const fxjit::fx::Node*>()(node.get());
  }
};

// An order for sorted containers, which says nothing of the graph's.
template <>
struct std::less<fxjit::fx::NodePtr> {
  bool operator()(fxjit::fx::NodePtr a, fxjit::fx::NodePtr b) const noexcept {
    return std::less<const fxjit::fx::Node*>()(a.get(), b.get());
  }
};
