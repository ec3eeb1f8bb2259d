#include "src/passes/part_writes.h"

#include <optional>

#include "fxjit/functions_structured.h"
#include "src/passes/graph_builder.h"

namespace fxjit::passes {
namespace {

// A range of each dim of a tensor.
struct Box {
  Dims starts, lengths;
};

// The part as ranges of a contiguous tensor of these sizes; none where it takes
// steps, crosses rows or has its dims in another order.
std::optional<Box> box_of(const Tensor& part, const Dims& sizes) {
  const Dims strides = contiguous_strides(sizes);
  Box box{Dims(sizes.size(), 0), Dims(sizes.size(), 1)};
  int64_t offset = part.offset();
  int next = 0;  // The dim of the part to be found.
  for (int d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    box.starts[d] = offset / strides[d];
    offset %= strides[d];
    while (next < part.dim() && part.size(next) == 1) ++next;
    if (next < part.dim() && part.stride(next) == strides[d])
      box.lengths[d] = part.size(next++);
    if (box.starts[d] + box.lengths[d] > sizes[d]) return std::nullopt;
  }
  while (next < part.dim() && part.size(next) == 1) ++next;
  if (next < part.dim() || offset != 0) return std::nullopt;
  return box;
}

// `inner` in place of the box, from dim `d` on; what lies before is taken.
Value joined(const Value& whole, const Box& box, const Value& inner, int d) {
  const Tensor meta = meta_of(whole).as_tensor();
  while (d < meta.dim() && box.lengths[d] == meta.size(d)) ++d;
  if (d == meta.dim()) return inner;
  const int64_t start = box.starts[d], length = box.lengths[d];
  const int64_t end = start + length, rest = meta.size(d) - end;
  ValueList pieces;
  if (start > 0) pieces.push_back(fxjit::narrow(whole, d, 0, start));
  pieces.push_back(
      joined(fxjit::narrow(whole, d, start, length), box, inner, d + 1));
  if (rest > 0) pieces.push_back(fxjit::narrow(whole, d, end, rest));
  return fxjit::cat(Value::list(std::move(pieces)), d);
}

Value scattered(const Value& whole, const Tensor& part, const Value& after) {
  const Tensor meta = meta_of(whole).as_tensor();
  const int64_t count = part.numel();
  const Value flat =
      function("torch.index_put",
               {fxjit::reshape(whole, {meta.numel()}),
                Value::list({Tensor::from(places_of(part), Dims{count})}),
                fxjit::reshape(after, {count})});
  return fxjit::reshape(flat, Value(meta.sizes()));
}

}  // namespace

std::vector<int64_t> places_of(const Tensor& part) {
  std::vector<int64_t> places{part.offset()};
  for (int d = 0; d < part.dim(); ++d) {
    std::vector<int64_t> along;
    along.reserve(places.size() * static_cast<size_t>(part.size(d)));
    for (const int64_t place : places)
      for (int64_t i = 0; i < part.size(d); ++i)
        along.push_back(place + i * part.stride(d));
    places = std::move(along);
  }
  return places;
}

Value with_part(const Value& whole, const Tensor& part, const Value& after) {
  const Tensor meta = meta_of(whole).as_tensor();
  if (part.numel() == 0) return whole;
  const std::optional<Box> box = box_of(part, meta.sizes());
  return box ? joined(whole, *box, fxjit::reshape(after, Value(box->lengths)),
                      0)
             : scattered(whole, part, after);
}

}  // namespace fxjit::passes
