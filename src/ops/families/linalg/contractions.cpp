// Products of matrices. All of them are one strided batch product; the shape
// rules differ, and so do torch's messages.
#include "fxjit/functions_structured.h"
#include "src/ops/eager/matmul.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/families/views/view_rules.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

void check_same_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  if (a.dim() == 3 && b.dim() == 3)
    runtime_error("expected scalar type ", torch_type_name(a.dtype()),
                  " but found ", torch_type_name(b.dtype()));
  runtime_error("expected m1 and m2 to have the same dtype, but got: ",
                cpp_type_name(a.dtype()), " != ", cpp_type_name(b.dtype()));
}

// Where torch calls addmm.
void check_addend(const Tensor& input, const Tensor& b) {
  if (input.dtype() == b.dtype()) return;
  runtime_error("self and mat2 must have the same dtype, but got ",
                torch_type_name(input.dtype()), " and ",
                torch_type_name(b.dtype()));
}

[[noreturn]] void shapes_differ(Size rows, Size depth, const Dims& b) {
  runtime_error("mat1 and mat2 shapes cannot be multiplied (", rows, "x", depth,
                " and ", x_shape(b), ")");
}

// Dims [0, dim - 2).
Dims batch_dims(const Tensor& tensor) {
  Dims dims = tensor.sizes();
  dims.resize(std::max(tensor.dim() - 2, 0));
  return dims;
}

// out = a @ b (+ bias along columns), both at least matrices whose batch dims
// broadcast to those of the contiguous `out`.
void multiply(const Tensor& a, const Tensor& b, const Tensor* bias,
              const Tensor& out) {
  const Dims batch = batch_dims(out);
  const auto strides = [&](const Tensor& t) {
    Dims own = t.strides();
    own.resize(t.dim() - 2);
    return broadcast_strides(batch_dims(t), own, batch);
  };
  MatmulArgs args;
  args.dtype = out.dtype();
  args.rows = out.size(-2);
  args.columns = out.size(-1);
  args.depth = a.size(-1);
  args.a_row = a.stride(-2);
  args.a_depth = a.stride(-1);
  args.b_depth = b.stride(-2);
  args.b_column = b.stride(-1);
  args.c_row = out.size(-1);
  if (bias) {
    args.bias = bias->data();
    args.bias_stride = bias->numel() == 1 ? Size(0) : bias->stride(-1);
  }
  Dims out_strides = out.strides();
  out_strides.resize(out.dim() - 2);
  const Size bytes = static_cast<int64_t>(out.item_size());
  const auto* a_data = static_cast<const std::byte*>(a.data());
  const auto* b_data = static_cast<const std::byte*>(b.data());
  auto* c_data = static_cast<std::byte*>(out.data());
  if (out.numel() == 0) return;
  // The innermost merged batch dim goes to the kernel, outer ones loop here.
  const LoopNest<3> nest(batch, {out_strides, strides(a), strides(b)});
  nest.for_each_row([&](const auto& at, const auto& step, Size n) {
    args.batch = n;
    args.c_batch = step[0];
    args.a_batch = step[1];
    args.b_batch = step[2];
    args.c = c_data + at[0] * bytes;
    args.a = a_data + at[1] * bytes;
    args.b = b_data + at[2] * bytes;
    run_matmul(args);
  });
}

Tensor transposed(const Tensor& matrix) { return permuted(matrix, {1, 0}); }

