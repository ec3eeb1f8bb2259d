#include "src/ops/families/index/gather_loops.h"

#include <cstring>

#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {
namespace {

template <typename T>
void copy_line(const T* from, const Dims& sizes, const Dims& strides, T* to) {
  const LoopNest<1> nest(sizes, {strides});
  nest.for_each_row([&](const auto& at, const auto& step, int64_t n) {
    const T* line = from + at[0];
    if (step[0] == 1) {
      std::memcpy(to, line, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = line[i * step[0]];
    }
    to += n;
  });
}

}  // namespace

void out_of_bounds(int64_t index, int axis, int64_t size) {
  runtime_error("index ", index, " is out of bounds for dimension ", axis,
                " with size ", size);
}

Dims strides_without(const Tensor& tensor, int axis, int rank) {
  Dims strides = tensor.strides();
  strides.resize(rank);
  if (rank > 0 && axis < rank) strides[axis] = 0;
  return strides;
}

void check_lines(const char* op, const Tensor& input, const Tensor& index,
                 int axis) {
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32)
    runtime_error(op, "(): Expected dtype int32/int64 for index");
  if (std::max(index.dim(), 1) != std::max(input.dim(), 1))
    runtime_error(
        "Index tensor must have the same number of dimensions as "
        "input tensor");
  for (int d = 0; d < input.dim(); ++d)
    if (d != axis && index.sizes()[d] > input.sizes()[d])
      runtime_error("Size does not match at dimension ", d, " expected index ",
                    index.sizes(), " to be no larger than self ", input.sizes(),
                    " apart from dimension ", axis);
}

bool pick_rows(const Tensor& input, int axis, const Tensor& indices, bool wrap,
               const Tensor& out) {
  const int64_t rows = input.sizes()[axis], stride = input.strides()[axis];
  const int64_t* index = indices.data_as<int64_t>();
  const int64_t count = indices.numel();
  for (int64_t i = 0; i < count; ++i)
    if (index[i] >= rows || index[i] < (wrap ? -rows : 0)) return false;
  Dims outer, outer_strides, inner, inner_strides;
  for (int d = 0; d < input.dim(); ++d) {
    if (d == axis) continue;
    (d < axis ? outer : inner).push_back(input.sizes()[d]);
    (d < axis ? outer_strides : inner_strides).push_back(input.strides()[d]);
  }
  const int64_t row_elements = numel(inner);
  if (row_elements == 0) return true;
  visit_element_size(input.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T* to = out.data_as<T>();
    for_each_point<1>(outer, {outer_strides}, [&](const auto& at) {
      for (int64_t i = 0; i < count; ++i, to += row_elements) {
        const int64_t row = index[i] < 0 ? index[i] + rows : index[i];
        copy_line(input.data_as<T>() + at[0] + row * stride, inner,
                  inner_strides, to);
      }
    });
  });
  return true;
}

void pick_along(const Tensor& input, int axis, const Tensor& index,
                const Tensor& out) {
  const int64_t size = axis_size(input, axis);
  const int64_t stride = axis_stride(input, axis);
  const Dims& shape = index.sizes();
  visit_element_size(input.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T* to = out.data_as<T>();
    for_each_point<2>(
        shape, {strides_without(input, axis, shape.size()), index.strides()},
        [&](const auto& at) {
          const int64_t i = index.data_as<int64_t>()[at[1]];
          if (i < 0 || i >= size) out_of_bounds(i, axis, size);
          *to++ = input.data_as<T>()[at[0] + i * stride];
        });
  });
}

namespace {

template <typename T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    using C = ComputeOf<T>;
    return static_cast<T>(static_cast<C>(a) + static_cast<C>(b));
  }
}

template <typename T>
T product_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    using C = ComputeOf<T>;
    return static_cast<T>(static_cast<C>(a) * static_cast<C>(b));
  }
}

template <typename T, typename Fn>
void combine_row(const T* from, int64_t from_step, T* to, int64_t to_step,
                 int64_t n, const Fn& combined) {
  if (from_step == 1 && to_step == 1)
    for (int64_t i = 0; i < n; ++i) to[i] = combined(to[i], from[i]);
  else
    for (int64_t i = 0; i < n; ++i)
      to[i * to_step] = combined(to[i * to_step], from[i * from_step]);
}

// `n` elements that share an index: a row of each.
template <typename T>
void put_row(const T* from, int64_t from_step, Put how, T* to, int64_t to_step,
             int64_t n) {
  switch (how) {
    case Put::copy:
      if (from_step == 1 && to_step == 1)
        std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
      else
        for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
      break;
    case Put::add:
      combine_row(from, from_step, to, to_step, n, sum_of<T>);
      break;
    case Put::multiply:
      combine_row(from, from_step, to, to_step, n, product_of<T>);
      break;
  }
}

}  // namespace

void put_along(const Tensor& source, int axis, const Tensor& index, Put how,
               const Tensor& out) {
  const int64_t size = axis_size(out, axis), stride = axis_stride(out, axis);
  const Dims& shape = index.sizes();
  const LoopNest<3> nest(shape, {strides_without(out, axis, shape.size()),
                                 index.strides(), source.strides()});
  const int64_t* places = index.data_as<int64_t>();
  const auto place = [&](int64_t at) {
    const int64_t i = places[at];
    if (i < 0 || i >= size) out_of_bounds(i, axis, size);
    return i * stride;
  };
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T* to = out.data_as<T>();
    const T* from = source.data_as<T>();
    nest.for_each_row([&](const auto& at, const auto& step, int64_t n) {
      if (step[1] == 0)
        return put_row(from + at[2], step[2], how, to + at[0] + place(at[1]),
                       step[0], n);
      for (int64_t i = 0; i < n; ++i)
        put_row(from + at[2] + i * step[2], 1, how,
                to + at[0] + i * step[0] + place(at[1] + i * step[1]), 1, 1);
    });
  });
}

}  // namespace fxjit::ops
