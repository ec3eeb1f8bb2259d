#include "src/ops/eager_reduce.h"

#include <limits>

#include "src/ops/prim_math.h"
#include "src/tensor/strided.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// Which dims of the input go, and the input's strides split accordingly.
struct Split {
  Dims kept_sizes, kept_strides, gone_sizes, gone_strides;
};

Split split_dims(const OpCall& call, const Tensor& self) {
  std::array<bool, kMaxRank> gone{};
  const int i = call.op.index_of("dim");
  const Value dim = i < 0 ? Value() : call.args[static_cast<size_t>(i)];
  const bool all = dim.is_none() || (dim.is_sequence() && dim.size() == 0);
  if (all) {
    gone.fill(true);
  } else {
    for (int64_t d : dim.as_dims()) {
      bool& mark = gone[static_cast<size_t>(wrap_dim(d, self.dim()))];
      if (mark)
        throw RuntimeError("dim " + std::to_string(wrap_dim(d, self.dim())) +
                           " appears multiple times in the list of dims");
      mark = true;
    }
  }
  Split split;
  for (int d = 0; d < self.dim(); ++d) {
    const bool reduced = gone[static_cast<size_t>(d)];
    (reduced ? split.gone_sizes : split.kept_sizes).push_back(self.sizes()[d]);
    (reduced ? split.gone_strides : split.kept_strides)
        .push_back(self.strides()[d]);
  }
  return split;
}

template <typename A>
A identity(Prim prim) {
  constexpr bool kFloat = std::is_floating_point_v<A>;
  switch (prim) {
    case Prim::reduce_prod:
    case Prim::reduce_all:
      return 1;
    case Prim::reduce_max:
      if constexpr (kFloat) return -std::numeric_limits<A>::infinity();
      return std::numeric_limits<A>::lowest();
    case Prim::reduce_min:
      if constexpr (kFloat) return std::numeric_limits<A>::infinity();
      return std::numeric_limits<A>::max();
    default:
      return 0;
  }
}

template <typename A>
A combine(Prim prim, A a, A b) {
  switch (prim) {
    case Prim::reduce_sum:
      return prim::add(a, b);
    case Prim::reduce_prod:
      return prim::mul(a, b);
    case Prim::reduce_max:
      return prim::maximum(a, b);
    case Prim::reduce_min:
      return prim::minimum(a, b);
    case Prim::reduce_any:
      return a != 0 || b != 0;
    case Prim::reduce_all:
      return a != 0 && b != 0;
    default:
      throw InternalError("reduce: not a reduction primitive");
  }
}

template <typename From>
void reduce_typed(Prim prim, const Tensor& self, const Split& split,
                  const Tensor& result) {
  using A = std::conditional_t<std::is_integral_v<From>, int64_t, double>;
  const From* data = self.data_as<From>();
  const LoopNest<1> inner(split.gone_sizes, {split.gone_strides});
  const LoopNest<2> outer(
      split.kept_sizes,
      {contiguous_strides(split.kept_sizes), split.kept_strides});
  const auto reduce_at = [&](int64_t start) {
    A total = identity<A>(prim);
    inner.for_each_row([&](const auto& at, const auto& step, int64_t n) {
      const From* from = data + start + at[0];
      for (int64_t i = 0; i < n; ++i)
        total = combine(prim, total, convert<A>(from[i * step[0]]));
    });
    return total;
  };
  visit_dtype(result.dtype(), [&](auto type) {
    using To = typename decltype(type)::type;
    outer.for_each_row([&](const auto& at, const auto& step, int64_t n) {
      To* out = result.data_as<To>() + at[0];
      for (int64_t i = 0; i < n; ++i)
        out[i * step[0]] = convert<To>(reduce_at(at[1] + i * step[1]));
    });
  });
}

}  // namespace

Value run_reduce(const OpCall& call) {
  const Tensor shape = infer(call).as_tensor();
  Tensor self = call.tensor(0);
  // sum(dtype=float) of integers adds floats; the reverse truncates first.
  if (is_floating(shape.dtype()) != is_floating(self.dtype()) &&
      shape.dtype() != DType::boolean)
    self = self.to(shape.dtype());
  const Split split = split_dims(call, self);
  const Prim prim = call.op.row.reduce_prim;
  if (numel(split.gone_sizes) == 0 && numel(split.kept_sizes) != 0 &&
      (prim == Prim::reduce_max || prim == Prim::reduce_min))
    call.fail("expected elements to reduce, got " + self.describe());
  const Tensor result = Tensor::empty(shape.sizes(), shape.dtype());
  visit_dtype(self.dtype(), [&](auto type) {
    reduce_typed<typename decltype(type)::type>(prim, self, split, result);
  });
  return result;
}

}  // namespace fxjit::ops