Value infer_linear(const OpCall& call) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1);
  if (weight.dim() != 2 && weight.dim() != 1)
    runtime_error("linear: expected weight to have 1 or 2 dimensions, got ",
                  weight.sizes());
  if (input.dim() == 0)
    runtime_error(
        "both arguments to linear need to be at least 1D, but they are 0D and ",
        weight.dim(), "D");
  if (call.has(2)) check_addend(call.tensor(2), weight);
  check_same_dtype(input, weight);
  const Size depth = input.size(-1);
  if (weight.size(-1) != depth)
    shapes_differ(depth == 0 ? Size(0) : input.numel() / depth, depth,
                  weight.dim() == 2 ? Dims{weight.sizes()[1], weight.sizes()[0]}
                                    : weight.sizes());
  Dims sizes = input.sizes();
  sizes.erase(sizes.size() - 1);
  if (weight.dim() == 2) sizes.push_back(weight.sizes()[0]);
  if (call.has(2)) {
    const Tensor& bias = call.tensor(2);
    const bool fits =
        bias.dim() <= 1 &&
        (bias.numel() == 1 ||
         (weight.dim() == 2 && bias.numel() == weight.sizes()[0]));
    if (!fits)
      runtime_error("The expanded size of the tensor (", weight.sizes()[0],
                    ") must match the existing size (", bias.numel(),
                    ") at non-singleton dimension ",
                    std::max(sizes.size() - 1, 0), ".  Target sizes: ", sizes,
                    ".  Tensor sizes: ", bias.sizes());
  }
  return Tensor::meta(sizes, input.dtype());
}

// `tensor` as a matrix of rows, the last dim kept.
Tensor as_rows(const Tensor& tensor) {
  const Dims rows{
      tensor.size(-1) == 0 ? Size(0) : tensor.numel() / tensor.size(-1),
      tensor.size(-1)};
  if (const auto strides = view_strides(tensor.sizes(), tensor.strides(), rows))
    return tensor.as_strided(rows, *strides, tensor.offset());
  const Tensor packed = tensor.contiguous();
  return packed.as_strided(rows, contiguous_strides(rows), packed.offset());
}

Value eager_linear(const OpCall& call) {
  const Tensor out = empty_like(infer_linear(call));
  if (out.numel() == 0) return out;
  Tensor weight = call.tensor(1);
  if (weight.dim() == 1)
    weight = weight.as_strided({1, weight.numel()}, {0, weight.stride(0)},
                               weight.offset());
  const Size columns = weight.sizes()[0];
  const Size rows = out.numel() / columns;
  const Tensor& input = call.tensor(0);
  const Tensor a = input.size(-1) == 0
                       ? input.as_strided({rows, 0}, {0, 1}, input.offset())
                       : as_rows(input);
  const Tensor* bias = call.has(2) ? &call.tensor(2) : nullptr;
  multiply(a, transposed(weight), bias,
           out.as_strided({rows, columns}, {columns, 1}, 0));
  return out;
}

struct MatmulShape {
  Dims batch;
  Size rows = 1, columns = 1;
  bool a_vector = false, b_vector = false;
  Dims sizes;
};

[[noreturn]] void batch_mismatch(const Tensor& a, const Tensor& b) {
  // torch's bmm speaks of the collapsed batch.
  runtime_error(
      "Expected size for first two dimensions of batch2 tensor to be: [",
      numel(batch_dims(a)), ", ", a.size(-1), "] but got: [",
      numel(batch_dims(a)), ", ", b.size(-2), "].");
}

void check_depth(const Tensor& a, const Tensor& b) {
  const Size depth = a.size(-1);
  if (depth == (b.dim() == 1 ? b.sizes()[0] : b.size(-2))) return;
  if (a.dim() == 1 && b.dim() == 1)
    runtime_error("inconsistent tensor size, expected tensor ", a.sizes(),
                  " and src ", b.sizes(),
                  " to have the same number of elements, but got ", a.numel(),
                  " and ", b.numel(), " elements respectively");
  if (b.dim() == 1)
    runtime_error("size mismatch, got input (",
                  depth == 0 ? Size(0) : a.numel() / depth, "), mat (",
                  depth == 0 ? Size(0) : a.numel() / depth, "x", depth,
                  "), vec (", b.numel(), ")");
  if (b.dim() == 2)
    shapes_differ(a.dim() == 1 ? Size(1) : a.numel() / larger(depth, 1), depth,
                  b.sizes());
  batch_mismatch(a, b);
}

