// Group and instance norm of images whose channels lie innermost: sums of each
// channel over the places, then of the channels of a group, so that images are
// read in their order and nothing of their size is copied.
#include "src/passes/channels_last.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

class GroupNorm {
 public:
  // `x` is [N, ..., C].
  GroupNorm(GraphBuilder& b, const Value& x, Size groups)
      : b_(b), x_(x), groups_(groups), sizes_(val_of(x).sizes()) {
    for (int d = 1; d < sizes_.size() - 1; ++d) {
      inner_.push_back(d);
      places_ *= sizes_[d];
    }
  }

  Value run(const Value& weight, const Value& bias, double eps) const {
    const Value mean = mean_of_groups(x_);
    // Turned around, so that it is not the difference below: that would have
    // to be kept.
    const Value rest = call(b_, "sub", {mean, x_});
    const Value variance = mean_of_groups(call(b_, "mul", {rest, rest}));
    Value scale = call(b_, "rsqrt", {call(b_, "add", {variance, eps})});
    if (!weight.is_none()) scale = call(b_, "mul", {scale, weight});
    const Value result = call(b_, "mul", {call(b_, "sub", {x_, mean}), scale});
    return bias.is_none() ? result : call(b_, "add", {result, bias});
  }

 private:
  // [N, 1, ..., C]: the same for all channels of a group.
  Value mean_of_groups(const Value& values) const {
    const Size images = sizes_[0], channels = sizes_.back();
    const Size each = channels / groups_;
    Value sums = call(b_, "sum", {values, inner_, true});
    if (each > 1) {
      const Dims apart{images, groups_, each};
      const Value groups =
          call(b_, "sum", {call(b_, "reshape", {sums, apart}), Dims{2}, true});
      Dims whole(sizes_.size(), 1);
      whole[0] = images;
      whole[whole.size() - 1] = channels;
      sums = call(b_, "reshape", {call(b_, "expand", {groups, apart}), whole});
    }
    return call(b_, "div", {sums, places_ * each});
  }

  GraphBuilder& b_;
  const Value x_;
  Size groups_, places_ = 1;
  Dims sizes_, inner_;
};

bool is_f32_or_none(const Value& value) {
  return value.is_none() ||
         (value.is_proxy() && val_of(value).dtype() == DType::f32);
}

bool is_image(const Value& x) { return x.is_proxy() && val_of(x).dim() > 1; }

// The weight is argument `first`, the bias the next.
Value norm_of_groups(GraphBuilder& b, const ops::Op& op, const ValueList& args,
                     Size groups, size_t first) {
  const Tensor x = val_of(args[0]);
  if (x.dtype() != DType::f32 || x.numel() == 0 || !is_channels_last(x) ||
      !is_f32_or_none(args[first]) || !is_f32_or_none(args[first + 1]))
    return {};
  const size_t eps = static_cast<size_t>(op.index_of("eps"));
  // Whatever is wrong with the call is for the decomposition to say.
  for (size_t i : {first, first + 1})
    if (!args[i].is_none() && val_of(args[i]).sizes() != Dims{x.size(1)})
      return {};
  if (groups <= 0 || x.size(1) % groups != 0) return {};
  const GroupNorm norm(b, channels_to_back(b, args[0]), groups);
  return channels_to_front(
      b, norm.run(args[first], args[first + 1], args[eps].as_double()));
}

}  // namespace

Value lower_group_norm(GraphBuilder& b, const ops::Op& op,
                       const ValueList& args) {
  if (!is_image(args[0])) return {};
  return norm_of_groups(b, op, args, args[1].as_int(), 2);
}

Value lower_instance_norm(GraphBuilder& b, const ops::Op& op,
                          const ValueList& args) {
  const bool by_input =
      args[1].is_none() && args[2].is_none() && args[5].as_bool();
  if (!by_input || !is_image(args[0])) return {};
  return norm_of_groups(b, op, args, val_of(args[0]).size(1), 3);
}

}  // namespace fxjit::passes
