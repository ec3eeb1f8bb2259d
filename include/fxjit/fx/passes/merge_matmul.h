// merge_matmul: one large matrix product in place of several that have the same
// right side (torch.fx.experimental.merge_matmul).
#pragma once

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// The model, traced, with calls `torch.matmul(a, c)` and `torch.matmul(b, c)`
// as one product of `torch.cat([a, b])`, whose rows are handed back by a call
// of "torch.fx.experimental.merge_matmul.split_result_tensors". Only products
// that do not need each other are merged. Attributes of one name are one
// operand. The left sides must have two dims or more, all but the first of
// equal size. The model is not changed.
//
// Unlike torch's, which gives up six calls away, independence is found exactly,
// and several groups may be merged. Linear in the graph for each group.
nn::Ref<GraphModule> merge_matmul(nn::Module& model);
template <typename T>
nn::Ref<GraphModule> merge_matmul(const nn::Ref<T>& model) {
  return merge_matmul(static_cast<nn::Module&>(*model));
}

}  // namespace fxjit::fx::passes
