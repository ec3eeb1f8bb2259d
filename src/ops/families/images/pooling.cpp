// Max and average pooling.
#include "src/ops/eager/pooling.h"
#include "src/ops/eager/backend.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Dims window_arg(const OpCall& call, const char* name, int spatial) {
  const Dims dims = call.dims(index_of(call, name));
  check_moderate(call, dims);
  if (dims.size() == 1) return Dims(spatial, dims[0]);
  if (dims.size() != spatial)
    runtime_error(call.op.name(), ": ", name,
                  " must either be a single int, or a tuple of ", spatial,
                  " ints");
  return dims;
}

Size pooled_size(Size size, Size kernel, Size stride, Size pad, Size dilation,
                 bool ceil_mode) {
  const Size span = size + 2 * pad - ExactInt(dilation) * (kernel - 1) - 1;
  if (span < 0) return Size(ceil_mode && span + stride > 0 ? 1 : 0);
  Size places = (span + (ceil_mode ? stride - 1 : Size(0))) / stride + 1;
  // The last window starts inside the image or its left padding.
  if (ceil_mode && (places - 1) * stride >= size + pad) places -= 1;
  return places;
}

void check_windows(const PoolParams& params) {
  for (int i = 0; i < params.spatial; ++i) {
    if (params.kernel[i] <= 0)
      runtime_error("kernel size should be greater than zero, but got ",
                    params.kernel);
    if (params.stride[i] <= 0) runtime_error("stride should not be zero");
    if (params.dilation[i] <= 0)
      runtime_error("dilation should be greater than zero, but got ",
                    params.dilation);
    if (params.padding[i] < 0)
      runtime_error("pad must be non-negative, but got pad: ",
                    params.padding[i]);
    const Size reach = ExactInt(params.kernel[i] - 1) * params.dilation[i] + 1;
    if (params.padding[i] > reach / 2)
      runtime_error(
          "pad should be at most half of effective kernel size, but got pad=",
          params.padding[i], ", kernel_size=", params.kernel[i],
          " and dilation=", params.dilation[i]);
  }
}

void read_windows(const OpCall& call, PoolParams& params) {
  params.kernel = window_arg(call, "kernel_size", params.spatial);
  const Value& stride = call[index_of(call, "stride")];
  const bool own_stride =
      !stride.is_none() && !(stride.is_sequence() && stride.size() == 0);
  params.stride =
      own_stride ? window_arg(call, "stride", params.spatial) : params.kernel;
  params.padding = window_arg(call, "padding", params.spatial);
  params.dilation = params.average
                        ? Dims(params.spatial, 1)
                        : window_arg(call, "dilation", params.spatial);
  check_windows(params);
}

void read_options(const OpCall& call, PoolParams& params) {
  if (!params.average) {
    params.indices = call.flag(index_of(call, "return_indices")) ||
                     call.op.name().ends_with("with_indices");
    return;
  }
  params.count_include_pad = call.flag(index_of(call, "count_include_pad"));
  const int divisor = call.op.index_of("divisor_override");
  if (divisor < 0 || !call.has(static_cast<size_t>(divisor))) return;
  params.divisor = call.integer(static_cast<size_t>(divisor));
  if (params.divisor == 0) runtime_error("divisor must be not zero");
}

// "3x32x32"
std::string planes_text(const Dims& sizes, int spatial) {
  std::string text = to_string(sizes[1]);
  for (int i = 0; i < spatial; ++i) text += "x" + to_string(sizes[2 + i]);
  return text;
}

void set_output(const OpCall& call, PoolParams& params, const Dims& input) {
  const bool ceil_mode = call.flag(index_of(call, "ceil_mode"));
  if (empty_dim(call.tensor(0), params.spatial + 1) >= 0)
    runtime_error("Expected ", params.spatial + 1, "D or ", params.spatial + 2,
                  "D (batch mode) tensor with optional 0 dim batch size for "
                  "input, but got:",
                  call.tensor(0).sizes());
  params.output = {input[0], input[1]};
  bool fits = true;
  for (int i = 0; i < params.spatial; ++i) {
    params.output.push_back(pooled_size(input[2 + i], params.kernel[i],
                                        params.stride[i], params.padding[i],
                                        params.dilation[i], ceil_mode));
    fits = fits && params.output[2 + i] >= 1;
  }
  if (!fits)
    runtime_error("Given input size: (", planes_text(input, params.spatial),
                  "). Calculated output size: (",
                  planes_text(params.output, params.spatial),
                  "). Output size is too small");
}

