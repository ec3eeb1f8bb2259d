// Images to other sizes: rows and columns together, volumes as images first and
// then along the depth.
#include <algorithm>
#include <array>

#include "src/passes/channels_last.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// Code has all taps of a dim one after the other.
constexpr int64_t kMostTaps = 16;

// Where elements of a dim come from, as resample_op() wants it; none if the dim
// stays.
struct Along {
  Value places, weights;

  bool is_none() const { return places.is_none(); }
};

Tensor as_places(const Tensor& given) {
  const Tensor from = given.contiguous();
  const Tensor to = Tensor::empty(from.sizes(), DType::i32);
  std::transform(from.data_as<int64_t>(),
                 from.data_as<int64_t>() + from.numel(), to.data_as<int32_t>(),
                 [](int64_t place) { return static_cast<int32_t>(place); });
  return to;
}

// Rows that stay: each is its own place.
Value kept_rows(GraphBuilder& b, Size size) {
  if (!size.is_number())
    return call(b, "fxjit.resample_places",
                {"nearest", size, size, None, false, DType::f32});
  const Tensor places = Tensor::empty({1, size}, DType::i32);
  for (int64_t i = 0; i < size; ++i)
    places.data_as<int32_t>()[i] = static_cast<int32_t>(i);
  return b.constant(places, true);
}

// Tables of numbers are constants already, of the types that code reads.
bool is_made(const GraphBuilder& b, const Value& table, std::string_view row,
             DType dtype) {
  if (b.is_constant(table)) return val_of(table).dtype() == dtype;
  return table.is_proxy() &&
         GraphBuilder::node_of(table)->called_op() == &ops::get_op(row);
}

// False for tables that only a call knows.
bool read_tables(GraphBuilder& b, const Value& places, const Value& weights,
                 Along& along) {
  if (is_made(b, places, "fxjit.resample_places", DType::i32)) {
    if (!weights.is_none() &&
        !is_made(b, weights, "fxjit.resample_weights", DType::f32))
      return false;
    along = {places, weights};
    return true;
  }
  const Tensor* const known = b.constant_of(places);
  if (!known || known->size(0) > kMostTaps) return false;
  along.places = b.constant(as_places(*known), true);
  if (const Tensor* const factors = b.constant_of(weights))
    along.weights = b.constant(factors->contiguous(), true);
  return !along.weights.is_none() || weights.is_none();
}

// [N, C, H, W] to other heights and widths.
Value resized(GraphBuilder& b, Value x, Along rows, const Along& columns) {
  if (rows.is_none() && columns.is_none()) return x;
  const Tensor image = val_of(x);
  const bool inner = is_channels_last(image);
  if (!inner) x = with_last_dim_dense(b, x);
  if (rows.is_none()) rows.places = kept_rows(b, image.size(2));
  const Value result = b.call(
      resample_op(),
      {x, rows.places, rows.weights, columns.places, columns.weights, inner});
  return inner ? channels_to_front(b, result) : result;
}

// `x` with its dims in order of memory as these sizes, [N, C, H, W] again where
// channels are innermost.
Value reshaped(GraphBuilder& b, const Value& x, const Dims& sizes, bool inner) {
  if (!inner) return call(b, "reshape", {x, sizes});
  Dims back = sizes;
  back.erase(1);
  back.push_back(sizes[1]);
  return channels_to_front(b,
                           call(b, "reshape", {channels_to_back(b, x), back}));
}

// [N, C, D, H, W].
Value resized_volume(GraphBuilder& b, const Value& x,
                     const std::array<Along, 3>& along) {
  const Dims from = val_of(x).sizes();
  const bool inner = is_channels_last(val_of(x));
  const Size n = from[0], c = from[1], d = from[2];
  const Value slices = reshaped(b, x,
                                inner ? Dims{n * d, c, from[3], from[4]}
                                      : Dims{n, c * d, from[3], from[4]},
                                inner);
  const Value images = resized(b, slices, along[1], along[2]);
  const Size height = val_of(images).size(2), width = val_of(images).size(3);
  const Value lines = resized(
      b, reshaped(b, images, {n, c, d, height * width}, inner), along[0], {});
  return reshaped(b, lines, {n, c, val_of(lines).size(2), height, width},
                  inner);
}

}  // namespace

Value lower_resample(GraphBuilder& b, const ops::Op&, const ValueList& args) {
  if (!args[0].is_proxy()) return {};
  const Value& input = args[0];
  const Tensor x = val_of(input);
  const DType dtype = x.dtype();
  const bool has_code =
      dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  if (!has_code || x.numel() == 0 || x.dim() < 3 || x.dim() > 5) return {};
  // Half types are copied as they are, if not element by element.
  const bool sums = std::ranges::any_of(
      args[3].as_sequence(), [](const Value& w) { return !w.is_none(); });
  if (dtype != DType::f32 && !sums && is_channels_last(x)) return {};
  std::array<Along, 3> along;  // Of depth, height and width.
  for (size_t i = 0; i < args[1].size(); ++i) {
    const int dim = wrap_dim(args[1].at(i).as_int(), x.dim());
    if (dim < 2 || !all_of_type({args[3].at(i)}, DType::f32)) return {};
    Along& of_dim = along[static_cast<size_t>(dim + 3 - x.dim())];
    if (!read_tables(b, args[2].at(i), args[3].at(i), of_dim)) return {};
  }
  Value result;
  if (x.dim() == 5)
    result = resized_volume(b, input, along);
  else if (x.dim() == 4)
    result = resized(b, input, along[1], along[2]);
  else
    result =
        call(b, "squeeze",
             {resized(b, call(b, "unsqueeze", {input, 2}), {}, along[2]), 2});
  return dtype == DType::f32 ? result : call(b, "cast", {result, dtype});
}

Value lower_resize(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (!args[0].is_proxy()) return {};
  const Tensor x = val_of(args[0]);
  const bool picks = args[4].as_string().starts_with("nearest");
  ValueList places, weights;
  for (size_t i = 0; i < args[1].size(); ++i) {
    const int dim = wrap_dim(args[1].at(i).as_int(), x.dim());
    const ValueList table{args[4],       x.size(dim), args[2].at(i),
                          args[3].at(i), args[5],     DType::f32};
    places.push_back(call(b, "fxjit.resample_places", table));
    weights.push_back(picks ? None : call(b, "fxjit.resample_weights", table));
  }
  return lower_resample(
      b, op, {args[0], args[1], Value::tuple(places), Value::tuple(weights)});
}

}  // namespace fxjit::passes
