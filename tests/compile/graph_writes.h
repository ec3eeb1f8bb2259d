// Calls that a random graph grows by and that write one of its values: in-place
// methods, `inplace=True`, items, scattered elements; most often through a
// view.
#pragma once

#include "tests/compile/graph_layers.h"

namespace fxjit::testing {

class WritingCalls : public LayerCalls {
 protected:
  using LayerCalls::LayerCalls;

  bool write_something();

 private:
  Item target();
  // A value, or a number at times, that broadcasts to `sizes`.
  Value operand(const Item& x);
  bool write_alone(const Item& x);
  bool write_with(const Item& x);
  bool write_as_flagged(const Item& x);
  bool write_items(const Item& x);
  bool write_picked(const Item& x);
  bool write_whole(const Item& x);
  bool write_others(const Item& x);  // Integers and truth values.
  Value random_index(const Item& x);
};

}  // namespace fxjit::testing
