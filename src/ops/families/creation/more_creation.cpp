// Tensors from Python's numbers and lists, index grids, windows.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families/creation/creation.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/tensor/exact_int.h"

namespace fxjit::ops {
namespace {

// Shape, type and elements of nested sequences.
class Nested {
 public:
  explicit Nested(const Value& data) {
    for (const Value* level = &data; level->is_sequence();
         level = &level->at(0)) {
      sizes_.push_back(static_cast<int64_t>(level->size()));
      if (level->size() == 0) break;
    }
    check(data, 0);
  }

  const Dims& sizes() const { return sizes_; }
  DType dtype() const {
    if (leaves_.empty() || floats_) return DType::f32;
    return ints_ ? DType::i64 : DType::boolean;
  }

  Tensor tensor(DType dtype) const {
    const Tensor out = Tensor::empty(sizes_, dtype);
    visit_dtype(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      for (size_t i = 0; i < leaves_.size(); ++i)
        out.data_as<T>()[i] = leaves_[i]->is_float()
                                  ? convert<T>(leaves_[i]->as_double())
                                  : convert<T>(leaves_[i]->as_int());
    });
    return out;
  }

 private:
  void check(const Value& value, int depth) {
    if (depth == sizes_.size()) return add(value);
    const auto expected = sizes_[depth];
    const auto got =
        value.is_sequence() ? static_cast<int64_t>(value.size()) : int64_t{-1};
    if (got < 0)
      throw TypeError("expected sequence object with len >= 0 or scalar");
    if (got != expected)
      throw ValueError(concat("expected sequence of length ", expected,
                              " at dim ", depth, " (got ", got, ")"));
    for (const Value& item : value.as_sequence()) check(item, depth + 1);
  }

  void add(const Value& leaf) {
    if (!leaf.is_number()) refuse(leaf);
    floats_ |= leaf.is_float();
    ints_ |= leaf.is_int();
    leaves_.push_back(&leaf);
  }

  [[noreturn]] static void refuse(const Value& leaf) {
    if (leaf.is_string()) throw TypeError("new(): invalid data type 'str'");
    runtime_error("Could not infer dtype of ", leaf.kind_name());
  }

  Dims sizes_;
  std::vector<const Value*> leaves_;
  bool floats_ = false, ints_ = false;
};

// Tensors of one element in a list count as numbers; to know them is to run.
Value with_numbers(const Value& data) {
  return map_leaves(data, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& tensor = leaf.as_tensor();
    if (tensor.is_meta())
      throw NotImplementedError(
          "tensor: expected numbers, got a tensor in a list; it runs eagerly "
          "only");
    if (tensor.numel() != 1)
      throw ValueError(
          "only one element tensors can be converted to Python scalars");
    return method(tensor, "item");
  });
}

Value infer_tensor(const OpCall& call) {
  if (call[0].is_tensor())
    return Tensor::meta(call.tensor(0).sizes(),
                        options_dtype(call, 1, call.tensor(0).dtype()));
  const Value data = with_numbers(call[0]);
  const Nested nested(data);
  return Tensor::meta(nested.sizes(), options_dtype(call, 1, nested.dtype()));
}

Value eager_tensor(const OpCall& call) {
  if (call[0].is_tensor()) {
    const Tensor& given = call.tensor(0);
    const DType dtype = options_dtype(call, 1, given.dtype());
    return dtype == given.dtype() ? given.clone() : given.to(dtype);
  }
  const Value data = with_numbers(call[0]);
  const Nested nested(data);
  return nested.tensor(options_dtype(call, 1, nested.dtype()));
}

Value copied(const OpCall& call, size_t data, DType dtype) {
  return function("torch.tensor", {call[data]}, {{"dtype", dtype}});
}

// In a graph: a copy of a known tensor is a cast, or a clone.
Value decompose_tensor(const OpCall& call) {
  const Tensor meta = meta_of(call[0]);
  const DType dtype = options_dtype(call, 1, meta.dtype());
  if (dtype == meta.dtype()) return fxjit::clone(call[0]);
  return cast_to(call[0], dtype);
}

