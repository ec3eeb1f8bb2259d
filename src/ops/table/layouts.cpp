#include "src/ops/table/layouts.h"

#include <string_view>
#include <unordered_map>

#include "src/ops/table/aliasing.h"
#include "src/ops/table/layout_rules.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

struct Fact {
  const char* row;
  Layout layout;
};

// Rows of which the way they are lowered does not tell: other scalar rows are
// elementwise, all others state their layout.
constexpr Fact kFacts[] = {
    {"cast", Layout::first},
    {"clone", Layout::first},
    {"copy", Layout::first},
    {"complex", Layout::elementwise},
    {"conj", Layout::elementwise},
    {"polar", Layout::elementwise},
    {"tensor", Layout::first},
    {"prelu", Layout::first},
    {"addr", Layout::first},
    {"flip", Layout::first},
    {"sort", Layout::first},
    {"argsort", Layout::first},
    {"msort", Layout::first},
    {"index_fill", Layout::first},
    {"index_put", Layout::first},
    {"select_scatter", Layout::first},
    {"slice_scatter", Layout::first},
    {"binary_cross_entropy", Layout::first},
    {"soft_margin_loss", Layout::first},
    {"diagonal_scatter", Layout::first},
    {"_scaled_dot_product_flash_attention_for_cpu", Layout::first},
    {"masked_fill", Layout::plain},
    {"renorm", Layout::plain},
    {"rrelu", Layout::plain},
    {"log_sigmoid_forward", Layout::plain},
    {"_safe_softmax", Layout::plain},
    {"fxjit.materialize", Layout::plain},
    {"softmax", Layout::plain},
    {"softmin", Layout::plain},
    {"log_softmax", Layout::plain},
    {"_softmax", Layout::plain},
    {"_log_softmax", Layout::plain},
    {"log_sigmoid", Layout::plain},
    {"layer_norm", Layout::plain},
    {"native_layer_norm", Layout::plain},
    {"rms_norm", Layout::plain},
    {"instance_norm", Layout::plain},
    {"addbmm", Layout::plain},
    {"diag_embed", Layout::plain},
    {"kthvalue", Layout::plain},
    {"median", Layout::plain},
    {"narrow_copy", Layout::plain},
    {"_weight_norm", Layout::plain},
    {"repeat", Layout::plain},
    {"repeat_interleave", Layout::plain},
    {"tile", Layout::plain},
    {"tril", Layout::plain},
    {"triu", Layout::plain},
    {"digamma", Layout::elementwise},
    {"lgamma", Layout::elementwise},
    {"polygamma", Layout::elementwise},
    {"erfc", Layout::elementwise},
    {"erfinv", Layout::elementwise},
    {"i0", Layout::elementwise},
    {"special_erfcx", Layout::elementwise},
    {"special_i0e", Layout::elementwise},
    {"special_i1", Layout::elementwise},
    {"special_i1e", Layout::elementwise},
    {"special_ndtr", Layout::elementwise},
    {"special_ndtri", Layout::elementwise},
    {"special_log_ndtr", Layout::elementwise},
    {"special_zeta", Layout::elementwise},
    {"rsub", Layout::backwards},
    {"batch_norm", Layout::volume},
    {"group_norm", Layout::volume},
    {"aten_batch_norm", Layout::volume},
    {"_native_batch_norm_legit_no_training", Layout::volume},
    {"max_pool3d", Layout::volume},
    {"max_pool3d_with_indices", Layout::volume},
    {"channel_shuffle", Layout::image},
    {"pixel_shuffle", Layout::image},
    {"pixel_unshuffle", Layout::image},
    {"avg_pool2d", Layout::image},
    {"adaptive_avg_pool2d", Layout::image},
    {"adaptive_max_pool2d", Layout::image},
    {"fxjit.adaptive_max_places2d", Layout::image},
    {"lp_pool2d", Layout::image},
    {"max_pool2d", Layout::image},
    {"max_pool2d_with_indices", Layout::image},
    {"max_unpool2d", Layout::image},
    {"avg_pool1d", Layout::line},
    {"adaptive_avg_pool1d", Layout::line},
    {"adaptive_max_pool1d", Layout::line},
    {"fxjit.adaptive_max_places1d", Layout::line},
    {"lp_pool1d", Layout::line},
    {"max_pool1d_with_indices", Layout::line},
    {"pad", Layout::padded},
    {"constant_pad_nd", Layout::padded},
    {"interpolate", Layout::padded},
    {"upsample", Layout::padded},
    {"conv1d", Layout::filtered},
    {"conv2d", Layout::filtered},
    {"conv_transpose1d", Layout::filtered},
    {"conv_transpose2d", Layout::filtered},
    {"convolution", Layout::filtered},
    {"cat", Layout::joined},
    {"linalg_inv", Layout::columns},
    {"linalg_solve", Layout::columns},
    {"linalg_solve_triangular", Layout::columns},
    {"index", Layout::picked},
};

