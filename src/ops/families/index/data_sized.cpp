// Ops whose result, or its size, depends on the numbers: nonzero, unique, item,
// bincount, repeats that a tensor says.
// The interpreter computes them; compiled modules go on behind them with what
// came out.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

Value infer_unknown(const OpCall& call) {
  throw DataDependentError(
      std::string(call.op.name()) +
      ": expected a result that shapes tell, got one that depends on the "
      "data; it runs eagerly only (" +
      call.tensor(0).describe() + ")");
}

Value item(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.numel() != 1)
    runtime_error("a Tensor with ", input.numel(),
                  " elements cannot be converted to Scalar");
  if (is_floating(input.dtype())) return input.item();
  const int64_t number = *input.to(DType::i64).contiguous().data_as<int64_t>();
  return input.dtype() == DType::boolean ? Value(number != 0) : Value(number);
}

// The first place from `i` on that is set, or `size`; eight that are not at a
// time.
int64_t next_set(const bool* set, int64_t i, int64_t size) {
  static_assert(sizeof(bool) == 1);
  for (uint64_t eight = 0; i + 8 <= size; i += 8) {
    std::memcpy(&eight, set + i, sizeof eight);
    if (eight != 0) break;
  }
  while (i < size && !set[i]) ++i;
  return i;
}

// [count, rank], each column in one piece as torch has it.
Tensor places_of(const Tensor& input) {
  const Tensor flags = input.to(DType::boolean).contiguous();
  const bool* set = flags.data_as<bool>();
  const int64_t count = std::count(set, set + flags.numel(), true);
  const int rank = input.dim();
  const Tensor columns = Tensor::empty({rank, count}, DType::i64);
  auto* const to = columns.data_as<int64_t>();
  const int last = rank - 1;
  const int64_t inner = rank > 0 ? input.sizes()[last] : Size(1);
  Dims at(std::max(rank, 1), 0);  // Of the line, in all dims but the last.
  int64_t row = 0;
  for (int64_t start = 0; row < count; start += inner) {
    for (int64_t i = next_set(set + start, 0, inner); i < inner;
         i = next_set(set + start, i + 1, inner)) {
      for (int d = 0; d < last; ++d) to[d * count + row] = at[d];
      if (rank > 0) to[last * count + row] = i;
      ++row;
    }
    for (int d = last - 1; d >= 0 && ++at[d] == input.sizes()[d]; --d)
      at[d] = 0;
  }
  return columns;
}

Value nonzero(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const bool as_tuple = call.args.size() > 1 && call.flag(1);
  if (!as_tuple) return fxjit::transpose(places_of(input), 0, 1);
  return fxjit::unbind(
      places_of(input.dim() == 0 ? input.as_strided({1}, {1}, 0) : input), 0);
}

// Which rows of a matrix are alike.
struct Groups {
  std::vector<int64_t> first;  // A row of each group.
  std::vector<int64_t> of;     // The group of each row.
  std::vector<int64_t> count;
};

// Equal numbers, of which NaN is none, are of one group. `order` says in which
// order rows are compared with the one before.
template <typename T>
Groups group_rows(const T* data, int64_t width,
                  const std::vector<int64_t>& order) {
  using C = ComputeOf<T>;
  Groups groups;
  groups.of.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const T* row = data + order[i] * width;
    const bool same =
        i > 0 && std::equal(row, row + width, data + order[i - 1] * width,
                            [](T a, T b) { return C(a) == C(b); });
    if (!same) {
      groups.first.push_back(order[i]);
      groups.count.push_back(0);
    }
    ++groups.count.back();
    groups.of[static_cast<size_t>(order[i])] =
        static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

// NaN is the greatest number.
template <typename C>
bool less(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    if (a != a || b != b) return a == a;
  return a < b;
}

template <typename T>
std::vector<int64_t> sorted_rows(const T* data, int64_t count, int64_t width) {
  using C = ComputeOf<T>;
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < width; ++i) {
      const C x = C(data[a * width + i]), y = C(data[b * width + i]);
      const bool unknown = x != x && y != y;
      if (unknown || x == y) continue;
      return less(x, y);
    }
    return false;
  });
  return order;
}