Value lower_tensor(const OpCall& call) {
  return call[0].is_sequence() || call[0].is_number() ? eager_tensor(call)
                                                      : decompose_tensor(call);
}

// The tensor itself where its type is the one asked for.
Value as_tensor(const OpCall& call) {
  if (!call[0].is_sequence() && !call[0].is_number())
    return call.has(1) ? cast_to(call[0], call[1].as_dtype()) : call[0];
  Kwargs kwargs;
  if (call.has(1)) kwargs.emplace_back("dtype", call[1]);
  return function("torch.tensor", {call[0]}, kwargs);
}

Value scalar_tensor(const OpCall& call) {
  return fxjit::full(Value::tuple({}), call[0],
                     options_dtype(call, 1, DType::f32));
}

Value new_tensor(const OpCall& call) {
  return copied(call, 1, options_dtype(call, 2, meta_of(call[0]).dtype()));
}

// The elements of a [rows, columns] matrix on one side of a diagonal. Row i is
// cut at column i + shift, which only rows in [begin, end) have inside of the
// matrix: rows before have no element on the left of the cut, rows after all.
struct Triangle {
  Triangle(const OpCall& call, bool is_lower)
      : rows(count_of(call, 0, "row")),
        columns(count_of(call, 1, "col")),
        shift(support::ExactInt(call.integer(2)) + (is_lower ? 1 : 0)),
        begin(std::clamp(-std::max(shift, -rows), int64_t{0}, rows)),
        end(std::clamp(columns - std::clamp(shift, columns - rows, columns),
                       begin, rows)),
        lower(is_lower) {}

  // Half-open, of the rows that have any element.
  std::pair<int64_t, int64_t> row_range() const {
    if (columns == 0) return {0, 0};
    return lower ? std::pair{begin, rows} : std::pair{int64_t{0}, end};
  }
  std::pair<int64_t, int64_t> column_range(int64_t row) const {
    const int64_t cut = row < begin ? 0 : row >= end ? columns : row + shift;
    return lower ? std::pair{int64_t{0}, cut} : std::pair{cut, columns};
  }
  int64_t size() const {
    const support::ExactInt inside = end - begin;
    const int64_t left = inside * (begin + end - 1) / 2 + inside * shift +
                         support::ExactInt(rows - end) * columns;
    if (lower) return left;
    return support::ExactInt(rows) * columns - left;
  }

  static int64_t count_of(const OpCall& call, size_t place, const char* name) {
    const int64_t count = call.integer(place);
    if (count >= 0) return count;
    runtime_error(name, " must be non-negative, got", count);
  }

  int64_t rows, columns, shift, begin, end;
  bool lower;
};

template <bool kLower>
Value eager_triangle(const OpCall& call) {
  const Triangle triangle(call, kLower);
  const int64_t size = triangle.size();
  const Tensor out = Tensor::empty({2, size}, DType::i64);
  int64_t* at_row = out.data_as<int64_t>();
  int64_t* at_column = at_row + size;
  const auto [first, last] = triangle.row_range();
  for (int64_t i = first; i < last; ++i) {
    const auto [begin, end] = triangle.column_range(i);
    at_row = std::fill_n(at_row, end - begin, i);
    std::iota(at_column, at_column + (end - begin), begin);
    at_column += end - begin;
  }
  return out.to(options_dtype(call, 3, DType::i64));
}

template <bool kLower>
Value infer_triangle(const OpCall& call) {
  const Triangle triangle(call, kLower);
  check_moderate(call, {triangle.rows, triangle.columns});
  return Tensor::meta({2, triangle.size()}, options_dtype(call, 3, DType::i64));
}

Value infer_logspace(const OpCall& call) {
  const int64_t steps = call.integer(2);
  if (steps < 0) runtime_error("number of steps must be non-negative");
  return Tensor::meta({steps}, options_dtype(call, 4, DType::f32));
}

