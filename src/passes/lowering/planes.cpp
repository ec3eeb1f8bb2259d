// Products over a few features that lie far apart in memory, as sums of scaled
// planes: elementwise work in memory order, which fuses with what is around it.
//
//   linear(x.permute(0, 2, 3, 1), w, bias)
//     ==> (x[:, 0:1] * w[:, 0] + x[:, 1:2] * w[:, 1] + ... + bias)
//             .permute(0, 2, 3, 1)
#include <algorithm>

#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// More features fill the columns of a tile, which is worth a copy in order.
constexpr int64_t kMostFeatures = 16;
// Elements that lie between two features of a place: rows of a loop.
constexpr int64_t kLeastPlane = 64;

// Dims from the widest step to the narrowest; empty unless each of more than
// one element has a step of its own.
Dims widest_first(const Tensor& t) {
  Dims order;
  for (int d = 0; d < t.dim(); ++d) {
    if (t.size(d) > 1 && t.stride(d) == 0) return {};
    order.push_back(d);
  }
  std::stable_sort(order.begin(), order.end(), [&](Size a, Size b) {
    return t.strides()[static_cast<int>(a)] > t.strides()[static_cast<int>(b)];
  });
  return order;
}

}  // namespace

Value lower_plane_sums(GraphBuilder& b, const Value& input, const Value& weight,
                       const Value& bias) {
  if (b.options().lowering->strict_sums) return {};
  const Tensor t = val_of(input);
  const int last = t.dim() - 1;
  const Size depth = t.size(-1), features = val_of(weight).size(0);
  if (last < 1 || t.numel() == 0 || std::max(depth, features) > kMostFeatures ||
      std::min(depth, features) < 2 || t.stride(-1) < kLeastPlane)
    return {};
  const Dims order = widest_first(t);
  const int at = static_cast<int>(place_in(order, last));
  Size plane = 1;
  for (int i = at + 1; i < order.size(); ++i)
    plane *= t.size(static_cast<int>(order[i]));
  if (order.empty() || plane < kLeastPlane) return {};
  Dims along(static_cast<int>(order.size()) - at, 1);  // A number for a plane.
  along[0] = features;
  const Value planes = call(b, "permute", {input, order});
  Value sum;
  for (Size k = 0; k < depth; ++k) {
    const Value factor =
        call(b, "reshape", {call(b, "slice", {weight, 1, k, k + 1, 1}), along});
    const Value term =
        call(b, "mul", {call(b, "slice", {planes, at, k, k + 1, 1}), factor});
    sum = k == 0 ? term : call(b, "add", {sum, term});
  }
  if (!bias.is_none())
    sum = call(b, "add", {sum, call(b, "reshape", {bias, along})});
  return in_logical_order(b, sum, order);
}

}  // namespace fxjit::passes