Tensor tensor_of_sizes(const std::vector<int64_t>& numbers, const Dims& sizes) {
  return Tensor::from(numbers, sizes);
}

struct Wanted {
  bool sorted = false, inverse = false, counts = false;
  Value dim;
};

// torch.unique of all elements, or of the slices along `dim`.
Value unique_of(const Tensor& input, const Wanted& wanted) {
  const bool slices = !wanted.dim.is_none();
  const int axis = slices ? wrap_dim(wanted.dim.as_int(), input.dim()) : 0;
  const Tensor lines =
      (slices ? fxjit::movedim(input, axis, 0) : fxjit::flatten(input))
          .as_tensor()
          .contiguous();
  const int64_t count = lines.sizes()[0];
  Dims one = lines.sizes();
  one.erase(0);
  const int64_t width = numel(one);
  if (width == 0)
    runtime_error(
        "There are 0 sized dimensions, and they aren't selected, so unique "
        "cannot be applied");
  Groups groups;
  visit_dtype(lines.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    const T* data = lines.data_as<T>();
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (wanted.sorted) order = sorted_rows(data, count, width);
    groups = group_rows(data, width, order);
  });
  const auto found = static_cast<int64_t>(groups.first.size());
  const Value picked =
      fxjit::index_select(lines, 0, tensor_of_sizes(groups.first, {found}));
  ValueList results = {slices ? fxjit::movedim(picked, 0, axis) : picked};
  if (wanted.inverse)
    results.push_back(
        tensor_of_sizes(groups.of, slices ? Dims{count} : input.sizes()));
  if (wanted.counts) results.push_back(tensor_of_sizes(groups.count, {found}));
  return results.size() == 1 ? results[0] : Value::tuple(std::move(results));
}

// Always in order: torch promises none where it is not asked for.
Value unique(const OpCall& call) {
  return unique_of(call.tensor(0), {true, call.flag(2), call.flag(3), call[4]});
}

Value unique_consecutive(const OpCall& call) {
  return unique_of(call.tensor(0),
                   {false, call.flag(1), call.flag(2), call[3]});
}

template <typename T>
Tensor counted(const Tensor& places, int64_t count, DType dtype,
               const Tensor* weights) {
  const Tensor out = Tensor::zeros({count}, dtype);
  const auto* const at = places.data_as<int64_t>();
  for (int64_t i = 0, n = places.numel(); i < n; ++i)
    out.data_as<T>()[at[i]] += weights ? weights->data_as<T>()[i] : T{1};
  return out;
}

// How often each number from 0 to the greatest occurs, or the sums of their
// weights.
Value bincount(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const int64_t least = call.integer(2);
  if (least < 0) runtime_error("minlength should be >= 0");
  if (is_floating(input.dtype()) || input.dtype() == DType::boolean)
    no_kernel("bincount_cpu", input.dtype());
  if (input.dim() == 1 && input.numel() == 0)
    return Tensor::zeros({least}, DType::i64);
  const Tensor places = input.to(DType::i64).contiguous();
  const auto* const begin = places.data_as<int64_t>();
  const int64_t* const end = begin + places.numel();
  if (input.dim() != 1 || *std::min_element(begin, end) < 0)
    runtime_error("bincount only supports 1-d non-negative integral inputs.");
  if (call.has(1) && call.tensor(1).sizes() != input.sizes())
    runtime_error("weights should be 1-d and have the same length as input");
  const ExactInt reached = ExactInt(*std::max_element(begin, end)) + 1;
  const int64_t count = std::max<int64_t>(reached, least);
  check_memory({count}, DType::i64);
  if (!call.has(1)) return counted<int64_t>(places, count, DType::i64, nullptr);
  const DType dtype =
      call.tensor(1).dtype() == DType::f32 ? DType::f32 : DType::f64;
  const Tensor weights = call.tensor(1).to(dtype).contiguous();
  return dtype == DType::f32 ? counted<float>(places, count, dtype, &weights)
                             : counted<double>(places, count, dtype, &weights);
}

