// Windows whose results sum the few channels of a group, or of a whole image.
#include "src/passes/channels_last.h"
#include "src/passes/lowering/image_way.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/lowering/window_combine.h"

namespace fxjit::passes {
namespace {

// Vectors that levels have alike.
constexpr int64_t kLine = 16;

// Results whose weights lie together, no more than the first-level cache holds
// side by side: whole vectors, or some groups.
int64_t block_of(int64_t results, int64_t all) {
  if (results % kLine == 0) return results;
  if (kLine % results == 0) return all % kLine == 0 ? kLine : all;
  constexpr int64_t kMany = 4 * kLine;
  int64_t block = results;
  while (block < kMany || all % block != 0) {
    if (block >= all) return all;
    block += results;
  }
  return block;
}

// Weights [O, C, taps...] as window_op() takes them.
Value in_blocks(GraphBuilder& b, const Value& weight, int64_t block) {
  const Tensor t = val_of(weight);
  Dims split = t.sizes(), order{0}, back{0};
  split[0] = t.size(0) / block;
  split.insert(1, block);
  const int rank = split.size();
  // [O / block, taps but those of a row, C, taps of a row, block]
  for (int d = 3; d + 1 < rank; ++d) order.push_back(d);
  order.push_back(2), order.push_back(rank - 1), order.push_back(1);
  back.push_back(rank - 1), back.push_back(rank - 3);
  for (int d = 3; d + 1 < rank; ++d) back.push_back(d - 2);
  back.push_back(rank - 2);
  const Value blocks = call(b, "reshape", {weight, split});
  if (b.constant_of(blocks)) return blocks;  // Packed by the program.
  const Value turned =
      b.call(materialize_op(), {call(b, "permute", {blocks, order})});
  return call(b, "permute", {turned, back});
}

// Channels lie side by side, or columns of an image.
Value image_of(GraphBuilder& b, const ops::ConvParams& params, const Value& x) {
  const Tensor image = val_of(x);
  if (params.groups == 1 && image.stride(-1) == 1 && !is_channels_last(image))
    return x;
  return channels_to_front(b, with_last_dim_dense(b, channels_to_back(b, x)));
}

}  // namespace

Value lower_group_window(GraphBuilder& b, const ops::ConvParams& params,
                         const ValueList& args) {
  const Dims taps = taps_of(params, val_of(args[1]));
  const int64_t results = params.output[1];
  const Value blocks =
      in_blocks(b, args[1], block_of(results / params.groups, results));
  Value bias = args[2];
  if (!bias.is_none() && !val_of(bias).is_contiguous())
    bias = b.call(materialize_op(), {bias});
  return channels_to_front(
      b, b.call(window_op(),
                {image_of(b, params, args[0]), blocks, bias,
                 static_cast<int64_t>(WindowCombine::products), taps,
                 params.stride, params.pad_before, params.pad_after,
                 params.dilation, params.output, true, 0, params.groups}));
}

}  // namespace fxjit::passes
