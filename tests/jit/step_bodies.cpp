#include "tests/jit/step_bodies.h"

#include "tests/jit/step_test_util.h"

namespace fxjit::jit::testing {

using program::RowStep;

Scalar apply(Prim prim, Scalar x) { return x.builder->apply(prim, x); }
Scalar apply(Prim prim, Scalar x, Scalar y) {
  return x.builder->apply(prim, x, y);
}
Scalar sum(Scalar x) { return apply(Prim::reduce_sum, x); }

Scalar softmax(Scalar x) {
  Scalar e = apply(Prim::exp, x - apply(Prim::reduce_max, x));
  return e / sum(e);
}

Scalar normalised(Scalar x, int64_t n) {
  Scalar centred = x - sum(x) / double(n);
  Scalar variance = sum(centred * centred) / double(n);
  return centred * apply(Prim::rsqrt, variance + 1e-5);
}

RowStep simple_rows(int64_t rows, int64_t inner, ScalarBody body) {
  RowStep step;
  step.outer = {rows};
  step.inner = inner;
  step.inputs = {row_access({inner}, 1)};
  step.outputs = {row_access({inner}, 1)};
  step.body = std::move(body);
  return step;
}

std::vector<int64_t> row_sizes() {
  std::vector<int64_t> all;
  for (int64_t n = 1; n <= 70; ++n) all.push_back(n);
  for (int64_t n : {127, 128, 129, 200, 1000, 1024}) all.push_back(n);
  return all;
}

}  // namespace fxjit::jit::testing