// Each place as often as its number says: [2, 0, 1] gives [0, 0, 2].
Tensor repeated_places(const Tensor& repeats) {
  if (repeats.dim() != 1)
    runtime_error("repeat_interleave only accept 1D vector as repeat");
  if (repeats.dtype() != DType::i64 && repeats.dtype() != DType::i32)
    runtime_error("repeats has to be Long or Int tensor");
  const Tensor counts = repeats.to(DType::i64).contiguous();
  ExactInt total = 0;
  for (int64_t i = 0, n = counts.numel(); i < n; ++i) {
    const int64_t count = counts.data_as<int64_t>()[i];
    if (count < 0) runtime_error("repeats can not be negative");
    total = total + count;
  }
  check_memory({total}, DType::i64);
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(int64_t{total}));
  for (int64_t i = 0, n = counts.numel(); i < n; ++i)
    places.insert(places.end(),
                  static_cast<size_t>(counts.data_as<int64_t>()[i]), i);
  return tensor_of(places).to(repeats.dtype());
}

void check_count(const OpCall& call, size_t output_size, const Tensor& places) {
  if (call.has(output_size) && call.integer(output_size) != places.numel())
    runtime_error("allocated size does not match required size");
}

Value repeat_places(const OpCall& call) {
  const Tensor places = repeated_places(call.tensor(0));
  check_count(call, 1, places);
  return places;
}

Value repeat_by(const OpCall& call) {
  const Value input = call.has(2) ? call[0] : fxjit::flatten(call[0]);
  const int axis = call.has(2) ? dim_arg(call, 2, meta_of(input).dim()) : 0;
  const int64_t size = axis_size(meta_of(input), axis);
  Tensor repeats = call.tensor(1);
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.numel() == 1))
    repeats =
        fxjit::expand(fxjit::reshape(repeats, Dims{1}), Dims{size}).as_tensor();
  else if (repeats.dim() != 1)
    runtime_error("repeats must be 0-dim or 1-dim tensor");
  if (repeats.numel() != size)
    runtime_error(
        "repeats must have the same size as input along dim, but got "
        "repeats.size(0) = ",
        repeats.numel(), " and input.size(", axis, ") = ", size);
  const Tensor places = repeated_places(repeats);
  check_count(call, 3, places);
  return fxjit::index_select(input, axis, places);
}

constexpr OpRow data_row(const char* name, const char* schema,
                         const char* names, EagerFn eager) {
  return made_row(name, schema, names, infer_unknown, eager);
}

constexpr OpRow kDataSizedRows[] = {
    data_row("item", "input", ".item", item),
    data_row("nonzero", "input, *, as_tuple=False", "torch.nonzero .nonzero",
             nonzero)
        .stating({.aliasing = Aliasing::together}),
    data_row("argwhere", "input", "torch.argwhere .argwhere", nonzero),
    data_row("unique",
             "input, sorted=True, return_inverse=False, return_counts=False, "
             "dim=None",
             "torch.functional.unique! .unique", unique),
    data_row("unique_consecutive",
             "input, return_inverse=False, return_counts=False, dim=None",
             "torch.functional.unique_consecutive! "
             ".unique_consecutive",
             unique_consecutive),
    data_row("bincount", "input, weights=None, minlength=0",
             "torch.bincount .bincount", bincount),
    data_row("fxjit.repeat_places", "input, *, output_size=None", "",
             repeat_places),
    data_row("fxjit.repeat_by", "input, repeats, dim=None, *, output_size=None",
             "", repeat_by),
};

}  // namespace

std::span<const OpRow> data_sized_rows() { return kDataSizedRows; }

}  // namespace fxjit::ops
