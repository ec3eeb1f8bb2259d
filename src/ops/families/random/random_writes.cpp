// Methods that fill a tensor with random numbers, and the same as functions of
// the tensor, which compiled graphs call in their place.
#include "src/ops/families/elementwise/in_place.h"
#include "src/ops/families/random/random_rows.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// Kernels whose parameters are the numbers from argument 1 on.
template <void (*kFill)(const Tensor&, double, Draw&)>
void fill_by_one(const OpCall& call, const Tensor& out, Draw& draw) {
  kFill(out, call.number(1), draw);
}
template <void (*kFill)(const Tensor&, double, double, Draw&)>
void fill_by_two(const OpCall& call, const Tensor& out, Draw& draw) {
  kFill(out, call.number(1), call.number(2), draw);
}

Value infer_uniform(const OpCall& call) {
  require_floating_type(call.tensor(0).dtype(), "check_uniform_bounds");
  const double from = call.number(1), to = call.number(2);
  if (!(from <= to))
    runtime_error(
        "uniform_ expects to return a [from, to) range, but found from=",
        shown(from), " > to=", shown(to));
  return infer_like_first(call);
}

Value infer_normal(const OpCall& call) {
  check_deviation(call.number(2));
  require_floating_type(call.tensor(0).dtype(), "normal_kernel_cpu");
  return infer_like_first(call);
}

void require_continuous(const OpCall& call, const char* distribution) {
  const DType dtype = call.tensor(0).dtype();
  if (!is_floating(dtype))
    runtime_error(distribution,
                  " distribution is a continuous probability distribution. "
                  "dtype must be a floating point but you specified ",
                  torch_type_name(dtype));
}

Value infer_exponential(const OpCall& call) {
  require_continuous(call, "Exponential");
  if (!(call.number(1) > 0))
    runtime_error("exponential_ expects lambda > 0.0, but found lambda=",
                  shown(call.number(1)));
  return infer_like_first(call);
}

Value infer_cauchy(const OpCall& call) {
  require_continuous(call, "Cauchy");
  if (!(call.number(2) > 0))
    runtime_error("cauchy_ expects sigma > 0.0, but found sigma=",
                  shown(call.number(2)));
  return infer_like_first(call);
}

Value infer_log_normal(const OpCall& call) {
  if (!(call.number(2) > 0))
    runtime_error("log_normal_ expects std > 0.0, but found std=",
                  shown(call.number(2)));
  require_floating_type(call.tensor(0).dtype(), "log_normal_cpu");
  return infer_like_first(call);
}

Value infer_geometric(const OpCall& call) {
  const double p = call.number(1);
  if (!(p > 0 && p < 1))
    runtime_error("geometric_ expects p to be in (0, 1), but got p=", shown(p));
  if (call.tensor(0).dtype() == DType::boolean)
    no_kernel("geometric_cpu", DType::boolean);
  return infer_like_first(call);
}

// random_(): all numbers of the type. random_(to), random_(from, to). With None
// as the end all that the type holds from `from` on.
bool is_whole_range(const OpCall& call) { return !call.has(1); }

bool has_open_end(const OpCall& call) { return !call.has(2); }

Bounds random_bounds(const OpCall& call) {
  if (call[2].is_string()) return {0, call.integer(1)};
  return {call.integer(1), call.integer(2)};
}

// Numbers from `from` to the greatest, of which there may be 2^64: then 0.
uint64_t numbers_from(int64_t from, DType dtype) {
  return greatest_integer(dtype) - static_cast<uint64_t>(from) + 1;
}

Value infer_random(const OpCall& call) {
  if (!is_whole_range(call) && !has_open_end(call))
    check_bounds(random_bounds(call), call.tensor(0).dtype());
  return infer_like_first(call);
}

void fill_random_call(const OpCall& call, const Tensor& out, Draw& draw) {
  if (is_whole_range(call)) return fill_whole_range(out, draw);
  if (!has_open_end(call)) return fill_between(random_bounds(call), out, draw);
  const int64_t from = call.integer(1);
  const uint64_t range = numbers_from(from, out.dtype());
  fill_integers(out, range, range == 0 ? 0 : from, draw);
}

void check_chance(double p) {
  if (!(p >= 0 && p <= 1))
    runtime_error("bernoulli_ expects p to be in [0, 1], but got p=", shown(p));
}

