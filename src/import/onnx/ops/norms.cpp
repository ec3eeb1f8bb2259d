// Normalisations and softmax.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

namespace F = nn::functional;

// In training the statistics are the input's, and their running means results.
Results trained_batch_norm(Call& call) {
  const double momentum = call.real("momentum", 0.9);
  const int rank = call.rank(0);
  std::vector<int64_t> but_channels = dims_from(2, rank);
  but_channels.insert(but_channels.begin(), 0);
  const Value dims = list_of(but_channels);
  const auto over_channels = [&](const Value& one) {
    return along(call, one, 0, std::max(rank - 1, 1));
  };
  const Value x = call[0];
  const Value average = mean(x, dims), spread = var(x, dims, 0);
  const Value centred = x - over_channels(average);
  const Value scale = call[1] / sqrt(spread + call.real("epsilon", 1e-5));
  const Value y = centred * over_channels(scale) + over_channels(call[2]);
  const auto running = [&](const Value& before, const Value& now) {
    return before * momentum + now * (1 - momentum);
  };
  return std::vector<Operand>{y, running(call[3], average),
                              running(call[4], spread)};
}

Results batch_norm(Call& call) {
  if (call.flag("training_mode", false)) return trained_batch_norm(call);
  return F::batch_norm(call[0], call[3], call[4], call[1], call[2], false, 0.1,
                       call.real("epsilon", 1e-5));
}

Results instance_norm(Call& call) {
  return function("torch.ops.aten.instance_norm.default",
                  {call[0], call[1], call[2], None, None, true, 0.1,
                   call.real("epsilon", 1e-5), false});
}

std::vector<Value> sizes_from(const Call& call, size_t input, int64_t axis) {
  std::vector<Value> sizes = call.sizes(input);
  sizes.erase(sizes.begin(), sizes.begin() + axis);
  return sizes;
}

// Whether a weight has the sizes of what is normalised, so that torch takes it.
bool covers(const Call& call, size_t input, const std::vector<Value>& sizes) {
  if (!call.has(input)) return true;
  return call.sizes(input).size() == sizes.size();
}

Results layer_norm_of(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", -1), call.rank(0));
  const double epsilon = call.real("epsilon", 1e-5);
  const std::vector<Value> sizes = sizes_from(call, 0, axis);
  const bool plain = covers(call, 1, sizes) && covers(call, 2, sizes);
  if (plain && !call.wants(1) && !call.wants(2))
    return F::layer_norm(call[0], list_of(sizes), call[1], call.optional(2),
                         epsilon);
  const Value dims = list_of(dims_from(axis, call.rank(0)));
  const Value x = cast(call, call[0], DType::f32);
  const Value average = mean(x, dims, true);
  const Value factor = rsqrt(var(x, dims, 0, true) + epsilon);
  Value y = cast(call, (x - average) * factor, call.dtype(0)) * call[1];
  if (call.has(2)) y = y + call[2];
  return std::vector<Operand>{y, average, factor};
}

Results rms_norm_of(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", -1), call.rank(0));
  const double epsilon = call.real("epsilon", 1e-5);
  const std::vector<Value> sizes = sizes_from(call, 0, axis);
  if (covers(call, 1, sizes))
    return F::rms_norm(call[0], list_of(sizes), call[1], epsilon);
  const Value x = cast(call, call[0], DType::f32);
  const Value dims = list_of(dims_from(axis, call.rank(0)));
  const Value factor = rsqrt(mean(x * x, dims, true) + epsilon);
  return cast(call, x * factor, call.dtype(0)) * call[1];
}

// Weights for each group, as opset 18 to 20 has them.
Value per_channel(const Call& call, size_t input, int64_t groups) {
  const Value each = operators::floordiv(call.size(0, 1), groups);
  const Value spread =
      expand(unsqueeze(call[input], 1), Value::list({groups, each}));
  return reshape(spread, Value::list({-1}));
}

template <bool kPerGroup>
Results group_norm_of(Call& call) {
  const int64_t groups = call.integer("num_groups");
  if (groups < 1) call.fail("num_groups: " + std::to_string(groups));
  const Value scale = kPerGroup ? per_channel(call, 1, groups) : call[1];
  const Value bias = kPerGroup ? per_channel(call, 2, groups) : call[2];
  return F::group_norm(call[0], groups, scale, bias,
                       call.real("epsilon", 1e-5));
}

