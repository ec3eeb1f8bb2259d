// NodePtr: a reference to a node with none of a pointer's arithmetic.
#include "fxjit/node_ptr.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <unordered_map>

#include "fxjit/functions.h"
#include "fxjit/fx/graph.h"

namespace fxjit::fx {
namespace TEST_FILE {

template <typename A, typename B>
concept Adds = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Subtracts = requires(A a, B b) { a - b; };
template <typename A, typename B>
concept Orders = requires(A a, B b) { a < b; } || requires(A a, B b) {
  a > b;
} || requires(A a, B b) { a <= b; } || requires(A a, B b) { a >= b; };
template <typename A, typename B>
concept Indexes = requires(A a, B b) { a[b]; };
template <typename A>
concept Counts = requires(A a) { ++a; } || requires(A a) { a++; } ||
                 requires(A a) { --a; } || requires(A a) { a--; } ||
                 requires(A a) { a += 1; } || requires(A a) { a -= 1; };
template <typename A>
concept Negates = requires(A a) { -a; } || requires(A a) { +a; };

// What graphs give, however it is asked for.
using Made = decltype(std::declval<Graph&>().placeholder("x"));
static_assert(std::is_same_v<Made, NodePtr>);
static_assert(
    std::is_same_v<decltype(*std::declval<const Graph&>().nodes().begin()),
                   NodePtr>);
static_assert(!std::is_convertible_v<NodePtr, Node*>);

template <typename Number>
constexpr bool kIsNoNumber =
    !Adds<NodePtr, Number> && !Adds<Number, NodePtr> &&
    !Subtracts<NodePtr, Number> && !Indexes<NodePtr, Number>;
static_assert(kIsNoNumber<int> && kIsNoNumber<long> && kIsNoNumber<size_t> &&
              kIsNoNumber<short> && kIsNoNumber<unsigned> &&
              kIsNoNumber<bool> && kIsNoNumber<char> && kIsNoNumber<double>);
static_assert(!Subtracts<NodePtr, NodePtr> && !Adds<NodePtr, NodePtr>);
static_assert(!Subtracts<NodePtr, const Node*>);
static_assert(!Subtracts<const Node*, NodePtr>);
static_assert(!Orders<NodePtr, NodePtr> && !Orders<NodePtr, const Node*> &&
              !Orders<const Node*, NodePtr>);
static_assert(!Counts<NodePtr> && !Negates<NodePtr>);
static_assert(sizeof(NodePtr) == sizeof(Node*) &&
              std::is_trivially_copyable_v<NodePtr>);

TEST(NodePtr, ComparesByTheNode) {
  Graph graph;
  const NodePtr x = graph.placeholder("x"), y = graph.placeholder("y");
  const NodePtr none;
  EXPECT_EQ(x, graph.nodes().front());
  EXPECT_NE(x, y);
  EXPECT_EQ(x, x.get());
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(x, nullptr);
  EXPECT_TRUE(x && !none);
  EXPECT_EQ((*x).name(), "x");
  const Node* const read = x;
  EXPECT_EQ(read, x);
}

TEST(NodePtr, IsAKey) {
  Graph graph;
  const NodePtr x = graph.placeholder("x"), y = graph.placeholder("y");
  const std::map<NodePtr, int> sorted{{x, 1}, {y, 2}};
  const std::unordered_map<NodePtr, int> hashed{{x, 1}, {y, 2}};
  const std::set<NodePtr> once{x, y, x};
  EXPECT_EQ(sorted.at(y), 2);
  EXPECT_EQ(hashed.at(x), 1);
  EXPECT_EQ(once.size(), 2u);
}

TEST(NodePtr, IsAnArgumentOfGraphs) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr sum = graph.call_function("operator.add", {x, 1});
  EXPECT_EQ(sum->arg(0).as_node(), x);
  EXPECT_EQ(Value(x).as_node(), x);
  EXPECT_TRUE(Value(NodePtr()).is_none());
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
