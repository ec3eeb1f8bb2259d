#include "src/passes/fusing/loop_facts.h"

#include <algorithm>
#include <numeric>

#include "src/ops/table/op_call.h"
#include "src/ops/table/op_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/model_graph.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {

bool is_window(const fx::Node& node) {
  return node.called_op() == &window_op() || node.called_op() == &resample_op();
}

bool is_contraction(const fx::Node& node) {
  return node.called_op() == &contract_op() ||
         node.called_op() == &plane_product_op() ||
         node.called_op() == &window_product_op() ||
         node.called_op() == &winograd_op() || is_window(node);
}

bool is_blocked(const fx::Node& contract) {
  if (contract.called_op() != &contract_op()) return false;
  const ValueList& weights = contract.arg(1).as_sequence();
  return !weights.back().is_node();
}

int contraction_batch_dims(const fx::Node& contract) {
  if (contract.called_op() == &window_product_op()) return 0;
  if (contract.called_op() != &contract_op()) return 1;
  const ValueList& weights = contract.arg(1).as_sequence();
  return weights[0].as_node()->val_tensor().dim() - 2;
}

int contraction_column_dims(const fx::Node& contract) {
  const bool over_planes = contract.called_op() == &plane_product_op();
  return over_planes ? contract.val_tensor().dim() - 2 : 1;
}

Size uniform_stride(const Dims& sizes, const Dims& strides, int first,
                    int last) {
  Size stride = -1, expected = 0;
  for (int d = last - 1; d >= first; --d) {
    if (sizes[d] == 0) return 0;
    if (sizes[d] == 1) continue;
    if (stride < 0)
      stride = strides[d];
    else if (strides[d] != expected)
      return -1;
    expected = strides[d] * sizes[d];
  }
  return larger(stride, 0);
}

Dims broadcast_strides(const Tensor& t, const Dims& domain) {
  Dims strides(domain.size(), 0);
  const int shift = domain.size() - t.dim();
  for (int d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] != 1) strides[d + shift] = t.strides()[d];
  return strides;
}

std::vector<int> reduced_dims(const fx::Node& node) {
  const int rank = node.arg_node(0)->val_tensor().dim();
  // A single element has no dims, although torch accepts dim 0 for it.
  if (rank == 0) return {};
  const int at = node.called_op()->index_of("dim");
  std::vector<int> dims;
  if (at >= 0 && !node.arg(static_cast<size_t>(at)).is_none())
    for (int64_t d : node.arg(static_cast<size_t>(at)).as_dims())
      dims.push_back(wrap_dim(d, rank));
  if (dims.empty()) {
    dims.resize(static_cast<size_t>(rank));
    std::iota(dims.begin(), dims.end(), 0);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

bool can_compute_beside(const fx::Node& contraction, DType dtype) {
  if (is_window(contraction))
    return dtype_size(dtype) == 1 || compute_dtype(dtype) == DType::f32;
  return dtype != DType::f64 && dtype != DType::i64 && !is_complex(dtype);
}

bool can_read_beside(const fx::Node& contraction, const Tensor& t) {
  if (is_window(contraction)) return can_compute_beside(contraction, t.dtype());
  if (!can_compute_beside(contraction, t.dtype())) return false;
  const Dims& domain = contraction.val_tensor().sizes();
  const int batch_dims = contraction_batch_dims(contraction);
  const int rank = domain.size();
  const int rows_end = rank - contraction_column_dims(contraction);
  const Dims strides = broadcast_strides(t, domain);
  const Size column = uniform_stride(domain, strides, rows_end, rank);
  return column >= 0 && column <= 1 &&
         uniform_stride(domain, strides, 0, batch_dims) >= 0 &&
         uniform_stride(domain, strides, batch_dims, rows_end) >= 0;
}

bool trailing(const std::vector<int>& dims, int rank) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != rank - static_cast<int>(dims.size() - i)) return false;
  return !dims.empty();
}

namespace {

bool divides(Prim prim) {
  return prim == Prim::div || prim == Prim::floor_div ||
         prim == Prim::remainder || prim == Prim::fmod;
}

bool known_not_zero(const ScalarBody& body, int32_t id) {
  const ScalarInstr& instr = body.instrs[static_cast<size_t>(id)];
  return instr.prim == Prim::constant && instr.bits != 0;
}

}  // namespace

bool is_row_gather(const fx::Node& node) {
  const ops::GatherRoles& roles = ops::facts_of(*node.called_op()).gather;
  if (roles.kind != ops::GatherKind::slices)
    return roles.kind == ops::GatherKind::rows;
  const int64_t dim = node.arg(static_cast<size_t>(roles.dim)).as_int();
  return wrap_dim(dim, node.val_tensor().dim()) == 0;
}

bool is_element_gather(const fx::Node& node) {
  const ops::GatherRoles& roles = ops::facts_of(*node.called_op()).gather;
  if (roles.kind != ops::GatherKind::elements) return false;
  const fx::Node* table = node.arg_node(static_cast<size_t>(roles.table));
  return node.val_tensor().dim() > 0 && table->val_tensor().numel() > 0;
}

ScalarBody body_of(const fx::Node& node) {
  return ops::scalar_body({*node.called_op(), vals_of(node.args())},
                          node.val_tensor().dtype());
}

bool has_index(const ScalarBody& body) {
  return std::ranges::any_of(
      body.instrs, [](const auto& i) { return i.prim == Prim::index; });
}

bool uses_index(const fx::Node& node) { return has_index(body_of(node)); }

bool may_divide_by_zero(const fx::Node& node) {
  const ScalarBody body = body_of(node);
  return std::any_of(body.instrs.begin(), body.instrs.end(),
                     [&](const ScalarInstr& i) {
                       return divides(i.prim) && !is_floating(i.type) &&
                              !known_not_zero(body, i.args[1]);
                     });
}

}  // namespace fxjit::passes