void require_chances(const Tensor& p) {
  require_floating_type(p.dtype(), "bernoulli_tensor_cpu_p_");
}

Value infer_bernoulli(const OpCall& call) {
  if (call[1].is_tensor())
    require_chances(call.tensor(1));
  else
    check_chance(call.number(1));
  return infer_like_first(call);
}

// torch.bernoulli: the tensor's own numbers are the probabilities unless `p` is
// given.
Value infer_bernoulli_values(const OpCall& call) {
  if (call.has(1)) return infer_bernoulli(call);
  require_chances(call.tensor(0));
  return infer_like_first(call);
}

void check_chances(const Tensor& p) {
  visit_dtype(p.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0, n = p.numel(); i < n; ++i) {
      const auto chance = convert<double>(p.data_as<T>()[i]);
      if (!(chance >= 0 && chance <= 1))
        runtime_error(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an "
            "enhancement request to PyTorch.)");
    }
  });
}

void fill_bernoulli_call(const OpCall& call, const Tensor& out, Draw& draw) {
  const Value& chance = call.has(1) ? call[1] : call[0];
  if (chance.is_number()) return fill_bernoulli(out, chance.as_double(), draw);
  const Tensor p = Tensor::empty(out.sizes(), chance.as_tensor().dtype());
  p.copy_from(chance.as_tensor());
  check_chances(p);
  fill_bernoulli(out, p, draw);
}

#define FXJIT_GENERATOR ", *, generator=None"

constexpr OpRow kRandomWritesRows[] = {
    random_row("uniform", "input, from=0, to=1" FXJIT_GENERATOR, "",
               infer_uniform, drawn<fill_by_two<fill_uniform>>)
        .stating({.layout = Layout::first}),
    random_row("normal", "input, mean=0, std=1" FXJIT_GENERATOR, "",
               infer_normal, drawn<fill_by_two<fill_normal>>),
    random_row("exponential", "input, lambd=1" FXJIT_GENERATOR, "",
               infer_exponential, drawn<fill_by_one<fill_exponential>>)
        .stating({.layout = Layout::first}),
    random_row("cauchy", "input, median=0, sigma=1" FXJIT_GENERATOR, "",
               infer_cauchy, drawn<fill_by_two<fill_cauchy>>)
        .stating({.layout = Layout::first}),
    random_row("log_normal", "input, mean=1, std=2" FXJIT_GENERATOR, "",
               infer_log_normal, drawn<fill_by_two<fill_log_normal>>)
        .stating({.layout = Layout::first}),
    random_row("geometric", "input, p" FXJIT_GENERATOR, "", infer_geometric,
               drawn<fill_by_one<fill_geometric>>)
        .stating({.layout = Layout::first}),
    random_row("random", "input, from=None, to='no end'" FXJIT_GENERATOR, "",
               infer_random, drawn<fill_random_call>)
        .stating({.layout = Layout::first}),
    random_row("bernoulli", "input, p=0.5" FXJIT_GENERATOR, "", infer_bernoulli,
               drawn<fill_bernoulli_call>),
    random_row("bernoulli_values", "input, p=None" FXJIT_GENERATOR,
               "torch.bernoulli .bernoulli", infer_bernoulli_values,
               drawn<fill_bernoulli_call>),
    writer("uniform_", "input, from=0, to=1" FXJIT_GENERATOR, ".uniform_"),
    writer("normal_", "input, mean=0, std=1" FXJIT_GENERATOR, ".normal_"),
    writer("exponential_", "input, lambd=1" FXJIT_GENERATOR, ".exponential_"),
    writer("cauchy_", "input, median=0, sigma=1" FXJIT_GENERATOR, ".cauchy_"),
    writer("log_normal_", "input, mean=1, std=2" FXJIT_GENERATOR,
           ".log_normal_"),
    writer("geometric_", "input, p" FXJIT_GENERATOR, ".geometric_"),
    writer("random_", "input, from=None, to='no end'" FXJIT_GENERATOR,
           ".random_"),
    writer("bernoulli_", "input, p=0.5" FXJIT_GENERATOR, ".bernoulli_"),
};

#undef FXJIT_GENERATOR

}  // namespace

std::span<const OpRow> random_write_rows() { return kRandomWritesRows; }

}  // namespace fxjit::ops
