// Rows that order elements: topk.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families.h"
#include "src/ops/families/structured.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

struct TopK {
  int axis = 0;
  int64_t k = 0;
  Dims sizes;  // Of the results.
};

TopK top_k_of(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  TopK top{dim_arg(call, 2, input.dim()), call.integer(1), input.sizes()};
  const int64_t size = input.dim() == 0 ? 1 : input.size(top.axis);
  if (top.k < 0 || top.k > size)
    runtime_error("selected index k out of range");
  if (input.dim() > 0) top.sizes[top.axis] = top.k;
  return top;
}

Value infer_top_k(const OpCall& call) {
  const TopK top = top_k_of(call);
  return Value::tuple({Tensor::meta(top.sizes, call.tensor(0).dtype()),
                       Tensor::meta(top.sizes, DType::i64)});
}

// NaN is the greatest number, as in torch.
template <typename T>
bool greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

// The places of the first k numbers of a row, in order; equal ones as they
// stand.
template <typename T>
void select(const T* row, int64_t size, int64_t k, bool largest,
            std::vector<int64_t>& places) {
  places.resize(static_cast<size_t>(size));
  std::iota(places.begin(), places.end(), int64_t{0});
  std::partial_sort(places.begin(), places.begin() + k, places.end(),
                    [&](int64_t a, int64_t b) {
                      const T x = row[a], y = row[b];
                      if (largest ? greater(x, y) : greater(y, x)) return true;
                      if (largest ? greater(y, x) : greater(x, y)) return false;
                      return a < b;
                    });
}

bool is_half(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

Value eager_top_k(const OpCall& call) {
  const TopK top = top_k_of(call);
  const bool scalar = call.tensor(0).dim() == 0;
  const Value line = scalar ? fxjit::reshape(call[0], {1}) : call[0];
  const Tensor input =
      fxjit::transpose(line, top.axis, -1).as_tensor().contiguous();
  const Tensor keys = is_half(input.dtype()) ? input.to(DType::f32) : input;
  const int64_t size = input.sizes().back();
  Dims sizes = input.sizes();
  sizes[sizes.size() - 1] = top.k;
  const Tensor indices = Tensor::empty(sizes, DType::i64);
  const int64_t rows = size == 0 ? 0 : input.numel() / size;
  visit_dtype(keys.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    std::vector<int64_t> places;
    for (int64_t r = 0; r < rows; ++r) {
      if constexpr (std::is_arithmetic_v<T>)
        select(keys.data_as<T>() + r * size, size, top.k, call.flag(3), places);
      std::copy_n(places.begin(), top.k,
                  indices.data_as<int64_t>() + r * top.k);
    }
  });
  const Value picked = fxjit::gather(input, -1, indices);
  auto in_place = [&](const Value& result) {
    const Value turned = fxjit::transpose(result, top.axis, -1);
    return Value(fxjit::reshape(turned, Value(top.sizes))
                     .as_tensor()
                     .contiguous());
  };
  return Value::tuple({in_place(picked), in_place(indices)});
}

constexpr OpRow kRows[] = {
    {.name = "topk",
     .schema = "input, k, dim=-1, largest=True, sorted=True",
     .names = "torch.topk .topk aten.topk.default",
     .infer = infer_top_k,
     .eager = eager_top_k},
};

}  // namespace

std::span<const OpRow> sorting_rows() { return kRows; }

}  // namespace fxjit::ops
