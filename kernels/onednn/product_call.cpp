#include "kernels/onednn/product_call.h"

#include "src/ops/table/op_facts.h"

namespace fxjit::kernels::onednn {
namespace {

// Leading dims as one, at most two others kept; nothing when that is no view.
std::optional<Dims> merged_strides(const Tensor& t, const Dims& sizes) {
  return view_strides(t.sizes(), t.strides(), sizes);
}

// a [..., M, K] times b [K, N], of b's own strides.
std::optional<MatmulShape> rows_times_matrix(const Tensor& a, int64_t columns,
                                             int64_t b_depth,
                                             int64_t b_column) {
  MatmulShape shape;
  shape.dtype = a.dtype();
  shape.depth = a.size(-1);
  if (a.numel() == 0 || columns == 0) return std::nullopt;
  shape.rows = a.numel() / shape.depth;
  const auto strides = merged_strides(a, {shape.rows, shape.depth});
  if (!strides) return std::nullopt;
  shape.a_row = (*strides)[0];
  shape.a_depth = (*strides)[1];
  shape.columns = columns;
  shape.b_depth = b_depth;
  shape.b_column = b_column;
  shape.c_row = columns;
  return shape;
}

std::optional<MatmulShape> batch_product(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim() || a.dim() < 3) return std::nullopt;
  for (int d = 0; d < a.dim() - 2; ++d)
    if (a.sizes()[d] != b.sizes()[d]) return std::nullopt;
  MatmulShape shape;
  shape.dtype = a.dtype();
  shape.rows = a.size(-2);
  shape.depth = a.size(-1);
  shape.columns = b.size(-1);
  if (a.numel() == 0 || b.numel() == 0) return std::nullopt;
  shape.batch = a.numel() / (shape.rows * shape.depth);
  const auto as = merged_strides(a, {shape.batch, shape.rows, shape.depth});
  const auto bs = merged_strides(b, {shape.batch, shape.depth, shape.columns});
  if (!as || !bs) return std::nullopt;
  shape.a_batch = (*as)[0], shape.a_row = (*as)[1], shape.a_depth = (*as)[2];
  shape.b_batch = (*bs)[0], shape.b_depth = (*bs)[1];
  shape.b_column = (*bs)[2];
  shape.c_row = shape.columns;
  shape.c_batch = shape.rows * shape.columns;
  return shape;
}

std::optional<MatmulShape> product_of(const Tensor& a, const Tensor& b) {
  if (a.dim() < 2 || b.dim() < 2) return std::nullopt;
  if (b.dim() > 2) return batch_product(a, b);
  return rows_times_matrix(a, b.size(1), b.stride(0), b.stride(1));
}

bool is_row_bias(const Tensor& bias, int64_t columns) {
  return bias.dim() == 1 && bias.numel() == columns && bias.is_contiguous();
}

std::optional<Product> linear_product(const ops::OpCall& call) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1);
  if (weight.dim() != 2) return std::nullopt;
  const auto shape = rows_times_matrix(input, weight.size(0), weight.stride(1),
                                       weight.stride(0));
  if (!shape) return std::nullopt;
  Product product{*shape};
  if (!call.has(2)) return product;
  if (!is_row_bias(call.tensor(2), shape->columns)) return std::nullopt;
  product.shape.bias = true;
  product.bias = 2, product.output = 3;
  return product;
}

std::optional<Product> addmm_product(const ops::OpCall& call) {
  const ops::ProductRoles& roles = ops::facts_of(call.op).product;
  const auto tensor = [&](int at) -> const Tensor& {
    return call.tensor(static_cast<size_t>(at));
  };
  const auto one = [&](int at) {
    return at < 0 || call.number(static_cast<size_t>(at)) == 1;
  };
  if (tensor(roles.right).dim() != 2) return std::nullopt;
  const auto shape = product_of(tensor(roles.left), tensor(roles.right));
  if (!shape || !one(roles.beta) || !one(roles.alpha) ||
      !is_row_bias(tensor(roles.added), shape->columns))
    return std::nullopt;
  Product product{*shape, roles.left, roles.right, roles.added, 3};
  product.shape.bias = true;
  return product;
}

// Adds tensor `i` to the sums. The first addition is the bias where it is a
// row. False where oneDNN cannot.
bool append_addition(const program::TileStep& step, int i, Product& to) {
  const program::TileAccess& extra = step.extras[static_cast<size_t>(i)];
  if (extra.dtype != DType::f32 || extra.column != 1 || extra.row < 0)
    return false;
  const int operand = i + 2;
  if (extra.row == 0 && to.post_ops.empty() && to.bias < 0)
    to.bias = operand;
  else
    to.post_ops.push_back({MatmulPostOp::Kind::add, extra.row, operand});
  return true;
}

// Whether the epilogue is a chain of additions and gelu from the sums on, which
// oneDNN has as post-ops: they are added to `to`.
bool append_epilogue(const program::TileStep& step, Product& to) {
  const std::vector<ScalarInstr>& instrs = step.epilogue.instrs;
  // The tensor that an instruction reads, counted from 0; -1: none.
  const auto tensor = [&](int32_t id) {
    const ScalarInstr& instr = instrs[static_cast<size_t>(id)];
    return instr.prim == Prim::input ? instr.slot - 1 : -1;
  };
  int32_t value = -1;
  for (int32_t id = 0; id < static_cast<int32_t>(instrs.size()); ++id) {
    const ScalarInstr& instr = instrs[static_cast<size_t>(id)];
    const int32_t left = instr.args[0], right = instr.args[1];
    if (prim_arity(instr.prim) == 0) {
      if (instr.prim == Prim::input && instr.slot == 0) value = id;
      continue;
    }
    if (instr.prim == Prim::gelu && left == value) {
      to.post_ops.push_back({MatmulPostOp::Kind::gelu});
    } else if (instr.prim == Prim::add && (left == value) != (right == value)) {
      const int extra = tensor(left == value ? right : left);
      if (extra < 0 || !append_addition(step, extra, to)) return false;
    } else {
      return false;
    }
    value = id;
  }
  return step.epilogue.results == std::vector<int32_t>{value};
}

}  // namespace

std::optional<Product> read_product(const ops::OpCall& call) {
  const ops::ProductRoles& roles = ops::facts_of(call.op).product;
  if (roles.right_by_column) return linear_product(call);
  if (roles.added >= 0) return addmm_product(call);
  const auto shape = product_of(call.tensor(0), call.tensor(1));
  return shape ? std::optional(Product{*shape}) : std::nullopt;
}

std::optional<Product> read_product(const program::TileStep& step) {
  if (step.strict || step.batch != 1 || step.outputs.size() != 1 ||
      step.rows == 0 || step.columns == 0 || step.depth == 0)
    return std::nullopt;
  const program::TileAccess& out = step.outputs[0];
  if (out.dtype != DType::f32 || out.column != 1) return std::nullopt;
  Product product;
  product.output = static_cast<int>(2 + step.extras.size());
  if (!append_epilogue(step, product)) return std::nullopt;
  MatmulShape& shape = product.shape;
  shape.bias = product.bias >= 0;
  shape.rows = step.rows, shape.columns = step.columns;
  shape.depth = step.depth;
  shape.a_row = step.lhs_row, shape.b_depth = step.columns;
  shape.c_row = out.row;
  return product;
}

}  // namespace fxjit::kernels::onednn