Value eager_logspace(const OpCall& call) {
  const Tensor exponents =
      fxjit::linspace(call[0], call[1], call[2], DType::f64).as_tensor();
  const double base = call.number(3);
  for (int64_t i = 0, n = exponents.numel(); i < n; ++i)
    exponents.data_as<double>()[i] =
        std::pow(base, exponents.data_as<double>()[i]);
  return exponents.to(options_dtype(call, 4, DType::f32));
}

// A window is a function of the position in [0, 2 pi).
using Window = double (*)(double angle);

double hann(double angle) { return 0.5 - 0.5 * std::cos(angle); }
double blackman(double angle) {
  return 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
}
double bartlett(double angle) {
  return 1 - std::abs(angle / std::numbers::pi - 1);
}
double hamming(double angle) { return 0.54 - 0.46 * std::cos(angle); }

Value infer_window(const OpCall& call) {
  const int64_t length = call.integer(0);
  if (length < 0)
    runtime_error(
        call.op.name(),
        " requires non-negative window_length, got window_length=", length);
  return Tensor::meta({length}, options_dtype(call, 2, DType::f32));
}

template <Window kWindow>
Value eager_window(const OpCall& call) {
  const Tensor shape = infer_window(call).as_tensor();
  const int64_t n = shape.numel();
  const Tensor values = Tensor::full({n}, 1, DType::f64);
  const auto steps = static_cast<double>(call.flag(1) ? n : n - 1);
  if (n > 1)
    for (int64_t i = 0; i < n; ++i)
      values.data_as<double>()[i] =
          kWindow(2 * std::numbers::pi * static_cast<double>(i) / steps);
  return values.to(shape.dtype());
}

constexpr OpRow kMoreCreationRows[] = {
    made_row("tensor", "data, *, " FXJIT_TENSOR_OPTIONS, "torch.tensor",
             infer_tensor, eager_tensor, lower_tensor)
        .stating({.layout = Layout::first, .sizes = {SizeKind::written}}),
    composed_row("as_tensor", "data, dtype=None, device=None",
                 "torch.as_tensor torch.asarray", as_tensor)
        .stating({.aliasing = Aliasing::same_type}),
    composed_row("scalar_tensor", "s, *, " FXJIT_TENSOR_OPTIONS,
                 "torch.scalar_tensor", scalar_tensor),
    composed_row("new_tensor", "input, data, *, " FXJIT_TENSOR_OPTIONS,
                 ".new_tensor", new_tensor),
    made_row("tril_indices", "row, col, offset=0, *, " FXJIT_TENSOR_OPTIONS,
             "torch.tril_indices", infer_triangle<true>, eager_triangle<true>),
    made_row("triu_indices", "row, col, offset=0, *, " FXJIT_TENSOR_OPTIONS,
             "torch.triu_indices", infer_triangle<false>,
             eager_triangle<false>),
    made_row("logspace",
             "start, end, steps, base=10.0, *, " FXJIT_TENSOR_OPTIONS,
             "torch.logspace", infer_logspace, eager_logspace),
    made_row("hann_window",
             "window_length, periodic=True, *, " FXJIT_TENSOR_OPTIONS,
             "torch.hann_window", infer_window, eager_window<hann>),
    made_row("hamming_window",
             "window_length, periodic=True, *, " FXJIT_TENSOR_OPTIONS,
             "torch.hamming_window", infer_window, eager_window<hamming>),
    made_row("blackman_window",
             "window_length, periodic=True, *, " FXJIT_TENSOR_OPTIONS,
             "torch.blackman_window", infer_window, eager_window<blackman>),
    made_row("bartlett_window",
             "window_length, periodic=True, *, " FXJIT_TENSOR_OPTIONS,
             "torch.bartlett_window", infer_window, eager_window<bartlett>),
};

}  // namespace

std::span<const OpRow> more_creation_rows() { return kMoreCreationRows; }

}  // namespace fxjit::ops
