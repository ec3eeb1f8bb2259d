// Questions about the numbers of tensors that are answered by Python's values.
// The interpreter asks them; compiled modules go on behind them.
#include "fxjit/functions_pointwise.h"
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value infer_data_test(const OpCall& call) {
  throw DataDependentError(std::string(call.op.name()) +
                           ": expected a result that shapes tell, got one "
                           "that depends on the data; it runs eagerly only");
}

Value all_true(const Value& flags) {
  return static_cast<bool>(fxjit::all(flags));
}

Value equal(const OpCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  if (a.sizes() != b.sizes()) return false;
  return all_true(fxjit::eq(a, b));
}

Value allclose(const OpCall& call) {
  const DType a = call.tensor(0).dtype(), b = call.tensor(1).dtype();
  if (a != b)
    runtime_error(torch_type_name(a), " did not match ", torch_type_name(b));
  return all_true(
      function("torch.isclose", ValueList(call.args.begin(), call.args.end())));
}

Value is_nonzero(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.numel() == 0)
    runtime_error("Boolean value of Tensor with no values is ambiguous");
  if (input.numel() > 1)
    runtime_error(
        "Boolean value of Tensor with more than one value is ambiguous");
  return static_cast<bool>(call[0]);
}

// Nested lists of numbers; of a tensor without dims the number.
Value tolist(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0) return method(input, "item");
  ValueList items;
  for (int64_t i = 0; i < input.size(0); ++i)
    items.push_back(method(fxjit::getitem(input, i).as_tensor(), "tolist"));
  return items;
}

constexpr OpRow test_row(const char* name, const char* schema,
                         const char* names, EagerFn eager) {
  return made_row(name, schema, names, infer_data_test, eager);
}

constexpr OpRow kDataTestsRows[] = {
    test_row("equal", "input, other", "torch.equal .equal", equal),
    test_row("allclose",
             "input, other, rtol=1e-05, atol=1e-08, equal_nan=False",
             "torch.allclose .allclose", allclose),
    test_row("tolist", "input", ".tolist", tolist),
    test_row("is_nonzero", "input", "torch.is_nonzero .is_nonzero", is_nonzero),
};

}  // namespace

std::span<const OpRow> data_test_rows() { return kDataTestsRows; }

}  // namespace fxjit::ops