Value infer_pool(const OpCall& call) {
  const PoolParams params = pool_params(call);
  Dims sizes = params.output;
  if (!params.batched) sizes.erase(0);
  const Tensor values = Tensor::meta(sizes, call.tensor(0).dtype());
  if (!params.indices) return values;
  return Value::tuple({values, Tensor::meta(sizes, DType::i64)});
}

Value eager_pool(const OpCall& call) {
  const PoolParams params = pool_params(call);
  if (numel(params.output) > 0)
    if (std::optional<Value> made = window_by_backend(call)) return *made;
  const Tensor input =
      params.batched ? call.tensor(0) : with_batch(call.tensor(0));
  Tensor out = Tensor::empty(params.output, input.dtype());
  Tensor positions;
  if (params.indices) positions = Tensor::empty(params.output, DType::i64);
  run_pool(params, input, out, positions);
  if (!params.batched) {
    out = without_batch(out);
    if (params.indices) positions = without_batch(positions);
  }
  if (!params.indices) return out;
  return Value::tuple({out, positions});
}

constexpr OpRow pool(const char* name, const char* schema, const char* names,
                     Layout layout = Layout::stated) {
  return lowered_row(name, schema, names, Lowering::pool, infer_pool,
                     eager_pool)
      .stating({.layout = layout, .native = NativeCalls::single});
}

constexpr const char* kMax =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "
    "return_indices=False";
constexpr const char* kAverage1d =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, "
    "count_include_pad=True";
constexpr const char* kAverage =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, "
    "count_include_pad=True, divisor_override=None";

constexpr OpRow kPoolingRows[] = {
    pool("max_pool1d", kMax, "F.max_pool1d! torch.max_pool1d"),
    pool("max_pool2d", kMax, "F.max_pool2d! torch.max_pool2d nn.MaxPool2d",
         Layout::image),
    pool("max_pool3d", kMax, "F.max_pool3d! torch.max_pool3d", Layout::volume),
    pool("max_pool1d_with_indices", kMax,
         "F.max_pool1d_with_indices! torch.max_pool1d_with_indices",
         Layout::line),
    pool("max_pool2d_with_indices", kMax,
         "F.max_pool2d_with_indices! torch._C._nn.max_pool2d_with_indices",
         Layout::image),
    pool("max_pool3d_with_indices", kMax,
         "F.max_pool3d_with_indices! torch._C._nn.max_pool3d_with_indices",
         Layout::volume),
    pool("avg_pool1d", kAverage1d, "torch.avg_pool1d =F.avg_pool1d",
         Layout::line),
    pool("avg_pool2d", kAverage,
         "torch._C._nn.avg_pool2d =F.avg_pool2d nn.AvgPool2d", Layout::image),
    pool("avg_pool3d", kAverage, "torch._C._nn.avg_pool3d =F.avg_pool3d"),
};

}  // namespace

PoolParams pool_params(const OpCall& call) {
  PoolParams params;
  const std::string name(call.op.name());
  params.average = name.starts_with("avg");
  params.spatial = name.find("1d") != name.npos   ? 1
                   : name.find("2d") != name.npos ? 2
                                                  : 3;
  Dims input = call.tensor(0).sizes();
  params.batched = input.size() == params.spatial + 2;
  if (!params.batched && input.size() != params.spatial + 1)
    runtime_error(name, "(): Expected ", params.spatial + 1, "D or ",
                  params.spatial + 2, "D tensor, but got: ", input);
  if (!params.batched) input.insert(0, 1);
  read_windows(call, params);
  read_options(call, params);
  set_output(call, params, input);
  return params;
}

std::span<const OpRow> pooling_rows() { return kPoolingRows; }

}  // namespace fxjit::ops
