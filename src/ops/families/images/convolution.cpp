// Convolutions of 1 to 3 spatial dims and their transposes: reading of the
// arguments, shape rules with torch's messages, eager function.
#include "src/ops/eager/convolution.h"
#include "src/ops/eager/backend.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// Rows differ in the order of parameters, and "convolution" serves any rank.
bool is_transposed(const OpCall& call) {
  if (call.op.index_of("transposed") >= 0)
    return call.flag(index_of(call, "transposed"));
  return call.op.index_of("output_padding") >= 0;
}

int spatial_dims(const OpCall& call) {
  const std::string_view name = call.op.name();
  for (int n = 1; n <= 3; ++n)
    if (name.ends_with(std::to_string(n) + "d")) return n;
  return call.tensor(1).dim() - 2;
}

void check_ranks(const OpCall& call, int spatial) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1);
  const std::string name = (is_transposed(call) ? "conv_transpose" : "conv") +
                           std::to_string(spatial) + "d";
  if (spatial < 1 || spatial > 3)
    runtime_error("convolution: expected weight of 3 to 5 dimensions, got ",
                  weight.sizes());
  if (input.dim() != spatial + 1 && input.dim() != spatial + 2)
    runtime_error("Expected ", spatial + 1, "D (unbatched) or ", spatial + 2,
                  "D (batched) input to ", name,
                  ", but got input of size: ", input.sizes());
  if (weight.dim() != spatial + 2)
    runtime_error("Expected ", spatial + 2,
                  "-dimensional weight, but got weight of size ",
                  weight.sizes());
  if (input.dtype() != weight.dtype())
    runtime_error("Input type (", torch_type_name(input.dtype()),
                  ") and weight type (", torch_type_name(weight.dtype()),
                  ") should be the same");
  if (!is_floating(input.dtype()))
    throw NotImplementedError(
        "convolution: expected a floating point type, got " +
        std::string(dtype_name(input.dtype())));
}

void check_channels(const ConvParams& params, const Dims& input,
                    const Dims& weight, const Dims& printed) {
  if (params.groups <= 0) runtime_error("non-positive groups is not supported");
  Size expected = weight[0];
  if (!params.transposed) expected = ExactInt(weight[1]) * params.groups;
  const std::string given = "Given groups=" + std::to_string(params.groups) +
                            ", weight of size " + weight.str();
  if (!params.transposed && weight[0] % params.groups != 0)
    runtime_error(given, ", expected weight to be divisible by ", params.groups,
                  " at dimension 0, but got weight of size ", weight,
                  " instead");
  if (params.transposed && weight[0] % params.groups != 0)
    runtime_error(given, ", expected weight to be divisible by ", params.groups,
                  " at dimension 0");
  if (weight[0] < params.groups)
    runtime_error("Given groups=", params.groups,
                  ", expected weight to be at least ", params.groups,
                  " at dimension 0, but got weight of size ", weight,
                  " instead");
  if (input[1] == expected) return;
  runtime_error(params.transposed
                    ? "Given transposed=1, weight of size " + weight.str()
                    : given,
                ", expected input", printed, " to have ", expected,
                " channels, but got ", input[1], " channels instead");
}

void check_bias(const OpCall& call, const ConvParams& params) {
  if (!call.has(2)) return;
  const Tensor& bias = call.tensor(2);
  if (bias.dim() == 1 && bias.numel() == params.output[1]) return;
  runtime_error("Given ", params.transposed ? "transposed=1, " : "",
                "weight of size ", call.tensor(1).sizes(),
                ", expected bias to be 1-dimensional with ", params.output[1],
                " elements, but got bias of size ", bias.sizes(), " instead");
}

// 'same' keeps the size; of an odd total the larger half goes after.
void same_padding(ConvParams& params, const Dims& weight) {
  for (int i = 0; i < params.spatial; ++i) {
    if (params.stride[i] != 1)
      runtime_error("padding='same' is not supported for strided convolutions");
    const Size total =
        ExactInt(params.dilation[i]) * (ExactInt(weight[2 + i]) - 1);
    params.pad_before[i] = total / 2;
    params.pad_after[i] = total - total / 2;
  }
}

void read_padding(const OpCall& call, ConvParams& params, const Dims& weight) {
  if (const int before = call.op.index_of("pad_before"); before >= 0) {
    params.pad_before =
        per_axis_arg(call, static_cast<size_t>(before), params.spatial);
    params.pad_after =
        per_axis_arg(call, index_of(call, "pad_after"), params.spatial);
    return;
  }
  const Value& padding = call[index_of(call, "padding")];
  params.pad_before = params.pad_after = Dims(params.spatial, 0);
  if (padding.is_string()) {
    if (padding.as_string() == "same")
      same_padding(params, weight);
    else if (padding.as_string() != "valid")
      runtime_error("Invalid padding string: '", padding.as_string(), "'");
    return;
  }
  params.pad_before = params.pad_after =
      per_axis_arg(call, index_of(call, "padding"), params.spatial);
  for (const Size pad : params.pad_before)
    if (pad < 0) runtime_error("negative padding is not supported");
}

std::string sizes_text(const Dims& sizes, int first) {
  std::string text = "(";
  for (int i = first; i < sizes.size(); ++i)
    text += (i > first ? " x " : "") + std::to_string(sizes[i]);
  return text + ")";
}

