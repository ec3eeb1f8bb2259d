// Padding: constants around a tensor, or its own elements mirrored, repeated or
// wrapped around.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// Pairs from the last dim backwards: up to twice as many as there are dims.
using Pads = std::vector<int64_t>;

Pads pads_of(const OpCall& call) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (!call[1].is_sequence()) call.dims(1);  // An error that says so.
  Pads pads;
  for (const Value& pad : call[1].as_sequence()) {
    if (!pad.is_int() && !pad.is_bool()) call.dims(1);
    pads.push_back(pad.as_int());
    if (pads.back() >= kLimit || pads.back() <= -kLimit)
      runtime_error(call.op.name(), ": expected numbers below 2^31, got ",
                    pads.back());
  }
  return pads;
}

int count_of(const Pads& pads) { return static_cast<int>(pads.size()); }

void check_pairs(const Tensor& input, const Pads& pads) {
  if (pads.size() % 2 != 0)
    runtime_error("Length of pad must be even but instead it equals ",
                  pads.size());
  if (count_of(pads) > 2 * input.dim())
    runtime_error(
        "Length of pad should be no more than twice the number of dimensions "
        "of the input. Pad length is ",
        pads.size(), " while the input has ", input.dim(), " dimensions.");
  for (int i = 0; i < count_of(pads) / 2; ++i) {
    const int axis = input.dim() - 1 - i;
    const Size size = input.sizes()[axis] + pads[2 * i] + pads[2 * i + 1];
    if (size < 0)
      runtime_error("The input size ", input.sizes()[axis],
                    ", plus negative padding ", pads[2 * i], " and ",
                    pads[2 * i + 1],
                    " resulted in a negative output size, which is invalid. "
                    "Check dimension ",
                    axis, " of your input.");
  }
}

// The sizes after padding, which memory must have room for.
Dims padded_sizes(const Tensor& input, const Pads& pads) {
  check_pairs(input, pads);
  Dims sizes = input.sizes();
  for (int i = 0; i < count_of(pads) / 2; ++i)
    sizes[input.dim() - 1 - i] += pads[2 * i] + pads[2 * i + 1];
  check_memory(sizes, input.dtype());
  return sizes;
}

Value block(const Tensor& like, int axis, int64_t length, const Value& fill) {
  Dims sizes = like.sizes();
  sizes[axis] = length;
  return fxjit::full(sizes, fill, like.dtype());
}

Value decompose_constant_pad(const OpCall& call) {
  const Pads pads = pads_of(call);
  Value value = call[0];
  bool copied = false;
  padded_sizes(meta_of(value), pads);
  for (int i = 0; i < count_of(pads) / 2; ++i) {
    const Tensor meta = meta_of(value);
    const int axis = meta.dim() - 1 - i;
    const int64_t before = pads[2 * i], after = pads[2 * i + 1];
    const int64_t first = std::max<int64_t>(-before, 0);
    const Size kept = meta.sizes()[axis] - first - std::max<int64_t>(-after, 0);
    if (kept < 0)
      throw NotImplementedError(
          "constant_pad_nd: expected negative padding to leave elements");
    if (before < 0 || after < 0)
      value = fxjit::narrow(value, axis, first, kept);
    ValueList parts;
    if (before > 0) parts.push_back(block(meta, axis, before, call[2]));
    parts.push_back(value);
    if (after > 0)
      parts.push_back(after == before ? parts[0]
                                      : block(meta, axis, after, call[2]));
    copied = parts.size() > 1;
    if (copied) value = fxjit::cat(Value::list(parts), axis);
  }
  return copied ? value : method(value, "clone");
}

int64_t wrapped_position(int64_t at, int64_t size) {
  return ((at % size) + size) % size;
}

