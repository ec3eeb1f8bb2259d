// Calls that a random graph grows by and that write nothing: elementwise work,
// reductions, norms, products, views, picks. Each adds one call, sometimes a
// few, and gives false when its choice did not fit the values seen so far.
#pragma once

#include "tests/compile/graph_grower.h"

namespace fxjit::testing {

class PureCalls : public GraphGrower {
 protected:
  using GraphGrower::GraphGrower;

  bool unary();
  bool binary();
  bool reduce();
  bool norm();
  bool product();
  bool view();
  bool choose();
  bool pick_rows();
  bool cast();
  bool unusual();
  bool turned();

 private:
  bool attention(const Item& x);
  bool join(const Item& x);
};

}  // namespace fxjit::testing
