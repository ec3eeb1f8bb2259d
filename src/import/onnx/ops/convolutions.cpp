// Convolutions and their transposes.
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/windows.h"

namespace fxjit::onnx {
namespace {

std::vector<int64_t> kernel_of(const Call& call, size_t weight) {
  std::vector<int64_t> kernel;
  const SizeList sizes = call.sizes(weight);
  for (size_t d = 2; d < sizes.size(); ++d) {
    if (!sizes[d].is_int()) call.fail("the sizes of the weight vary");
    kernel.push_back(sizes[d].as_int());
  }
  return kernel;
}

Results conv(Call& call) {
  return convolution(call, call[0], call[1], call.optional(2), 1);
}

// Rows of the whole product that do not belong to the result.
Value cropped(const Value& y, const Windows& windows) {
  ValueList list;
  for (size_t d = windows.dims; d-- > 0;) {
    list.push_back(-windows.begin[d]);
    list.push_back(-windows.end[d]);
  }
  return nn::functional::pad(y, Value::list(list));
}

// From the size that is asked for.
void crop_to(const Call& call, Windows& windows,
             const std::vector<int64_t>& more) {
  auto asked = call.integers("output_shape");
  const std::string mode = call.text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!asked && !same) return;
  if (asked && asked->size() == windows.dims + 2)
    asked->erase(asked->begin(), asked->begin() + 2);
  if (asked && asked->size() != windows.dims)
    call.fail("attribute output_shape: expected " +
              std::to_string(windows.dims) + " numbers");
  for (size_t d = 0; d < windows.dims; ++d) {
    const Value size = call.size(0, static_cast<int64_t>(d) + 2);
    // These may be any numbers of the file; Values refuse to overflow.
    const Value reach = Value(windows.kernel[d] - 1) * windows.dilations[d] + 1;
    const Value whole = (size - 1) * windows.strides[d] + (reach + more[d]);
    const Value wanted = asked ? Value((*asked)[d]) : size * windows.strides[d];
    const Value all = whole - wanted;
    const Value half = operators::floordiv(all, 2);
    const bool more_behind = mode == "SAME_UPPER";
    windows.begin[d] = more_behind ? half : all - half;
    windows.end[d] = more_behind ? all - half : half;
  }
}

Results conv_transpose(Call& call) {
  Windows windows = read_windows(call, kernel_of(call, 1));
  const std::vector<int64_t> more =
      per_dim(call, "output_padding", windows.dims, 0);
  crop_to(call, windows, more);
  const bool direct = windows.symmetric();
  const Value y =
      function(with_dims(call, "torch.conv_transpose", windows.dims),
               {call[0], call[1], call.optional(2), list_of(windows.strides),
                windows.padding(direct), list_of(more),
                call.integer("group", 1), list_of(windows.dilations)});
  return direct ? y : cropped(y, windows);
}

constexpr OpRow kConvolutionsOps[] = {
    {.op = "Conv", .run = conv},
    {.op = "ConvTranspose", .run = conv_transpose},
};

}  // namespace

Windows weight_windows(const Call& call, size_t weight_input) {
  return read_windows(call, kernel_of(call, weight_input));
}

Value convolution(const Call& call, Value x, const Value& weight,
                  const Value& bias, size_t weight_input) {
  const Windows windows = read_windows(call, kernel_of(call, weight_input));
  const bool direct = windows.symmetric();
  if (!direct) x = nn::functional::pad(x, windows.pad_list());
  return function(
      with_dims(call, "torch.conv", windows.dims),
      {x, weight, bias, list_of(windows.strides), windows.padding(direct),
       list_of(windows.dilations), call.integer("group", 1)});
}

std::span<const OpRow> convolution_rows() { return kConvolutionsOps; }

}  // namespace fxjit::onnx