// NumPy's rules: vectors gain a dim that the result loses again.
MatmulShape matmul_shape(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0)
    runtime_error(
        "both arguments to matmul need to be at least 1D, but they are ",
        a.dim(), "D and ", b.dim(), "D");
  check_same_dtype(a, b);
  check_depth(a, b);
  MatmulShape shape;
  shape.a_vector = a.dim() == 1;
  shape.b_vector = b.dim() == 1;
  const Dims a_batch = batch_dims(a), b_batch = batch_dims(b);
  for (int i = 1; i <= std::min(a_batch.size(), b_batch.size()); ++i) {
    const Size x = a_batch[a_batch.size() - i];
    const Size y = b_batch[b_batch.size() - i];
    if (x != y && x != 1 && y != 1)
      runtime_error("The size of tensor a (", x,
                    ") must match the size of tensor b (", y,
                    ") at non-singleton dimension ",
                    std::max(a_batch.size(), b_batch.size()) - i);
  }
  shape.batch = broadcast_shapes(a_batch, b_batch);
  if (!shape.a_vector) shape.rows = a.size(-2);
  if (!shape.b_vector) shape.columns = b.size(-1);
  shape.sizes = shape.batch;
  if (!shape.a_vector) shape.sizes.push_back(shape.rows);
  if (!shape.b_vector) shape.sizes.push_back(shape.columns);
  return shape;
}

Tensor matrix_product(Tensor a, Tensor b) {
  const MatmulShape shape = matmul_shape(a, b);
  const Tensor out = Tensor::empty(shape.sizes, a.dtype());
  if (shape.a_vector)
    a = a.as_strided({1, a.numel()}, {0, a.stride(0)}, a.offset());
  if (shape.b_vector)
    b = b.as_strided({b.numel(), 1}, {b.stride(0), 0}, b.offset());
  Dims whole = shape.batch;
  whole.push_back(shape.rows);
  whole.push_back(shape.columns);
  multiply(a, b, nullptr, out.as_strided(whole, contiguous_strides(whole), 0));
  return out;
}

Value infer_matmul(const OpCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  return Tensor::meta(matmul_shape(a, b).sizes, a.dtype());
}

Value eager_matmul(const OpCall& call) {
  call.op.row.infer(call);
  return matrix_product(call.tensor(0), call.tensor(1));
}

void check_matrices(const Tensor& a, const Tensor& b) {
  if (a.dim() != 2)
    runtime_error("mat1 must be a matrix, got ", a.dim(), "-D tensor");
  if (b.dim() != 2)
    runtime_error("mat2 must be a matrix, got ", b.dim(), "-D tensor");
}

Value infer_mm(const OpCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  if (a.dim() != 2) runtime_error("self must be a matrix");
  if (b.dim() != 2) runtime_error("mat2 must be a matrix");
  return infer_matmul(call);
}

void check_batches(const Tensor& a, const Tensor& b) {
  if (a.dim() != 3) runtime_error("batch1 must be a 3D tensor");
  if (b.dim() != 3) runtime_error("batch2 must be a 3D tensor");
  if (a.sizes()[0] != b.sizes()[0] || a.sizes()[2] != b.sizes()[1])
    runtime_error(
        "Expected size for first two dimensions of batch2 tensor to be: [",
        a.sizes()[0], ", ", a.sizes()[2], "] but got: [", b.sizes()[0], ", ",
        b.sizes()[1], "].");
}

Value infer_bmm(const OpCall& call) {
  check_batches(call.tensor(0), call.tensor(1));
  return infer_matmul(call);
}

Value infer_dot(const OpCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  if (a.dim() != 1 || b.dim() != 1)
    runtime_error("1D tensors expected, but got ", a.dim(), "D and ", b.dim(),
                  "D tensors");
  if (a.dtype() != b.dtype())
    runtime_error("dot : expected both vectors to have same dtype, but found ",
                  torch_type_name(a.dtype()), " and ",
                  torch_type_name(b.dtype()));
  return infer_matmul(call);
}

Value infer_mv(const OpCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  if (a.dim() != 2 || b.dim() != 1)
    runtime_error("vector + matrix @ vector expected, got 1, ", a.dim(), ", ",
                  b.dim());
  return infer_matmul(call);
}

// addmm and baddbmm: beta * input + alpha * (a @ b).
Value infer_added(const OpCall& call) {
  const Tensor &input = call.tensor(0), &a = call.tensor(1),
               &b = call.tensor(2);
  if (call.op.name() == "addmm")
    check_matrices(a, b);
  else
    check_batches(a, b);
  check_addend(input, b);
  const Dims sizes = matmul_shape(a, b).sizes;
  expanded(input, sizes);  // Refuses what does not broadcast to the product.
  return Tensor::meta(sizes, a.dtype());
}

