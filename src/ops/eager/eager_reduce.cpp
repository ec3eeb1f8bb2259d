#include "src/ops/eager/eager_reduce.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "src/ops/eager/prim_math.h"
#include "src/tensor/strided.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

using Marks = std::array<bool, kMaxRank>;

// Which dims of the input go.
Marks reduced_dims(const OpCall& call, const Tensor& self) {
  Marks gone{};
  const int i = call.op.index_of("dim");
  const Value dim = i < 0 ? Value() : call.args[static_cast<size_t>(i)];
  if (dim.is_none() || (dim.is_sequence() && dim.size() == 0)) {
    gone.fill(true);
    return gone;
  }
  for (int64_t d : dim.as_dims()) {
    bool& mark = gone[static_cast<size_t>(wrap_dim(d, self.dim()))];
    if (mark)
      throw RuntimeError("dim " + std::to_string(wrap_dim(d, self.dim())) +
                         " appears multiple times in the list of dims");
    mark = true;
  }
  return gone;
}

// Strides into the contiguous totals for the dims of the input: 0 where they
// are reduced.
Dims total_strides(const Tensor& self, const Marks& gone) {
  Dims strides(self.dim(), 0);
  int64_t step = 1;
  for (int d = self.dim() - 1; d >= 0; --d) {
    if (gone[static_cast<size_t>(d)]) continue;
    strides[d] = step;
    step *= self.sizes()[d];
  }
  return strides;
}

template <Prim kPrim, typename A>
constexpr A identity() {
  constexpr bool kFloat = std::is_floating_point_v<A>;
  using Limits = std::numeric_limits<A>;
  switch (kPrim) {
    case Prim::reduce_prod:
    case Prim::reduce_all:
      return 1;
    case Prim::reduce_max:
      return kFloat ? -Limits::infinity() : Limits::lowest();
    case Prim::reduce_min:
      return kFloat ? Limits::infinity() : Limits::max();
    default:
      return 0;
  }
}

template <Prim kPrim, typename A>
A combine(A a, A b) {
  if constexpr (kPrim == Prim::reduce_sum) return prim::add(a, b);
  if constexpr (kPrim == Prim::reduce_prod) return prim::mul(a, b);
  if constexpr (kPrim == Prim::reduce_max) return prim::maximum(a, b);
  if constexpr (kPrim == Prim::reduce_min) return prim::minimum(a, b);
  if constexpr (kPrim == Prim::reduce_any) return a != 0 || b != 0;
  if constexpr (kPrim == Prim::reduce_all) return a != 0 && b != 0;
}

// A line into one total: several partial totals hide the latency of each step.
template <Prim kPrim, typename A, typename From>
A reduce_line(A total, const From* from, int64_t step, int64_t n) {
  constexpr int kPartials = 8;
  A partial[kPartials];
  std::fill(partial, partial + kPartials, identity<kPrim, A>());
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials)
    for (int k = 0; k < kPartials; ++k)
      partial[k] = combine<kPrim>(partial[k], convert<A>(from[(i + k) * step]));
  for (; i < n; ++i)
    partial[0] = combine<kPrim>(partial[0], convert<A>(from[i * step]));
  for (A part : partial) total = combine<kPrim>(total, part);
  return total;
}

// Floats accumulate in double, but extrema need no more than their own type.
template <Prim kPrim, typename From>
using TotalOf =
    std::conditional_t<std::is_integral_v<From>, int64_t,
                       std::conditional_t<(kPrim == Prim::reduce_max ||
                                           kPrim == Prim::reduce_min) &&
                                              !std::is_same_v<From, double>,
                                          float, double>>;

// For each type of totals alone, not for each type and primitive.
template <typename A>
void store_totals(const std::vector<A>& totals, const Tensor& result) {
  visit_dtype(result.dtype(), [&](auto type) {
    using To = typename decltype(type)::type;
    std::transform(totals.begin(), totals.end(), result.data_as<To>(),
                   [](A total) { return convert<To>(total); });
  });
}

template <Prim kPrim, typename From>
void reduce_typed(const Tensor& self, const Marks& gone, const Tensor& result) {
  using A = TotalOf<kPrim, From>;
  std::vector<A> totals(static_cast<size_t>(result.numel()),
                        identity<kPrim, A>());
  const LoopNest<2> nest(self.sizes(),
                         {total_strides(self, gone), self.strides()});
  nest.for_each_row([&](const auto& at, const auto& step, int64_t n) {
    const From* from = self.data_as<From>() + at[1];
    A* total = totals.data() + at[0];
    if (step[0] == 0) {
      *total = reduce_line<kPrim>(*total, from, step[1], n);
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      total[i * step[0]] =
          combine<kPrim>(total[i * step[0]], convert<A>(from[i * step[1]]));
  });
  store_totals(totals, result);
}

template <Prim kPrim>
void reduce(const Tensor& self, const Marks& gone, const Tensor& result) {
  visit_dtype(self.dtype(), [&](auto type) {
    reduce_typed<kPrim, typename decltype(type)::type>(self, gone, result);
  });
}

void reduce(Prim prim, const Tensor& self, const Marks& gone,
            const Tensor& result) {
  switch (prim) {
    case Prim::reduce_sum:
      return reduce<Prim::reduce_sum>(self, gone, result);
    case Prim::reduce_prod:
      return reduce<Prim::reduce_prod>(self, gone, result);
    case Prim::reduce_max:
      return reduce<Prim::reduce_max>(self, gone, result);
    case Prim::reduce_min:
      return reduce<Prim::reduce_min>(self, gone, result);
    case Prim::reduce_any:
      return reduce<Prim::reduce_any>(self, gone, result);
    case Prim::reduce_all:
      return reduce<Prim::reduce_all>(self, gone, result);
    default:
      throw InternalError("reduce: not a reduction primitive");
  }
}

}  // namespace

Value run_reduce(const OpCall& call) {
  const Tensor shape = infer(call).as_tensor();
  Tensor self = call.tensor(0);
  // sum(dtype=float) of integers adds floats; the reverse truncates first.
  if (is_floating(shape.dtype()) != is_floating(self.dtype()) &&
      shape.dtype() != DType::boolean)
    self = self.to(shape.dtype());
  const Marks gone = reduced_dims(call, self);
  const Prim prim = call.op.row.reduce_prim;
  if (self.numel() == 0 && shape.numel() != 0 &&
      (prim == Prim::reduce_max || prim == Prim::reduce_min))
    call.fail("expected elements to reduce, got " + self.describe());
  const Tensor result = Tensor::empty(shape.sizes(), shape.dtype());
  reduce(prim, self, gone, result);
  return result;
}

}  // namespace fxjit::ops