// Which element stands at position `at` (negative before the start). Negative
// padding takes elements away from those that go around in a circle.
int64_t source_position(std::string_view mode, int64_t at, int64_t size,
                        int64_t before, int64_t after) {
  if (mode == "replicate") return std::clamp<int64_t>(at, 0, size - 1);
  if (mode == "circular") {
    const int64_t first = std::max<int64_t>(-before, 0);
    const int64_t kept = size - first - std::max<int64_t>(-after, 0);
    return first + wrapped_position(at - first, kept);
  }
  if (at < 0) return -at;
  return at < size ? at : 2 * (size - 1) - at;
}

void check_mode(std::string_view mode, int64_t before, int64_t after,
                const Tensor& input, int axis) {
  const int64_t size = input.sizes()[axis];
  const int64_t most = std::max(before, after);
  if (mode == "reflect" && most >= size)
    runtime_error(
        "Padding size should be less than the corresponding input dimension, "
        "but got: padding (",
        before, ", ", after, ") at dimension ", axis, " of input ",
        input.sizes());
  if (mode == "circular" && most > size)
    runtime_error("Padding value causes wrapping around more than once.");
  const int64_t least = std::min(before, after);
  if (mode == "circular" && most > 0 && least <= -size)
    runtime_error("Padding of ", before, " and ", after, " at dimension ", axis,
                  " of input ", input.sizes(), " leaves nothing to repeat");
  if (size == 0)
    runtime_error("Expected a non-empty dimension ", axis,
                  " to pad, got input of size ", input.sizes());
}

Value padded_by_index(const OpCall& call, std::string_view mode) {
  const Pads pads = pads_of(call);
  Value value = call[0];
  bool copied = false;
  const Dims result = padded_sizes(meta_of(value), pads);
  for (int i = 0; i < count_of(pads) / 2; ++i) {
    const Tensor meta = meta_of(value);
    const int axis = meta.dim() - 1 - i;
    const int64_t before = pads[2 * i], after = pads[2 * i + 1];
    if (before == 0 && after == 0) continue;
    check_mode(mode, before, after, meta, axis);
    const int64_t size = meta.sizes()[axis];
    if (numel(result) == 0) continue;
    std::vector<int64_t> positions;
    for (int64_t at = -before; at < size + after; ++at)
      positions.push_back(source_position(mode, at, size, before, after));
    value = fxjit::index_select(value, axis, tensor_of(positions));
    copied = true;
  }
  if (numel(result) == 0) return fxjit::zeros(result, meta_of(value).dtype());
  return copied ? value : method(value, "clone");
}

Value decompose_pad(const OpCall& call) {
  if (call[1].is_sequence() && call[1].size() % 2 != 0)
    runtime_error("Padding length must be divisible by 2");
  const std::string_view mode = call[2].as_string();
  if (mode == "constant")
    return call_row("constant_pad_nd",
                    {call[0], call[1], call.has(3) ? call[3] : Value(0)});
  if (mode == "reflect" || mode == "replicate" || mode == "circular") {
    if (call.has(3) && !same(call[3], 0))
      runtime_error("Padding mode \"", mode,
                    "\" doesn't take in value argument");
    return padded_by_index(call, mode);
  }
  throw NotImplementedError("Unrecognised padding mode " + std::string(mode));
}

Layout layout_of_pad(const OpCall& call) {
  const Value& mode = call[2];
  if (!mode.is_string() || mode.as_string() == "constant")
    return Layout::padded;
  return mode.as_string() == "circular" ? Layout::plain : Layout::volume;
}

constexpr OpRow kPaddingRows[] = {
    composed_row("pad", "input, pad, mode='constant', value=None", "F.pad!",
                 decompose_pad)
        .stating({.layout_of = layout_of_pad, .numbers = {"value"}}),
    composed_row("constant_pad_nd", "input, pad, value=0",
                 "torch.constant_pad_nd", decompose_constant_pad)
        .stating({.layout = Layout::padded, .numbers = {"value"}}),
};

}  // namespace

std::span<const OpRow> padding_rows() { return kPaddingRows; }

}  // namespace fxjit::ops
