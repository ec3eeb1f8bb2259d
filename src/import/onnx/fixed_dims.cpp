#include "src/import/onnx/fixed_dims.h"

#include <algorithm>

#include "src/ops/table/op_facts.h"

namespace fxjit::onnx {
namespace {

using Known = std::function<KnownDims(const Value&)>;

uint32_t all_of(int rank) { return (1u << rank) - 1; }

bool is_fixed(const KnownDims& operand, int dim) {
  return (operand.fixed >> dim & 1) != 0;
}

bool is_tensor(const Value& value) {
  return value.is_tensor() || value.is_proxy();
}

// Operands broadcast: a dim is fixed where those of all of them are.
uint32_t of_broadcast(const ValueList& args, const Tensor& result,
                      const Known& known) {
  uint32_t fixed = all_of(result.dim());
  for (const Value& arg : args) {
    if (!is_tensor(arg)) continue;
    const KnownDims operand = known(arg);
    if (!operand.example.defined()) continue;  // A number.
    const int behind = result.dim() - operand.example.dim();
    for (int d = 0; d < operand.example.dim(); ++d)
      if (!is_fixed(operand, d)) fixed &= ~(1u << (d + behind));
  }
  return fixed;
}

uint32_t of_cat(const Value& list, const Tensor& result, const Known& known) {
  uint32_t fixed = all_of(result.dim());
  for (const Value& part : list.as_sequence()) fixed &= known(part).fixed;
  return fixed;
}

uint32_t of_unsqueeze(const Value& input, int64_t dim, const Tensor& result,
                      const Known& known) {
  const int place = wrap_dim(dim, result.dim());
  const uint32_t fixed = known(input).fixed, low = all_of(place);
  return (fixed & low) | 1u << place |
         ((fixed & ~low) << 1 & all_of(result.dim()));
}

// The sizes are arguments: numbers, or proxies of numbers that vary.
uint32_t of_sizes(const ValueList& sizes) {
  uint32_t fixed = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d].is_int() && sizes[d].as_int() >= 0) fixed |= 1u << d;
  return fixed;
}

// One size may be left out: it follows from the others and the input's.
uint32_t of_reshape(const Value& input, const ValueList& sizes,
                    const Tensor& result, const Known& known) {
  const KnownDims operand = known(input);
  if (!operand.example.defined()) return 0;
  const uint32_t input_dims = all_of(operand.example.dim());
  const bool all = std::all_of(sizes.begin(), sizes.end(),
                               [](const Value& size) { return size.is_int(); });
  if (all && (operand.fixed & input_dims) == input_dims)
    return all_of(result.dim());
  return of_sizes(sizes);
}

uint32_t of_permute(const Value& input, const ValueList& order,
                    const Tensor& result, const Known& known) {
  const KnownDims operand = known(input);
  uint32_t fixed = 0;
  for (size_t d = 0; d < order.size(); ++d)
    if (is_fixed(operand, wrap_dim(order[d].as_int(), result.dim())))
      fixed |= 1u << d;
  return fixed;
}

bool varies(const Value& arg) {
  bool found = false;
  visit_leaves(arg, [&](const Value& leaf) { found |= leaf.is_proxy(); });
  return found;
}

// Batches are the input's; planes have fixed sizes where the input's have and
// the windows are numbers. Channels are the input's, or rows of `weight`.
uint32_t of_windows(const ValueList& args, size_t tensors, const Tensor& result,
                    const Known& known) {
  const KnownDims input = known(args[0]);
  if (!input.example.defined() || input.example.dim() != result.dim()) return 0;
  const bool numbers = std::none_of(
      args.begin() + static_cast<std::ptrdiff_t>(tensors), args.end(), varies);
  uint32_t fixed = input.fixed & all_of(numbers ? result.dim() : 2);
  if (tensors == 1) return fixed;
  const KnownDims weight = known(args[1]);
  const uint32_t all = all_of(result.dim());
  return (weight.fixed & all) == all ? fixed | 2u : fixed & 1u;
}

}  // namespace

uint32_t fixed_dims(const ops::Op& op, const ValueList& args,
                    const Tensor& result, const Known& known) {
  if (op.row.lowering == ops::Lowering::scalar)
    return of_broadcast(args, result, known);
  if (op.row.lowering == ops::Lowering::convolution)
    return of_windows(args, 3, result, known);
  if (op.row.lowering == ops::Lowering::pool)
    return of_windows(args, 1, result, known);
  const ops::SizeRule& rule = ops::facts_of(op).sizes;
  if (rule.kind == ops::SizeKind::unsaid) return 0;
  const Value& said = args.at(static_cast<size_t>(rule.argument));
  switch (rule.kind) {
    case ops::SizeKind::unsaid:
      break;
    case ops::SizeKind::written:
      return all_of(result.dim());
    case ops::SizeKind::same:
      return known(said).fixed;
    case ops::SizeKind::joined:
      return said.is_sequence() ? of_cat(said, result, known) : 0;
    case ops::SizeKind::inserted:
      return said.is_int() ? of_unsqueeze(args[0], said.as_int(), result, known)
                           : 0;
    case ops::SizeKind::reshaped:
      return said.is_sequence()
                 ? of_reshape(args[0], said.as_sequence(), result, known)
                 : 0;
    case ops::SizeKind::permuted:
      return said.is_sequence() && !varies(said)
                 ? of_permute(args[0], said.as_sequence(), result, known)
                 : 0;
    case ops::SizeKind::listed:
      return said.is_sequence() ? of_sizes(said.as_sequence()) : 0;
  }
  throw InternalError("kind of sizes out of range");
}

}  // namespace fxjit::onnx