const std::unordered_map<std::string_view, Layout>& facts() {
  static const auto* const all = [] {
    auto* made = new std::unordered_map<std::string_view, Layout>;
    for (const Fact& fact : kFacts) made->emplace(fact.row, fact.layout);
    return made;
  }();
  return *all;
}

std::vector<Tensor> tensors_in(std::span<const Value> values) {
  std::vector<Tensor> found;
  for (const Value& value : values)
    visit_leaves(value, [&](const Value& leaf) {
      if (leaf.is_tensor()) found.push_back(leaf.as_tensor());
    });
  return found;
}

bool all_contiguous(std::span<const Value> values) {
  bool all = true;
  for (const Value& value : values)
    visit_leaves(value, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      const Tensor& t = leaf.as_tensor();
      all = all && t.strides() == contiguous_strides(t.sizes());
    });
  return all;
}

// Whether the result lies as it should without a look at the rule: what is made
// of contiguous tensors is contiguous. Strides of dims of one element count
// here: loops look at them.
bool is_settled(Layout how, const OpCall& call, const Value& result) {
  return how != Layout::columns && all_contiguous(call.args) &&
         all_contiguous(std::span<const Value>(&result, 1));
}

bool is_mode(const OpCall& call, std::string_view mode) {
  const Value& given = call[static_cast<size_t>(call.op.index_of("mode"))];
  return given.is_string() && given.as_string() == mode;
}

// Calls of some rows for which torch has another function: a power of a number,
// what is solved from the right, turns by 0 degrees and powers of 0 and 1.
bool is_plain_call(const OpCall& call) {
  const std::string_view name = call.op.name();
  if (name == "pow") return !call[0].is_tensor();
  if (name == "angle") return is_complex(call.tensor(0).dtype());
  if (name == "rot90") return call.integer(1) % 4 == 0;
  if (name == "linalg_matrix_power")
    return call.integer(1) == 0 || call.integer(1) == 1;
  if (name == "linalg_solve")
    return !call.flag(static_cast<size_t>(call.op.index_of("left")));
  return name == "pad" && is_mode(call, "circular");
}

Value shapes_of(const Value& result) {
  return map_leaves(result, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    return Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset());
  });
}

}  // namespace

Layout layout(const OpCall& call) {
  if (is_plain_call(call)) return Layout::plain;
  const std::string_view name = call.op.name();
  // It is pooling.
  if (name == "interpolate" && is_mode(call, "area")) return Layout::stated;
  if (name == "pad" && !is_mode(call, "constant")) return Layout::volume;
  if (const auto fact = facts().find(name); fact != facts().end())
    return fact->second;
  return call.op.row.lowering == Lowering::scalar ? Layout::elementwise
                                                  : Layout::stated;
}

Value laid_out(const OpCall& call, const Value& result) {
  const Layout how = layout(call);
  if (how == Layout::stated || writes_input(call) ||
      is_settled(how, call, result))
    return result;
  const std::vector<Tensor> tensors = tensors_in(call.args);
  if (tensors.empty()) return result;
  const std::vector<ResultMemory> memory = result_memory(call, result);
  size_t next = 0;
  return map_leaves(result, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    if (memory[next++].argument >= 0 || t.numel() == 0) return leaf;
    const Dims strides = strides_for(how, call, tensors, t);
    if (same_places(t.sizes(), strides, t.strides())) return leaf;
    return Tensor::meta(t.sizes(), t.dtype(), strides);
  });
}

Value put_in_layout(const OpCall& call, const Value& result) {
  const Layout how = layout(call);
  const bool as_made =
      how == Layout::stated && !(call.op.row.infer && call.op.row.decompose);
  if (as_made || writes_input(call) || is_settled(how, call, result))
    return result;
  const Value shapes =
      how == Layout::stated ? infer_plain(call) : shapes_of(result);
  const Value planned = laid_out(call, shapes);
  const std::vector<Tensor> wanted =
      tensors_in(std::span<const Value>(&planned, 1));
  const std::vector<ResultMemory> memory = result_memory(call, result);
  size_t next = 0;
  return map_leaves(result, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    const size_t at = next++;
    const Dims& strides = wanted[at].strides();
    if (memory[at].argument >= 0 ||
        same_places(t.sizes(), t.strides(), strides))
      return leaf;
    return copy_in_layout(t, strides);
  });
}

}  // namespace fxjit::ops
