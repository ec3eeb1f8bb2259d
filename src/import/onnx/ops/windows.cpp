#include "src/import/onnx/ops/windows.h"

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// As many results as the input's size divided by the stride, rounded up.
void pad_to_same(const Call& call, Windows& windows, bool more_in_front) {
  for (size_t d = 0; d < windows.dims; ++d) {
    const int64_t stride = windows.strides[d];
    // Both may be any numbers of the file; Values refuse to overflow.
    const Value reach = Value(windows.kernel[d] - 1) * windows.dilations[d] + 1;
    const Value size = call.size(0, static_cast<int64_t>(d) + 2);
    const Value count = operators::floordiv(size + (stride - 1), stride);
    const Value all = at_least_0((count - 1) * stride + reach - size);
    const Value half = operators::floordiv(all, 2);
    windows.begin.push_back(more_in_front ? all - half : half);
    windows.end.push_back(more_in_front ? half : all - half);
  }
}

void check_positive(const Call& call, const char* name,
                    const std::vector<int64_t>& numbers) {
  for (const int64_t number : numbers)
    if (number < 1)
      call.fail("attribute " + std::string(name) +
                ": expected 1 or more, got " + std::to_string(number));
}

}  // namespace

bool Windows::symmetric() const {
  for (size_t d = 0; d < dims; ++d)
    if (!begin[d].is_int() || !end[d].is_int() ||
        begin[d].as_int() != end[d].as_int() || begin[d].as_int() < 0)
      return false;
  return true;
}

Value Windows::padding(bool by_torch) const {
  return list_of(by_torch ? begin : std::vector<Value>(dims, 0));
}

Value Windows::pad_list() const { return onnx::pad_list(begin, end); }

std::string with_dims(const Call& call, const char* name, size_t dims) {
  if (dims < 1 || dims > 3)
    call.fail("expected one to three dims behind the channels, got " +
              std::to_string(dims));
  return name + std::to_string(dims) + "d";
}

Windows read_windows(const Call& call,
                     std::optional<std::vector<int64_t>> kernel) {
  Windows windows;
  if (!kernel) kernel = call.integers("kernel_shape");
  if (!kernel) call.fail("attribute kernel_shape is missing");
  windows.kernel = *kernel;
  windows.dims = kernel->size();
  if (windows.dims + 2 != static_cast<size_t>(call.rank(0)))
    call.fail("a kernel of " + std::to_string(windows.dims) +
              " dims for an input of " + std::to_string(call.rank(0)));
  windows.strides = per_dim(call, "strides", windows.dims, 1);
  windows.dilations = per_dim(call, "dilations", windows.dims, 1);
  check_positive(call, "kernel_shape", windows.kernel);
  check_positive(call, "strides", windows.strides);
  check_positive(call, "dilations", windows.dilations);
  windows.ceil_mode = call.flag("ceil_mode", false);
  const std::string mode = call.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    windows.same_upper = mode == "SAME_UPPER";
    pad_to_same(call, windows, mode == "SAME_LOWER");
  } else if (mode == "NOTSET" || mode == "VALID" || mode.empty()) {
    std::vector<int64_t> pads(2 * windows.dims, 0);
    if (mode != "VALID") pads = per_dim(call, "pads", 2 * windows.dims, 0);
    const auto middle =
        pads.begin() + static_cast<std::ptrdiff_t>(windows.dims);
    windows.begin.assign(pads.begin(), middle);
    windows.end.assign(middle, pads.end());
  } else {
    call.fail("attribute auto_pad: \"" + mode + "\" is unknown");
  }
  return windows;
}

}  // namespace fxjit::onnx