void forward_output(ConvParams& params, const Dims& input, const Dims& weight) {
  params.output = {input[0], weight[0]};
  Dims padded;
  bool fits = true;
  for (int i = 0; i < params.spatial; ++i) {
    padded.push_back(ExactInt(input[2 + i]) + params.pad_before[i] +
                     params.pad_after[i]);
    const Size reach =
        ExactInt(params.dilation[i]) * (ExactInt(weight[2 + i]) - 1) + 1;
    fits = fits && padded[i] >= reach;
    params.output.push_back((padded[i] - reach) / params.stride[i] + 1);
  }
  if (!fits)
    runtime_error(
        "Calculated padded input size per channel: ", sizes_text(padded, 0),
        ". Kernel size: ", sizes_text(weight, 2),
        ". Kernel size can't be greater than actual input size");
}

[[noreturn]] void output_padding_too_large(const ConvParams& params) {
  std::string text =
      "output padding must be smaller than either stride or dilation";
  const auto pair = [&](const char* what, const Dims& dims) {
    text += std::string(" ") + what + "_height: " + std::to_string(dims[0]) +
            " " + what + "_width: " + std::to_string(dims[1]);
  };
  if (params.spatial == 2) {
    text += ", but got";
    pair("output_padding", params.output_padding);
    pair("stride", params.stride);
    pair("dilation", params.dilation);
  }
  runtime_error(text);
}

void transposed_output(ConvParams& params, const Dims& input,
                       const Dims& weight) {
  params.output = {input[0], ExactInt(weight[1]) * params.groups};
  for (int i = 0; i < params.spatial; ++i) {
    if (params.output_padding[i] >=
        larger(params.stride[i], params.dilation[i]))
      output_padding_too_large(params);
    const Size reach =
        ExactInt(params.dilation[i]) * (ExactInt(weight[2 + i]) - 1);
    const Size size = ExactInt(input[2 + i] - 1) * params.stride[i] -
                      params.pad_before[i] - params.pad_after[i] + reach +
                      params.output_padding[i] + 1;
    if (size < 0)
      runtime_error("Given input size per channel: ", sizes_text(input, 2),
                    ". Calculated output size per channel is negative");
    params.output.push_back(size);
  }
}

Value infer_conv(const OpCall& call) {
  const ConvParams params = conv_params(call);
  Dims sizes = params.output;
  if (!params.batched) sizes.erase(0);
  return Tensor::meta(sizes, call.tensor(0).dtype());
}

Value eager_conv(const OpCall& call) {
  const ConvParams params = conv_params(call);
  const Tensor& input = call.tensor(0);
  if (numel(params.output) > 0)
    if (std::optional<Value> made = window_by_backend(call)) return *made;
  const Tensor out = Tensor::empty(params.output, input.dtype());
  if (out.numel() > 0)
    run_conv(params, params.batched ? input : with_batch(input), call.tensor(1),
             call.has(2) ? call.tensor(2) : Tensor(), out);
  return params.batched ? out : without_batch(out);
}

constexpr OpRow conv(const char* name, const char* schema, const char* names,
                     Layout layout = Layout::filtered) {
  return lowered_row(name, schema, names, Lowering::convolution, infer_conv,
                     eager_conv)
      .stating({.layout = layout, .native = NativeCalls::single});
}

constexpr const char* kForward =
    "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1";
constexpr const char* kTransposed =
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, "
    "groups=1, dilation=1";

constexpr OpRow kConvolutionRows[] = {
    conv("conv1d", kForward, "torch.conv1d =F.conv1d"),
    conv("conv2d", kForward, "torch.conv2d =F.conv2d"),
    conv("conv3d", kForward, "torch.conv3d =F.conv3d"),
    conv("conv_transpose1d", kTransposed,
         "torch.conv_transpose1d =F.conv_transpose1d"),
    conv("conv_transpose2d", kTransposed,
         "torch.conv_transpose2d =F.conv_transpose2d"),
    conv("conv_transpose3d", kTransposed,
         "torch.conv_transpose3d =F.conv_transpose3d", Layout::stated),
    conv("convolution",
         "input, weight, bias, stride, padding, dilation, transposed, "
         "output_padding, groups",
         "torch.convolution"),
};

}  // namespace

ConvParams conv_params(const OpCall& call) {
  ConvParams params;
  params.spatial = spatial_dims(call);
  check_ranks(call, params.spatial);
  const Dims weight = call.tensor(1).sizes();
  Dims input = call.tensor(0).sizes();
  params.batched = input.size() == params.spatial + 2;
  if (!params.batched) input.insert(0, 1);
  params.transposed = is_transposed(call);
  params.groups = call.integer(index_of(call, "groups"));
  params.stride = per_axis_arg(call, index_of(call, "stride"), params.spatial);
  params.dilation =
      per_axis_arg(call, index_of(call, "dilation"), params.spatial);
  for (int i = 0; i < params.spatial; ++i) {
    if (params.stride[i] <= 0)
      runtime_error("non-positive stride is not supported");
    if (params.dilation[i] <= 0)
      runtime_error("dilation should be greater than zero");
  }
  read_padding(call, params, weight);
  check_channels(params, input, weight, call.tensor(0).sizes());
  if (params.transposed) {
    params.output_padding =
        per_axis_arg(call, index_of(call, "output_padding"), params.spatial);
    transposed_output(params, input, weight);
  } else {
    forward_output(params, input, weight);
  }
  check_bias(call, params);
  // As in torch, images without channels give images without channels.
  if (input[1] == 0) params.output[1] = 0;
  return params;
}

std::span<const OpRow> convolution_rows() { return kConvolutionRows; }

}  // namespace fxjit::ops
