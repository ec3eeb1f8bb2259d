#include "src/program/cost/call_work.h"

#include <algorithm>

#include "src/ops/eager/convolution.h"
#include "src/ops/eager/pooling.h"
#include "src/ops/table/op_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/tensor/visit.h"

namespace fxjit::program {
namespace {

double count_of(const Tensor& tensor) {
  return static_cast<double>(tensor.numel());
}

double numbers_in(const Dims& sizes, int first) {
  double count = 1;
  for (int d = first; d < sizes.size(); ++d)
    count *= static_cast<double>(sizes[d]);
  return count;
}

// Every output is a sum over the window and the channels of its group; every
// input of a transposed one goes to as many outputs.
double convolution_flops(const ops::OpCall& call) {
  const ops::ConvParams params = ops::conv_params(call);
  const double each = numbers_in(call.tensor(1).sizes(), 1);
  return 2 * each *
         (params.transposed ? count_of(call.tensor(0))
                            : numbers_in(params.output, 0));
}

// Each instruction of the epilogue is one operation for each result.
double epilogue_flops(const ops::OpCall& call, const Tensor& result) {
  if (&call.op != &passes::conv_last_work_op()) return 0;
  const ScalarBody body = passes::conv_epilogue(call);
  const auto operations =
      std::ranges::count_if(body.instrs, [](const ScalarInstr& instr) {
        return prim_arity(instr.prim) > 0;
      });
  return static_cast<double>(operations) * count_of(result);
}

double pool_flops(const ops::OpCall& call) {
  const ops::PoolParams params = ops::pool_params(call);
  return numbers_in(params.output, 0) * numbers_in(params.kernel, 0);
}

double product_flops(const ops::OpCall& call, const Tensor& result) {
  const int at = ops::facts_of(call.op).product.left;
  const Tensor& left = call.tensor(static_cast<size_t>(at));
  if (left.dim() == 0) return 0;
  return 2 * count_of(result) * static_cast<double>(left.size(-1));
}

double flops_of(const ops::OpCall& call, const ValueList& results) {
  if (results.empty() || !results[0].is_tensor()) return 0;
  const Tensor& result = results[0].as_tensor();
  if (const auto flops = ops::facts_of(call.op).flops) return flops(call);
  switch (call.op.row.lowering) {
    case ops::Lowering::convolution:
      return convolution_flops(call) + epilogue_flops(call, result);
    case ops::Lowering::pool:
      return pool_flops(call);
    case ops::Lowering::contraction:
      return product_flops(call, result);
    case ops::Lowering::scalar:
      return count_of(result);
    case ops::Lowering::reduce:
      return count_of(call.tensor(0));
    default:
      return 0;
  }
}

}  // namespace

double tensor_bytes(const Tensor& meta) {
  double count = 1;
  for (int d = 0; d < meta.dim(); ++d)
    if (meta.strides()[d] != 0 || meta.sizes()[d] == 0)
      count *= static_cast<double>(meta.sizes()[d]);
  return count * static_cast<double>(meta.item_size());
}

CallWork call_work(const ops::Op& op, const ValueList& args,
                   const ValueList& results) {
  CallWork work;
  double written = 0;
  for (const Value& result : results)
    visit_leaves(result, [&](const Value& leaf) {
      if (leaf.is_tensor()) written += tensor_bytes(leaf.as_tensor());
    });
  bool picked = op.row.lowering == ops::Lowering::gather;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      const double bytes = tensor_bytes(leaf.as_tensor());
      work.bytes += picked ? std::min(bytes, written) : bytes;
      picked = false;
    });
  work.bytes += written;
  work.flops = flops_of({op, args}, results);
  return work;
}

}  // namespace fxjit::program
