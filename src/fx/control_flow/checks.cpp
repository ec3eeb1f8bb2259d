// What the parts of control flow must agree in, with torch's texts.
#include "fxjit/fx/pytree.h"
#include "src/fx/control_flow/run.h"

namespace fxjit::fx {
namespace {

std::string size_text(const Dims& sizes) {
  return "torch.Size(" + repr(Value(sizes)) + ")";
}

std::string dtype_text(const Value& value) {
  return "torch." + std::string(dtype_name(value.as_tensor().dtype()));
}

std::string difference(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return "";
  if (!a.is_tensor() || !b.is_tensor())
    return "type: " + repr(a) + " vs " + repr(b);
  std::string text;
  const Dims &left = a.as_tensor().sizes(), &right = b.as_tensor().sizes();
  if (left != right)
    text = "'shape: " + size_text(left) + " vs " + size_text(right) + "'";
  if (a.as_tensor().dtype() != b.as_tensor().dtype())
    text += (text.empty() ? "'dtype: " : ", 'dtype: ") + dtype_text(a) +
            " vs " + dtype_text(b) + "'";
  return text;
}

std::string described(const Value& value) {
  return value.is_tensor() ? value.as_tensor().describe() : repr(value);
}

std::string described(const ValueList& values) {
  std::string text = "[";
  for (const Value& value : values)
    text += (text.size() > 1 ? ", " : "") + described(value);
  return text + "]";
}

std::string flat_spec(size_t leaves) {
  std::string text = "TreeSpec(tuple, None, [";
  for (size_t i = 0; i < leaves; ++i) text += i > 0 ? ",\n  *" : "*";
  return text + "])";
}

[[noreturn]] void fail_merging(const std::string& what, const std::string& on_true,
                               const std::string& on_false) {
  throw RuntimeError(
      "When merging two branches' output in torch.cond,  expected same " + what +
      " but got " + on_true + " and " + on_false + ".");
}

}  // namespace

bool is_data(const Value& value) {
  return value.is_tensor() || value.is_proxy();
}

void check_pred(const Value& pred) {
  if (!is_data(pred))
    throw RuntimeError("Expected pred to be bool or tensor, but got " +
                       repr(pred) + ".");
  if (pred.is_tensor() && pred.as_tensor().numel() != 1)
    throw RuntimeError(
        "Expected pred to be bool or single-element tensor, but got " +
        repr(pred) + ".");
}

void check_operands(const Value& operands) {
  for (const Value& leaf : tree_leaves(operands))
    if (!is_data(leaf))
      throw RuntimeError(
          "Expect operands to be a tuple of possibly nested dict/list/tuple "
          "that "
          "only consists of tensor leaves, but got " +
          repr(operands) + ".");
}

void check_carried(const Value& carried) {
  for (const Value& leaf : tree_leaves(carried))
    if (!is_data(leaf) && !leaf.is_int())
      throw RuntimeError(
          "Expect carried_inputs to be a tuple of possibly nested "
          "dict/list/tuple that onlyconsists of tensor or int leaves, but "
          "got " +
          repr(carried) + ".");
}

void check_carried_count(size_t given, size_t carried) {
  if (given != carried)
    throw AssertionError(
        "body_fn should return the same number of elements as carried_inputs, "
        "got " +
        std::to_string(given) + " vs " + std::to_string(carried));
}

void check_same_metadata(const ValueList& lhs, const ValueList& rhs,
                         std::string_view lhs_name, std::string_view rhs_name) {
  const std::string names =
      "Expected " + std::string(lhs_name) + " and " + std::string(rhs_name);
  if (lhs.size() != rhs.size())
    throw RuntimeError(names + " to have same number of outputs but got lhs:" +
                       described(lhs) + " and rhs:" + described(rhs));
  std::string differences;
  for (size_t i = 0; i < lhs.size(); ++i)
    if (const std::string text = difference(lhs[i], rhs[i]); !text.empty())
      differences += "\npair[" + std::to_string(i) + "] differ in " + text +
                     ", where lhs is " + described(lhs[i]) + " and rhs is " +
                     described(rhs[i]);
  if (!differences.empty())
    throw RuntimeError(names + " to have same metadata but found:" +
                       differences);
}

void check_branches(const Value& on_true, const Value& on_false) {
  const ValueList a = tree_leaves(on_true), b = tree_leaves(on_false);
  if (a.size() != b.size())
    throw RuntimeError(
        "Unmatched output spec from torch.cond branches: true branch tree_spec " +
        flat_spec(a.size()) + " vs false branch tree_spec " +
        flat_spec(b.size()) + ".");
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_tensor() != b[i].is_tensor())
      fail_merging("type", described(a[i]), described(b[i]));
    if (!a[i].is_tensor()) continue;
    const Tensor &left = a[i].as_tensor(), &right = b[i].as_tensor();
    if (left.dtype() != right.dtype())
      fail_merging("dtype", dtype_text(a[i]), dtype_text(b[i]));
    if (left.dim() != right.dim())
      fail_merging("dim", std::to_string(left.dim()),
                   std::to_string(right.dim()));
  }
}

int64_t slice_count(const ControlCall& call) {
  const bool scans = call.kind != ControlFlow::map;
  std::string shapes;
  int64_t count = -1;
  bool even = true;
  for (const Value& x : call.xs) {
    if (!x.is_tensor())
      throw RuntimeError(scans ? "All xs leaves must be a Tensor but got " +
                                     repr(x)
                               : "Leaves of xs must be Tensor " +
                                     described(call.xs));
    const Dims& sizes = x.as_tensor().sizes();
    if (sizes.size() == 0 || sizes[0] == 0)
      throw RuntimeError(
          scans ? "All xs leaves must at least have 'dim' number of dimensions "
                  "and scan dimension > 0"
                : "Leading dimensions of mapped xs cannot be 0.");
    shapes += (shapes.empty() ? "" : ", ") + size_text(sizes);
    even = even && (count < 0 || count == sizes[0]);
    count = sizes[0];
  }
  if (!even)
    throw RuntimeError("Leaves of xs must have same leading dimension size [" +
                       shapes + "]");
  if (count < 0)
    throw RuntimeError("Expected at least 1 xs leaf");
  return count;
}

void check_loop_condition(const Value& condition) {
  if (condition.is_bool()) return;
  if (condition.is_tensor() && condition.as_tensor().dim() == 0 &&
      condition.as_tensor().dtype() == DType::boolean)
    return;
  throw RuntimeError(
      "cond_fn must return a boolean scalar tensor or a boolean but got " +
      repr(condition));
}

}  // namespace fxjit::fx
