// Advanced indexing: index tensors in the place of some dims (aten.index). The
// dims of the index tensors, broadcast together, stand where the first of them
// stood, or in front when dims without an index lie between them.
#include "src/ops/families/index/index.h"

#include <algorithm>

#include "src/ops/families/index/masked_rows.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"
#include "src/tensor/memory_order.h"

namespace fxjit::ops {
namespace {

struct Plan {
  std::vector<Tensor> indices;  // Broadcast to `picked`, contiguous int64.
  Dims axes;                    // Which dim each of them indexes.
  Dims picked;                  // Common shape of the index tensors.
  int at = 0;                   // Where `picked` stands in the result.
  Dims sizes;                   // Of the result.
};

// Bytes are masks, too, as in torch.
bool is_mask(const Value& item) {
  return item.is_tensor() && (item.as_tensor().dtype() == DType::boolean ||
                              item.as_tensor().dtype() == DType::u8);
}

bool has_mask(const OpCall& call) {
  for (const Value& item : call[1].as_sequence())
    if (is_mask(item)) return true;
  return false;
}

Dims common_shape(const std::vector<Tensor>& indices) {
  Dims shape;
  std::string all;
  for (const Tensor& index : indices)
    all += (all.empty() ? "" : ", ") + index.sizes().str();
  try {
    for (const Tensor& index : indices)
      shape = broadcast_shapes(shape, index.sizes());
  } catch (const RuntimeError&) {
    throw IndexError(
        "shape mismatch: indexing tensors could not be broadcast together "
        "with shapes " +
        all);
  }
  return shape;
}

Plan plan_of(const Tensor& input, const ValueList& items) {
  Plan plan;
  if (static_cast<int>(items.size()) > input.dim())
    throw IndexError(concat("too many indices for tensor of dimension ",
                            input.dim(), " (got ", items.size(), ")"));
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_none()) continue;
    const Tensor& index = items[i].as_tensor();
    if (index.dtype() != DType::i64 && index.dtype() != DType::i32)
      throw IndexError(
          "tensors used as indices must be long, int, byte or bool tensors");
    plan.indices.push_back(index);
    plan.axes.push_back(static_cast<int64_t>(i));
  }
  plan.picked = common_shape(plan.indices);
  const bool adjacent = plan.axes.empty() ||
                        plan.axes.back() - plan.axes[0] == plan.axes.size() - 1;
  plan.at = adjacent && !plan.axes.empty() ? static_cast<int>(plan.axes[0]) : 0;
  for (int d = 0; d < input.dim(); ++d)
    if (!contains(plan.axes, d)) plan.sizes.push_back(input.sizes()[d]);
  for (int d = 0; d < plan.picked.size(); ++d)
    plan.sizes.insert(plan.at + d, plan.picked[d]);
  return plan;
}

Value infer_index(const OpCall& call) {
  if (has_mask(call))
    throw DataDependentError(
        "index: expected a result of known shape, got a bool mask; it runs "
        "eagerly only");
  const Tensor& input = call.tensor(0);
  return Tensor::meta(plan_of(input, call[1].as_sequence()).sizes,
                      input.dtype());
}

// Whether the mask has the sizes of the input's dims from `first` on.
void check_mask(const Tensor& mask, const Tensor& input, int first) {
  for (int d = 0; d < mask.dim(); ++d)
    if (first + d >= input.dim() || mask.sizes()[d] != input.sizes()[first + d])
      throw IndexError(
          concat("The shape of the mask ", mask.sizes(), " at index ", d,
                 " does not match the shape of the indexed tensor ",
                 input.sizes(), " at index ", first + d));
}

// A mask as one index tensor per dim: the positions of its true elements.
void append_positions(const Tensor& mask, const Tensor& input,
                      ValueList& items) {
  check_mask(mask, input, static_cast<int>(items.size()));
  std::vector<std::vector<int64_t>> positions(static_cast<size_t>(mask.dim()));
  const std::vector<int64_t> flags = mask.to_ints();
  const Dims steps = contiguous_strides(mask.sizes());
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    for (int d = 0; d < mask.dim(); ++d)
      positions[static_cast<size_t>(d)].push_back(static_cast<int64_t>(i) /
                                                  steps[d] % mask.sizes()[d]);
  }
  for (const auto& line : positions) items.push_back(tensor_of(line));
}

ValueList without_masks(const ValueList& items, const Tensor& input) {
  ValueList result;
  for (const Value& item : items) {
    if (is_mask(item))
      append_positions(item.as_tensor(), input, result);
    else
      result.push_back(item);
  }
  return result;
}

// Offsets into the input of each picked position.
std::vector<int64_t> picked_offsets(const Tensor& input, const Plan& plan) {
  std::vector<int64_t> offsets(static_cast<size_t>(numel(plan.picked)), 0);
  for (size_t k = 0; k < plan.indices.size(); ++k) {
    const int axis = static_cast<int>(plan.axes[static_cast<int>(k)]);
    const int64_t size = input.sizes()[axis];
    const Tensor index = Tensor::empty(plan.picked, DType::i64);
    index.copy_from(plan.indices[k]);
    for (size_t i = 0; i < offsets.size(); ++i) {
      int64_t at = index.data_as<int64_t>()[i];
      if (at < -size || at >= size)
        throw IndexError(
            "index " + std::to_string(at) + " is out of bounds for dimension " +
            std::to_string(k) + " with size " + std::to_string(size));
      if (at < 0) at += size;
      offsets[i] += at * input.strides()[axis];
    }
  }
  return offsets;
}

