// Transposed convolutions as convolutions of stride 1. What lies `t` places
// behind a multiple of the stride s sees every s-th tap from some first one on,
// and so is a convolution with these taps, turned round:
//
//   y[q * s + t] = sum over j of x[q - j] * w[j * s + t]   (without padding)
//
// Those of all t along a dim are the features of one convolution if they have
// equally many taps. Else they are made one by one, and put beside each other:
// a tap more, of zeros, would make NaN of infinities that the place does not
// see.
#include <algorithm>
#include <numeric>

#include "src/passes/channels_last.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// One dim of a convolution that gives some of the places.
struct Part {
  bool joined = false;  // All places of a stride are features.
  int64_t first_tap = 0, tap_step = 1, taps = 0;
  int64_t dilation = 1;
  // Where its first place looks for the first tap, and its places.
  Size first = 0, places = 0;
};

class Transposed {
 public:
  Transposed(GraphBuilder& b, const ops::ConvParams& params,
             const ValueList& args)
      : b_(b), params_(params), args_(args), spatial_(params.spatial) {
    const Tensor weight = val_of(args[1]);
    for (int d = 0; d < spatial_; ++d) window_.push_back(weight.size(2 + d));
    for (int d = 0; d < spatial_; ++d) joined_.push_back(joins(d));
  }

  // Whether every place of the result has taps, every convolution an input, and
  // few of the taps are outside of it: those of a small image are products that
  // the transposed convolution has not.
  bool has_taps() const {
    constexpr int64_t kMostWork = 2;
    for (int d = 0; d < spatial_; ++d) {
      const int64_t taps = (window_[d] + stride(d) - 1) / stride(d);
      if (taps * params_.output[2 + d] > kMostWork * input(d) * window_[d])
        return false;
      if (window_[d] < stride(d) || std::gcd(stride(d), dilation(d)) != 1)
        return false;
      for (int64_t t = 0; t < (joined_[d] ? 1 : stride(d)); ++t) {
        const Part part = joined_[d] ? joined_part(d) : this->part(d, t);
        if (part.first >= input(d) || end_of(part) <= 0) return false;
      }
    }
    return true;
  }

  // [N, O, ...] over memory [N, ..., O].
  Value result() {
    if (strides()) args_[0] = side_by_side(args_[0]);
    return channels_to_front(b_, places(std::vector<Part>{}));
  }

 private:
  int64_t stride(int d) const { return params_.stride[d]; }
  int64_t dilation(int d) const { return params_.dilation[d]; }
  Size input(int d) const { return val_of(args_[0]).size(2 + d); }
  bool strides() const {
    return std::any_of(params_.stride.begin(), params_.stride.end(),
                       [](Size s) { return s != 1; });
  }

  bool joins(int d) const {
    return params_.groups == 1 && dilation(d) == 1 && stride(d) > 1 &&
           window_[d] % stride(d) == 0;
  }

  Value side_by_side(const Value& x) {
    return channels_to_front(b_,
                             with_last_dim_dense(b_, channels_to_back(b_, x)));
  }

  // All places of the dims behind those of `parts`, [N, places..., O].
  Value places(std::vector<Part> parts) {
    const int d = static_cast<int>(parts.size());
    if (d == spatial_) return in_order(parts);
    if (joined_[d] || stride(d) == 1) {
      parts.push_back(joined_[d] ? joined_part(d) : part(d, 0));
      return places(std::move(parts));
    }
    ValueList made;
    for (int64_t t = 0; t < stride(d); ++t) {
      parts.push_back(part(d, t));
      made.push_back(call(b_, "unsqueeze", {places(parts), 2 + d}));
      parts.pop_back();
    }
    Value all = call(b_, "cat", {Value::list(std::move(made)), 2 + d});
    Dims sizes = val_of(all).sizes();
    sizes[1 + d] *= sizes[2 + d];
    sizes.erase(2 + d);
    all = call(b_, "reshape", {all, sizes});
    return call(b_, "slice", {all, 1 + d, 0, params_.output[2 + d], 1});
  }

  // Behind the last element that windows see.
  static Size end_of(const Part& part) {
    return part.first + (part.places - 1) + (part.taps - 1) * part.dilation + 1;
  }

  // The places t, t + stride, ..., as many for all t.
  Part part(int d, int64_t t) const {
    const int64_t s = stride(d);
    const int64_t at = t + params_.pad_before[d];
    Part part;
    part.tap_step = s;
    while (part.first_tap * dilation(d) % s != at % s) ++part.first_tap;
    part.taps = (window_[d] - part.first_tap + s - 1) / s;
    part.dilation = dilation(d);
    // Of the taps, the last one is the first under the window.
    part.first = (at - part.first_tap * dilation(d)) / s -
                 (part.taps - 1) * part.dilation;
    part.places = (params_.output[2 + d] + (s - 1)) / s;
    return part;
  }

  // The places of whole strides.
  Part joined_part(int d) const {
    const int64_t s = stride(d), pad = params_.pad_before[d];
    Part part;
    part.joined = true;
    part.taps = window_[d] / s;
    part.first = pad / s - (part.taps - 1);
    part.places = (params_.output[2 + d] + (pad + s - 1)) / s - pad / s;
    return part;
  }

