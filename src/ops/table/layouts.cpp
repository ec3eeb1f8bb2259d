#include "src/ops/table/layouts.h"

#include <string_view>

#include "src/ops/table/aliasing.h"
#include "src/ops/table/layout_rules.h"
#include "src/ops/table/memory_format.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/row_facts.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

// Rows of which the way they are lowered does not tell: other scalar rows are
// elementwise, all others state their layout.
constexpr RowFacts<Layout>::Group kLayoutFacts[] = {
    {Layout::first,
     "cast clone copy tensor prelu addr flip sort argsort msort index_fill "
     "index_put select_scatter slice_scatter binary_cross_entropy "
     "soft_margin_loss diagonal_scatter "
     "_scaled_dot_product_flash_attention_for_cpu rand_like randn_like "
     "randint_like cauchy exponential geometric log_normal random uniform"},
    {Layout::elementwise,
     "complex conj polar digamma lgamma polygamma erfc erfinv i0 special_erfcx "
     "special_i0e special_i1 special_i1e special_ndtr special_ndtri "
     "special_log_ndtr special_zeta gcd lcm igamma igammac"},
    {Layout::plain,
     "masked_fill renorm rrelu log_sigmoid_forward _safe_softmax "
     "fxjit.materialize softmax softmin log_softmax _softmax _log_softmax "
     "log_sigmoid layer_norm native_layer_norm instance_norm addbmm "
     "diag_embed kthvalue median narrow_copy _weight_norm mvlgamma repeat "
     "repeat_interleave tile tril triu"},
    {Layout::backwards, "rsub"},
    {Layout::volume,
     "batch_norm group_norm rms_norm aten_batch_norm "
     "_native_batch_norm_legit_no_training max_pool3d max_pool3d_with_indices"},
    {Layout::image,
     "channel_shuffle pixel_shuffle pixel_unshuffle avg_pool2d "
     "adaptive_avg_pool2d adaptive_max_pool2d fxjit.adaptive_max_places2d "
     "lp_pool2d max_pool2d max_pool2d_with_indices max_unpool2d"},
    {Layout::line,
     "avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d "
     "fxjit.adaptive_max_places1d lp_pool1d max_pool1d_with_indices"},
    {Layout::padded, "pad constant_pad_nd interpolate upsample"},
    {Layout::filtered,
     "conv1d conv2d conv3d conv_transpose1d conv_transpose2d convolution"},
    {Layout::joined, "cat roll"},
    {Layout::columns,
     "linalg_inv linalg_solve linalg_solve_triangular linalg_cholesky "
     "cholesky"},
    {Layout::picked, "index"},
};

const Layout* layout_of(std::string_view row) {
  static const auto* const all = new RowFacts<Layout>(kLayoutFacts);
  return all->find(row);
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
  return how != Layout::columns && how != Layout::asked &&
         all_contiguous(call.args) &&
         all_contiguous(std::span<const Value>(&result, 1));
}

bool is_mode(const OpCall& call, std::string_view mode) {
  const Value& given = call[static_cast<size_t>(call.op.index_of("mode"))];
  return given.is_string() && given.as_string() == mode;
}

// Calls of some rows for which torch has another function: a power of a number,
// what is equal to one, what is solved from the right, turns by 0 degrees,
// powers of 0 and 1, and rolls of the flattened tensor.
bool is_plain_call(const OpCall& call) {
  const std::string_view name = call.op.name();
  if (name == "pow") return !call[0].is_tensor();
  if (name == "isin") return !call[1].is_tensor();
  if (name == "angle") return is_complex(call.tensor(0).dtype());
  if (name == "rot90") return call.integer(1) % 4 == 0;
  if (name == "linalg_matrix_power")
    return call.integer(1) == 0 || call.integer(1) == 1;
  if (name == "linalg_solve")
    return !call.flag(static_cast<size_t>(call.op.index_of("left")));
  if (name == "roll") return call[2].is_sequence() && call[2].size() == 0;
  return name == "pad" && is_mode(call, "circular");
}

}  // namespace

Layout layout(const OpCall& call) {
  if (is_plain_call(call)) return Layout::plain;
  if (memory_format_of(call, MemoryFormat::preserve) != MemoryFormat::preserve)
    return Layout::asked;
  const std::string_view name = call.op.name();
  // It is pooling.
  if (name == "interpolate" && is_mode(call, "area")) return Layout::stated;
  if (name == "pad" && !is_mode(call, "constant")) return Layout::volume;
  // Queries with other strides are no argument of torch's fused function.
  if (name == "scaled_dot_product_attention")
    return call.tensor(0).stride(-1) == 1 ? Layout::first : Layout::plain;
  if (const Layout* const fact = layout_of(name)) return *fact;
  return call.op.row.lowering == Lowering::scalar ? Layout::elementwise
                                                  : Layout::stated;
}

Value laid_out(const OpCall& call, const Value& result) {
  const Layout how = layout(call);
  if (how == Layout::stated || writes_input(call) ||
      is_settled(how, call, result))
    return result;
  const std::vector<Tensor> tensors = tensors_in(call.args);
  if (tensors.empty() && how != Layout::asked) return result;
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
      how == Layout::stated ? infer_plain(call) : metas_of(result);
  const Value planned = laid_out(call, shapes);
  const std::vector<Tensor> wanted = tensors_in(planned);
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