Value eager_added(const OpCall& call) {
  infer_added(call);
  const Tensor &input = call.tensor(0), &b = call.tensor(2);
  const bool plain = same(call[3], 1) && same(call[4], 1);
  if (plain && input.dim() == 1 && b.dim() == 2) {
    const Tensor& a = call.tensor(1);
    const Tensor out = Tensor::empty({a.sizes()[0], b.sizes()[1]}, a.dtype());
    multiply(a, b, &input, out);
    return out;
  }
  const DType dtype = input.dtype();
  const DType wide = compute_dtype(dtype);
  Value sum = matrix_product(call.tensor(1).to(wide), b.to(wide));
  const Value beta = factor_of(call[3], dtype);
  const Value alpha = factor_of(call[4], dtype);
  if (!same(alpha, 1)) sum = sum * alpha;
  // With beta = 0 even NaN in `input` is ignored.
  if (!same(beta, 0)) sum = sum + Value(input.to(wide)) * beta;
  return sum.as_tensor().to(dtype);
}

Value decompose_outer(const OpCall& call) {
  const Tensor a = meta_of(call[0]), b = meta_of(call[1]);
  if (a.dim() != 1)
    runtime_error("outer: Expected 1-D argument self, but got ", a.dim(), "-D");
  if (b.dim() != 1)
    runtime_error("outer: Expected 1-D argument vec2, but got ", b.dim(), "-D");
  return fxjit::unsqueeze(call[0], 1) * fxjit::unsqueeze(call[1], 0);
}

Value decompose_vdot(const OpCall& call) {
  const bool complex = is_complex(meta_of(call[0]).dtype());
  return call_row("dot",
                  {complex ? call_row("conj", {call[0]}) : call[0], call[1]});
}

constexpr OpRow product(const char* name, const char* schema, const char* names,
                        InferFn infer, EagerFn eager = eager_matmul) {
  return lowered_row(name, schema, names, Lowering::contraction, infer, eager)
      .stating({.native = NativeCalls::products});
}

constexpr OpRow kContractionsRows[] = {
    product("linear", "input, weight, bias=None",
            "torch._C._nn.linear =F.linear nn.Linear", infer_linear,
            eager_linear)
        .stating({.product = {.added = 2, .right_by_column = true},
                  .native = NativeCalls::products}),
    product("matmul", "input, other",
            "torch.matmul .matmul torch._C._linalg.linalg_matmul "
            "_operator.matmul .__matmul__",
            infer_matmul),
    product("mm", "input, mat2", "torch.mm .mm", infer_mm),
    product("bmm", "input, mat2", "torch.bmm .bmm", infer_bmm),
    product("addmm", "input, mat1, mat2, *, beta=1, alpha=1",
            "torch.addmm .addmm", infer_added, eager_added)
        .stating(
            {.numbers = {"alpha beta", Conversion::computed},
             .product =
                 {.left = 1, .right = 2, .added = 0, .beta = 3, .alpha = 4},
             .native = NativeCalls::products}),
    product("baddbmm", "input, batch1, batch2, *, beta=1, alpha=1",
            "torch.baddbmm .baddbmm", infer_added, eager_added)
        .stating(
            {.numbers = {"alpha beta", Conversion::computed},
             .product =
                 {.left = 1, .right = 2, .added = 0, .beta = 3, .alpha = 4},
             .native = NativeCalls::products}),
    product("dot", "input, tensor", "torch.dot .dot", infer_dot),
    composed_row("vdot", "input, other", "torch.vdot .vdot", decompose_vdot)
        .stating({.native = NativeCalls::products}),
    product("mv", "input, vec", "torch.mv .mv", infer_mv),
    composed_row("outer", "input, vec2", "torch.outer .outer torch.ger .ger",
                 decompose_outer),
};

}  // namespace

std::span<const OpRow> contraction_rows() { return kContractionsRows; }

}  // namespace fxjit::ops