// Calls fn(offset) for each picked element of the tensor, in the order of the
// plan's sizes.
template <typename Fn>
void for_each_picked(const Tensor& tensor, const Plan& plan, Fn&& fn) {
  const std::vector<int64_t> offsets = picked_offsets(tensor, plan);
  Dims outer, outer_strides, inner, inner_strides;
  int kept = 0;
  for (int d = 0; d < tensor.dim(); ++d) {
    if (contains(plan.axes, d)) continue;
    const bool before = kept++ < plan.at;
    (before ? outer : inner).push_back(tensor.sizes()[d]);
    (before ? outer_strides : inner_strides).push_back(tensor.strides()[d]);
  }
  for_each_point<1>(outer, {outer_strides}, [&](const auto& start) {
    for (int64_t offset : offsets)
      for_each_point<1>(inner, {inner_strides},
                        [&](const auto& at) { fn(start[0] + offset + at[0]); });
  });
}

Tensor pick(const Tensor& input, const Plan& plan) {
  const Tensor out = Tensor::empty(plan.sizes, input.dtype());
  visit_element_size(input.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T* to = out.data_as<T>();
    const T* from = input.data_as<T>();
    for_each_picked(input, plan, [&](int64_t at) { *to++ = from[at]; });
  });
  return out;
}

// Whether one mask over the first dims is all of the index.
bool is_lone_mask(const ValueList& items) {
  return !items.empty() && is_mask(items[0]) &&
         items[0].as_tensor().dim() > 0 &&
         std::all_of(items.begin() + 1, items.end(),
                     [](const Value& item) { return item.is_none(); });
}

Value eager_index(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (const ValueList& items = call[1].as_sequence(); is_lone_mask(items)) {
    check_mask(items[0].as_tensor(), input, 0);
    return masked_rows(input, items[0].as_tensor());
  }
  return pick(input,
              plan_of(input, without_masks(call[1].as_sequence(), input)));
}

}  // namespace

// The loop reads the tensor, whose picked dims are walked by no stride of its
// own, and the indices.
Dims picked_strides(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Plan plan = plan_of(input, without_masks(call[1].as_sequence(), input));
  std::vector<Dims> operands(1);
  for (int d = 0; d < input.dim(); ++d)
    if (!contains(plan.axes, d)) operands[0].push_back(input.strides()[d]);
  for (int d = 0; d < plan.picked.size(); ++d)
    operands[0].insert(plan.at + d, 0);
  for (const Tensor& index : plan.indices) {
    const Dims spread =
        broadcast_strides(index.sizes(), index.strides(), plan.picked);
    // The dims that are not picked have one element here, and strides, too.
    Dims shape(plan.sizes.size(), 1);
    for (int d = 0; d < plan.picked.size(); ++d)
      shape[plan.at + d] = plan.picked[d];
    const Dims strides = view_strides(plan.picked, spread, shape)
                             .value_or(contiguous_strides(shape));
    operands.push_back(broadcast_strides(shape, strides, plan.sizes));
  }
  return strides_in_order(plan.sizes, loop_order(plan.sizes, operands));
}

namespace {

// index_put: the same plan, written into a copy.

void check_values(const Tensor& values, const Dims& sizes) {
  if (!(broadcast_shapes(sizes, values.sizes()) == sizes))
    runtime_error("shape mismatch: value tensor of shape ", values.sizes(),
                  " cannot be broadcast to indexing result of shape ", sizes);
}

Value infer_index_put(const OpCall& call) {
  const Tensor &input = call.tensor(0), &values = call.tensor(2);
  if (values.dtype() != input.dtype())
    runtime_error(
        "Index put requires the source and destination dtypes match, got ",
        torch_type_name(input.dtype()), " for the destination and ",
        torch_type_name(values.dtype()), " for the source.");
  if (!has_mask(call))
    check_values(values, plan_of(input, call[1].as_sequence()).sizes);
  return Tensor::meta(input.sizes(), input.dtype());
}

// Writes or adds `values`, contiguous and of the plan's sizes, to `out`.
void put(const Tensor& out, const Plan& plan, const Tensor& values, bool add) {
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    using C = std::conditional_t<std::is_integral_v<T>, uint64_t, ComputeOf<T>>;
    const T* from = values.data_as<T>();
    T* to = out.data_as<T>();
    for_each_picked(out, plan, [&](int64_t at) {
      const T value = *from++;
      to[at] =
          add ? static_cast<T>(static_cast<C>(to[at]) + static_cast<C>(value))
              : value;
    });
  });
}

void direct_index_put(const OpCall& call, std::span<const Tensor> results) {
  const Tensor &input = call.tensor(0), &out = results[0];
  if (out.data() != input.data()) out.copy_from(input);
  const Plan plan = plan_of(input, without_masks(call[1].as_sequence(), input));
  const Tensor values = Tensor::empty(plan.sizes, input.dtype());
  check_values(call.tensor(2), plan.sizes);
  values.copy_from(call.tensor(2));
  put(out, plan, values, call.flag(3));
}

constexpr OpRow kIndexRows[] = {
    direct_row("index_put", "input, indices, values, accumulate=False",
               "torch.index_put .index_put", infer_index_put, direct_index_put)
        .stating({.layout = Layout::first, .update = UpdateKind::entries}),
    made_row("index", "input, indices", "", infer_index, eager_index)
        .stating({.layout = Layout::picked}),
};

}  // namespace

std::span<const OpRow> index_rows() { return kIndexRows; }

}  // namespace fxjit::ops
