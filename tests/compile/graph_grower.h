// The tools that a random graph grows with: chance, values seen so far, calls
// that are run before they are added. Used by random_graph.cpp only.
#pragma once

#include <functional>
#include <initializer_list>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fxjit/op.h"
#include "tests/compile/graph_case.h"
#include "tests/compile/graph_values.h"

namespace fxjit::testing {

// A node with its value. Views share the memory of their base's value, so that
// writes are seen by all.
struct Item {
  fx::NodePtr node = nullptr;
  Tensor value;
  bool view = false;  // Of memory that another node made.
};

class GraphGrower {
 public:
  explicit GraphGrower(uint32_t seed);

 protected:
  int64_t pick(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(bound));
  }
  bool chance(double p) { return random_() < p * 4294967296.0; }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[pick(static_cast<int64_t>(list.size()))];
  }
  int64_t random_size();
  Dims random_sizes();
  DType random_dtype();
  int64_t random_dim(const Tensor& t);
  Value random_dims(const Tensor& t);
  Dims random_factors(int64_t count);
  Tensor random_indices(const Dims& sizes, int64_t bound, DType type);

  Item add_input(const Dims& sizes, DType dtype);
  Item add_input(const Tensor& value);
  Item add_constant(const Dims& sizes);
  Item input_or_constant(const Dims& sizes);
  // As these, of finite numbers in any case.
  Item weight(const Dims& sizes);

  // A value seen so far; later ones are likelier.
  Item any();
  Item any_float();
  // A value that broadcasts with `item`.
  Item partner(const Item& item);

  // Runs and adds a call of an op by one of torch's names for it, or of the
  // function or method (".add_") with this name; false when it does not fit.
  // Values stand in `args` as their nodes. Each tensor of a tuple that comes
  // out gets a node of its own.
  bool call(std::string_view name, ValueList args, Kwargs kwargs = {});
  // As `call`, of a name that writes its first argument.
  bool write(std::string_view name, ValueList args, Kwargs kwargs = {});
  bool depends_on_rounding(const Item& item) const {
    return rounded_.contains(item.value.storage().get());
  }
  Value values_of(const Value& arg) const;  // Nodes replaced.
  void finish();

  std::mt19937 random_;
  RandomCase case_;
  std::vector<Item> items_;
  bool large_ = false;  // A few greater sizes.

 private:
  struct Callee {
    fx::Target target;
    bool method = false;
  };

  Tensor random_values(const Dims& sizes, DType dtype);
  Tensor strided_values(const Dims& sizes, DType dtype);
  const Item* item_of(const fx::Node* node) const;
  void keep(fx::NodePtr node, const Tensor& value);
  Callee callee(std::string_view name);
  fx::NodePtr add_node(const Callee& callee, ValueList args, Kwargs kwargs);
  void keep_results(fx::NodePtr node, const Value& result);
  bool may_write(const ValueList& args) const;
  void note_rounding(const Value& args, const Value& result);

  MemoryCopies copies_;               // What items' values are made of.
  std::set<const Storage*> rounded_;  // Depends on 16-bit floats.
  std::vector<fx::NodePtr> tuples_;   // Nodes that give several tensors.
};

}  // namespace fxjit::testing