  // The convolution, [N, places..., features...], with joined places in order.
  Value in_order(const std::vector<Part>& parts) {
    Value y = channels_to_back(b_, convolution(parts));
    Dims split{val_of(y).size(0)}, order{0}, sizes{val_of(y).size(0)};
    for (const Part& part : parts) split.push_back(part.places);
    int feature = 1 + spatial_;
    for (int d = 0; d < spatial_; ++d) {
      order.push_back(1 + d);
      sizes.push_back(parts[d].places);
      if (!parts[d].joined) continue;
      order.push_back(feature++);
      split.push_back(stride(d));
      sizes[1 + d] *= stride(d);
    }
    if (feature == 1 + spatial_) return y;
    order.push_back(feature);
    split.push_back(params_.output[1]), sizes.push_back(params_.output[1]);
    y = call(b_, "permute", {call(b_, "reshape", {y, split}), order});
    y = call(b_, "reshape", {y, sizes});
    for (int d = 0; d < spatial_; ++d) {
      if (!parts[d].joined) continue;
      const Size first = params_.pad_before[d] % stride(d);
      y = call(b_, "slice",
               {y, 1 + d, first, first + params_.output[2 + d], 1});
    }
    return y;
  }

  Value convolution(const std::vector<Part>& parts) {
    ops::ConvParams conv = params_;
    conv.transposed = false;
    conv.output_padding = {};
    Value x = args_[0];
    for (int d = 0; d < spatial_; ++d) {
      const Part& part = parts[d];
      const Size size = input(d);
      const Size end = end_of(part);
      // What no window sees is left out.
      const Size from = larger(0, part.first);
      const Size to = size - larger(0, size - end);
      if (from != 0 || to != size)
        x = call(b_, "slice", {x, 2 + d, from, to, 1});
      conv.stride[d] = 1, conv.dilation[d] = part.dilation;
      conv.pad_before[d] = from - part.first;
      conv.pad_after[d] = end - to;
      conv.output[2 + d] = part.places;
    }
    const Value weight = weight_of(parts);
    conv.output[1] = val_of(weight).size(0);
    return lower_f32_convolution(b_, conv, {x, weight, bias_of(parts)});
  }

  // [features, C / groups, taps...]
  Value weight_of(const std::vector<Part>& parts) {
    Value w = args_[1];
    for (int d = 0; d < spatial_; ++d) w = taps_of(w, d, parts[d]);
    // Joined dims, of which groups have none, are now two: [taps, places of a
    // stride].
    const Tensor t = val_of(w);
    const int64_t groups = params_.groups;
    const Size channels = t.size(0) / groups;
    Dims split, order, taps, sizes{params_.output[1], channels};
    if (groups > 1) split.push_back(groups), order.push_back(0);
    const int channel_dim = split.size();
    split.push_back(channels);
    for (int d = 1; d < t.dim(); ++d) split.push_back(t.size(d));
    int at = channel_dim + 2;
    for (const Part& part : parts) {
      taps.push_back(at++);
      if (!part.joined) continue;
      sizes[0] *= split[at];
      order.push_back(at++);
    }
    order.push_back(channel_dim + 1), order.push_back(channel_dim);
    for (Size d : taps) {
      order.push_back(d);
      sizes.push_back(split[static_cast<int>(d)]);
    }
    w = call(b_, "permute", {call(b_, "reshape", {w, split}), order});
    return call(b_, "reshape", {w, sizes});
  }

  // The weights with the taps of a part along one dim, turned round.
  Value taps_of(Value w, int d, const Part& part) {
    // Dims in front of it that are joined have become two.
    int dim = 2;
    for (int before = 0; before < d; ++before) dim += joined_[before] ? 2 : 1;
    if (!part.joined) {
      w = call(b_, "slice",
               {w, dim, part.first_tap, window_[d], part.tap_step});
      return call(b_, "flip", {w, Dims{dim}});
    }
    Dims sizes = val_of(w).sizes();
    sizes[dim] = part.taps;
    sizes.insert(dim + 1, stride(d));
    return call(b_, "flip", {call(b_, "reshape", {w, sizes}), Dims{dim}});
  }

  Value bias_of(const std::vector<Part>& parts) {
    if (args_[2].is_none()) return args_[2];
    Size copies = 1;
    for (int d = 0; d < spatial_; ++d)
      if (parts[d].joined) copies *= stride(d);
    const Size features = params_.output[1];
    const Value all = call(b_, "expand", {args_[2], Dims{copies, features}});
    return call(b_, "reshape", {all, Dims{copies * features}});
  }

  GraphBuilder& b_;
  const ops::ConvParams& params_;
  ValueList args_;
  const int spatial_;
  Dims window_;  // Taps.
  std::vector<bool> joined_;
};

// Whether windows lie side by side, so that the product of each place's
// channels with the weights is all.
bool lie_side_by_side(const ops::ConvParams& params, const Tensor& weight) {
  if (params.groups != 1) return false;
  for (int d = 0; d < params.spatial; ++d)
    if (params.stride[d] != weight.size(2 + d) || params.dilation[d] != 1)
      return false;
  return true;
}

}  // namespace

bool pays_by_turns(GraphBuilder& b, const ops::ConvParams& params,
                   const ValueList& args) {
  const Tensor weight = val_of(args[1]);
  if (!params.transposed || weight.numel() == 0) return false;
  // Weights that change would be cut in every call; on other levels than AVX2
  // the library's was not compared.
  const bool pays =
      b.options().lowering->plane_windows && b.is_constant(args[1]);
  if (!pays && !lie_side_by_side(params, weight)) return false;
  return Transposed(b, params, args).has_taps();
}

Value lower_transposed(GraphBuilder& b, const ops::ConvParams& params,
                       const ValueList& args) {
  return Transposed(b, params, args).result();
}

}  // namespace fxjit::passes
