// Tensors of random numbers. The kernels draw in the order of the graph, also
// in compiled programs, and never merge or fold (Purity::random).
#include <optional>

#include "fxjit/functions_structured.h"
#include "src/ops/families/creation/creation.h"
#include "src/ops/families/random/random_rows.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

constexpr const char* kUniformKernel = "check_uniform_bounds";
constexpr const char* kNormalKernel = "normal_kernel_cpu";

template <const char* const& kKernel>
Value infer_sized(const OpCall& call) {
  const DType dtype = options_dtype(call, 2, DType::f32);
  require_floating_type(dtype, kKernel);
  return Tensor::meta(sizes_arg(call, 0), dtype);
}

template <const char* const& kKernel>
Value infer_like(const OpCall& call) {
  const DType dtype = options_dtype(call, 2, call.tensor(0).dtype());
  require_floating_type(dtype, kKernel);
  return Tensor::meta(call.tensor(0).sizes(), dtype);
}

void fill_unit(const OpCall&, const Tensor& out, Draw& draw) {
  fill_uniform(out, 0, 1, draw);
}

void fill_standard(const OpCall&, const Tensor& out, Draw& draw) {
  fill_normal(out, 0, 1, draw);
}

// randint(high, size), randint(low, high, size): as torch tells them apart, by
// what stands at the second place.
Bounds randint_bounds(const OpCall& call) {
  const bool both = call.has(0) && call.has(1) && !call[1].is_sequence();
  if (both) return {call.integer(0), call.integer(1)};
  return {0, call.integer(call.has(0) ? 0 : 1)};
}

Value infer_randint(const OpCall& call) {
  const DType dtype = options_dtype(call, 4, DType::i64);
  check_bounds(randint_bounds(call), dtype);
  const bool second = call[1].is_sequence();
  return Tensor::meta(sizes_arg(call, second ? 1 : 2), dtype);
}

// The greatest number of randint_like may be in a tensor; none where that has
// no data.
std::optional<Bounds> randint_like_bounds(const OpCall& call) {
  const Value& high = call[call.has(2) ? 2 : 1];
  if (!high.is_tensor())
    return randint_bounds(
        {call.op, call.args.subspan(1), call.source, call.node});
  if (high.as_tensor().is_meta()) return std::nullopt;
  return Bounds{0, static_cast<int64_t>(high.as_tensor().item())};
}

Value infer_randint_like(const OpCall& call) {
  const DType dtype = options_dtype(call, 4, call.tensor(0).dtype());
  if (const auto bounds = randint_like_bounds(call))
    check_bounds(*bounds, dtype);
  return Tensor::meta(call.tensor(0).sizes(), dtype);
}

void fill_randint(const OpCall& call, const Tensor& out, Draw& draw) {
  fill_between(randint_bounds(call), out, draw);
}

void fill_randint_like(const OpCall& call, const Tensor& out, Draw& draw) {
  const auto bounds = randint_like_bounds(call);
  check_bounds(*bounds, out.dtype());
  fill_between(*bounds, out, draw);
}

Value infer_randperm(const OpCall& call) {
  const int64_t n = call.integer(0);
  if (n < 0)
    runtime_error("Trying to create tensor with negative dimension ", n, ": [",
                  n, "]");
  return Tensor::meta({n}, options_dtype(call, 2, DType::i64));
}

void fill_randperm(const OpCall&, const Tensor& out, Draw& draw) {
  fill_permutation(out, draw);
}

Value infer_normal_values(const OpCall& call) {
  if (call[1].is_number()) check_deviation(call[1].as_double());
  if (!call[0].is_tensor() && !call[1].is_tensor())
    return Tensor::meta(sizes_arg(call, 2), options_dtype(call, 4, DType::f32));
  const Tensor& first = call.tensor(call[0].is_tensor() ? 0 : 1);
  require_floating_type(first.dtype(), kNormalKernel);
  if (!call[0].is_tensor() || !call[1].is_tensor())
    return Tensor::meta(first.sizes(), first.dtype());
  return Tensor::meta(broadcast_shapes(first.sizes(), call.tensor(1).sizes()),
                      first.dtype());
}

// Numbers for deviation 1 and mean 0, scaled and moved by what is a tensor.
void fill_normal_values(const OpCall& call, const Tensor& out, Draw& draw) {
  if (call[1].is_tensor() &&
      static_cast<bool>(fxjit::any(fxjit::lt(call[1], 0))))
    runtime_error("normal expects all elements of std >= 0.0");
  const bool moved = call[0].is_tensor(), scaled = call[1].is_tensor();
  fill_normal(out, moved || scaled ? 0 : call.number(0),
              scaled ? 1 : call.number(1), draw);
  if (!moved && !scaled) return;
  Value values = out;
  if (scaled) values = values * call[1];
  out.copy_from((values + call[0]).as_tensor());
}

Value infer_multinomial(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const int64_t samples = call.integer(1);
  if (input.dim() != 1 && input.dim() != 2)
    runtime_error("prob_dist must be 1 or 2 dim");
  if (!is_floating(input.dtype()))
    runtime_error(
        "multinomial only supports floating-point dtypes for input, got: ",
        torch_type_name(input.dtype()));
  if (samples <= 0) runtime_error("cannot sample n_sample <= 0 samples");
  if (!call.flag(2) && samples > input.size(-1))
    runtime_error(
        "cannot sample n_sample > prob_dist.size(-1) samples without "
        "replacement");
  Dims sizes = input.sizes();
  sizes[sizes.size() - 1] = samples;
  return Tensor::meta(sizes, DType::i64);
}

void fill_multinomial_call(const OpCall& call, const Tensor& out, Draw& draw) {
  fill_multinomial(out, call.tensor(0).contiguous(), call.flag(2), draw);
}

constexpr OpRow kRandomRows[] = {
    random_row("rand", "*size, generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.rand", infer_sized<kUniformKernel>, drawn<fill_unit>),
    random_row("randn", "*size, generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.randn", infer_sized<kNormalKernel>, drawn<fill_standard>),
    random_row("rand_like", "input, *, generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.rand_like", infer_like<kUniformKernel>, drawn<fill_unit>)
        .stating({.layout = Layout::first}),
    random_row("randn_like", "input, *, generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.randn_like", infer_like<kNormalKernel>,
               drawn<fill_standard>)
        .stating({.layout = Layout::first}),
    random_row("randint",
               "low=None, high=None, size=None, *, "
               "generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.randint", infer_randint, drawn<fill_randint>),
    random_row("randint_like",
               "input, low=None, high=None, *, "
               "generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.randint_like", infer_randint_like,
               drawn<fill_randint_like>)
        .stating({.layout = Layout::first}),
    random_row("randperm", "n, *, generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.randperm", infer_randperm, drawn<fill_randperm>),
    random_row("normal_values",
               "mean, std=1.0, size=None, *, "
               "generator=None, " FXJIT_TENSOR_OPTIONS,
               "torch.normal", infer_normal_values, drawn<fill_normal_values>),
    random_row("multinomial",
               "input, num_samples, replacement=False, *, generator=None",
               "torch.multinomial .multinomial", infer_multinomial,
               drawn<fill_multinomial_call>),
};

}  // namespace

std::span<const OpRow> random_rows() { return kRandomRows; }

}  // namespace fxjit::ops