Results lrn(Call& call) {
  const int64_t size = call.integer("size");
  if (size < 1) call.fail("size: " + std::to_string(size));
  const int rank = call.rank(0);
  const Value squares = call[0] * call[0];
  // The sum over a window of channels.
  ValueList pads;
  for (int d = 2; d < rank; ++d) pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), {(size - 1) / 2, size - 1 - (size - 1) / 2});
  const Value padded = F::pad(squares, Value::list(pads));
  const Value channels = call.size(0, 1);
  Value sums = narrow(padded, 1, 0, channels);
  for (int64_t i = 1; i < size; ++i)
    sums = sums + narrow(padded, 1, i, channels);
  const double alpha = call.real("alpha", 1e-4) / static_cast<double>(size);
  const Value scale = sums * alpha + call.real("bias", 1);
  return call[0] / pow(scale, call.real("beta", 0.75));
}

Results lp_normalization(Call& call) {
  const int64_t axis = call.integer("axis", -1);
  const Value x = call[0];
  const Value size = call.integer("p", 2) == 1 ? sum(abs(x), axis, true)
                                               : sqrt(sum(x * x, axis, true));
  return where(size == 0, zeros_like(x), x / size);
}

Results mean_variance(Call& call) {
  const Value dims =
      list_of(call.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}));
  const Value x = call[0];
  const Value average = mean(x, dims, true);
  const Value spread = sqrt(mean(x * x, dims, true) - average * average);
  return (x - average) / (spread + 1e-9);
}

// Up to opset 12 all dims from `axis` on count as one.
template <Value (*kFunction)(const Arg&, const Arg&, const Arg&)>
Results softmax_flat(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 1), call.rank(0));
  if (axis == call.rank(0) - 1) return kFunction(call[0], axis, None);
  const Value flat = flatten(call[0], axis);
  return reshape(kFunction(flat, axis, None), list_of(call.sizes(0)));
}

template <Value (*kFunction)(const Arg&, const Arg&, const Arg&)>
Results softmax_of(Call& call) {
  return kFunction(call[0], call.integer("axis", -1), None);
}

// One at the first of the largest elements.
Value hardmax(const Call& call, const Value& x, int64_t axis) {
  const Value first = argmax(x, axis, true);
  const int rank = call.rank_of(x);
  const Value size = function("torch.ops.aten.sym_size.int", {x, axis});
  const Value places = along(call, line(size), call.wrap(axis, rank), rank);
  return cast(call, first == places, call.dtype(0));
}

Results hardmax_flat(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 1), call.rank(0));
  return reshape(hardmax(call, flatten(call[0], axis), axis),
                 list_of(call.sizes(0)));
}

Results hardmax_of(Call& call) {
  return hardmax(call, call[0], call.integer("axis", -1));
}

constexpr OpRow kNormsOps[] = {
    {.op = "BatchNormalization", .run = batch_norm},
    {.op = "GroupNormalization", .since = 18, .run = group_norm_of<true>},
    {.op = "GroupNormalization", .since = 21, .run = group_norm_of<false>},
    {.op = "Hardmax", .run = hardmax_flat},
    {.op = "Hardmax", .since = 13, .run = hardmax_of},
    {.op = "InstanceNormalization", .run = instance_norm},
    {.op = "LRN", .run = lrn},
    {.op = "LayerNormalization", .since = 17, .run = layer_norm_of},
    {.op = "LogSoftmax", .run = softmax_flat<log_softmax>},
    {.op = "LogSoftmax", .since = 13, .run = softmax_of<log_softmax>},
    {.op = "LpNormalization", .run = lp_normalization},
    {.op = "MeanVarianceNormalization", .since = 9, .run = mean_variance},
    {.op = "RMSNormalization", .since = 23, .run = rms_norm_of},
    {.op = "Softmax", .run = softmax_flat<softmax>},
    {.op = "Softmax", .since = 13, .run = softmax_of<softmax>},
};

}  // namespace

std::span<const OpRow> norm_rows() { return kNormsOps; }

}  // namespace fxjit::onnx
