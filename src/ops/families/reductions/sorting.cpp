// Rows that order elements: topk, sort, argsort. NaN is the greatest number, as
// in torch; equal elements stay in their order.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

using Results = std::span<const Tensor>;

// Up to this many places are kept in order while a line is read.
constexpr int64_t kKept = 64;
// Elements compared at once with the least one kept.
constexpr int64_t kBlock = 64;

// Whether `a` goes before `b`, which is so of no two equal numbers.
template <typename T>
struct Before {
  bool largest;

  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a) || std::isnan(b))
        return largest ? std::isnan(a) && !std::isnan(b)
                       : std::isnan(b) && !std::isnan(a);
    return largest ? a > b : a < b;
  }

  // Whether any of a block may go before `last`: a loop without branches.
  bool any_in(const T* block, T last) const {
    bool any = false;
    if (largest) {
      for (int64_t i = 0; i < kBlock; ++i) any |= !(block[i] <= last);
      return any;
    }
    for (int64_t i = 0; i < kBlock; ++i) any |= !(block[i] >= last);
    return any;
  }
};

// The first k places of a line in order, k at most kKept.
template <typename T>
void keep_first(const T* line, int64_t size, int64_t k, Before<T> before,
                std::vector<int64_t>& places) {
  places.clear();
  const auto insert = [&](int64_t i) {
    const auto full = static_cast<int64_t>(places.size()) == k;
    if (full && !before(line[i], line[places.back()])) return;
    if (full) places.pop_back();
    auto at = places.end();
    while (at != places.begin() && before(line[i], line[*(at - 1)])) --at;
    places.insert(at, i);
  };
  int64_t i = 0;
  for (; i < std::min(size, k); ++i) insert(i);
  for (; i + kBlock <= size; i += kBlock) {
    if (!before.any_in(line + i, line[places.back()])) continue;
    for (int64_t e = i; e < i + kBlock; ++e) insert(e);
  }
  for (; i < size; ++i) insert(i);
}

template <typename T>
void order_first(const T* line, int64_t size, int64_t k, bool largest,
                 std::vector<int64_t>& places) {
  const Before<T> before{largest};
  if (k == 0) return;
  if (k <= kKept && k < size) return keep_first(line, size, k, before, places);
  places.resize(static_cast<size_t>(size));
  std::iota(places.begin(), places.end(), int64_t{0});
  const auto order = [&](int64_t a, int64_t b) {
    if (before(line[a], line[b])) return true;
    return !before(line[b], line[a]) && a < b;
  };
  if (k < size)
    std::nth_element(places.begin(), places.begin() + k - 1, places.end(),
                     order);
  std::sort(places.begin(), places.begin() + k, order);
}

// Values and places of the first k elements of each line along `axis`.
void order_lines(const Tensor& input, int axis, int64_t k, bool largest,
                 const Tensor& values, const Tensor& indices) {
  if (values.numel() == 0) return;
  const int64_t size = axis_size(input, axis);
  Dims lines = input.sizes();
  if (input.dim() > 0) lines[axis] = 1;
  const int64_t from = axis_stride(input, axis);
  const int64_t to = axis_stride(values, axis);
  const int64_t to_index = axis_stride(indices, axis);
  visit_dtype(input.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    using Number = ComputeOf<T>;
    using C = std::conditional_t<std::is_same_v<Number, bool>, uint8_t, Number>;
    std::vector<C> line(static_cast<size_t>(size));
    std::vector<int64_t> places;
    for_each_point<3>(
        lines, {input.strides(), values.strides(), indices.strides()},
        [&](const auto& at) {
          const T* first = input.data_as<T>() + at[0];
          for (int64_t i = 0; i < size; ++i)
            line[static_cast<size_t>(i)] = static_cast<C>(first[i * from]);
          order_first<C>(line.data(), size, k, largest, places);
          for (int64_t i = 0; i < k; ++i) {
            const int64_t place = places[static_cast<size_t>(i)];
            values.data_as<T>()[at[1] + i * to] = first[place * from];
            indices.data_as<int64_t>()[at[2] + i * to_index] = place;
          }
        });
  });
}

struct TopK {
  int axis = 0;
  int64_t k = 0;
  Dims sizes;  // Of the results.
};

TopK top_k_of(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  TopK top{dim_arg(call, 2, input.dim()), call.integer(1), input.sizes()};
  const int64_t size = axis_size(input, top.axis);
  if (top.k < 0 || top.k > size) runtime_error("selected index k out of range");
  if (input.dim() > 0) top.sizes[top.axis] = top.k;
  return top;
}

Value infer_top_k(const OpCall& call) {
  const TopK top = top_k_of(call);
  return Value::tuple({Tensor::meta(top.sizes, call.tensor(0).dtype()),
                       Tensor::meta(top.sizes, DType::i64)});
}

void direct_top_k(const OpCall& call, Results results) {
  const TopK top = top_k_of(call);
  order_lines(call.tensor(0), top.axis, top.k, call.flag(3), results[0],
              results[1]);
}

void direct_sort(const OpCall& call, Results results) {
  const Tensor& input = call.tensor(0);
  const int axis = dim_arg(call, 1, input.dim());
  order_lines(input, axis, axis_size(input, axis), call.flag(2), results[0],
              results[1]);
}

Value decompose_argsort(const OpCall& call) {
  const Value sorted = call_row("sort", {call[0], call[1], call[2]});
  return getitem(sorted, 1);
}

constexpr OpRow kSortingRows[] = {
    direct_row("topk", "input, k, dim=-1, largest=True, sorted=True",
               "torch.topk .topk", infer_top_k, direct_top_k),
    direct_row("sort", "input, dim=-1, descending=False, stable=False",
               "torch.sort .sort", infer_ordered, direct_sort)
        .stating({.layout = Layout::first}),
    composed_row("argsort", "input, dim=-1, descending=False, stable=False",
                 "torch.argsort .argsort", decompose_argsort)
        .stating({.layout = Layout::first}),
};

}  // namespace

std::span<const OpRow> sorting_rows() { return kSortingRows; }

}  // namespace fxjit::ops
