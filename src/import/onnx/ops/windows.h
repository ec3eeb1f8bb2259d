// The geometry that convolutions and pooling share: kernel, strides, dilations,
// and what is added around the input.
#pragma once

#include <vector>

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

struct Windows {
  size_t dims = 0;
  std::vector<int64_t> kernel, strides, dilations;
  // Numbers, or proxies where they follow from sizes that vary.
  std::vector<Value> begin, end;
  bool ceil_mode = false;
  bool same_upper = false;  // As many results as strides, padded at the end.

  // The same known number on both sides of every dim.
  bool symmetric() const;
  // torch's argument: begin where that is padding for torch, else none.
  Value padding(bool by_torch) const;
  // F.pad's argument: begin and end of the last dim first.
  Value pad_list() const;
};

// "torch.conv2d" for two dims.
std::string with_dims(const Call& call, const char* name, size_t dims);

// The windows over the dims of input 0 after the first two. `kernel` has the
// sizes of the weight; without it the attribute kernel_shape does.
Windows read_windows(const Call& call,
                     std::optional<std::vector<int64_t>> kernel);

// The same of a convolution by the weight at this input.
Windows weight_windows(const Call& call, size_t weight_input);

// The convolution of a node's attributes, which quantised ones share.
// `weight_input`: the node's input that has the sizes of the weight. `bias` may
// be None.
Value convolution(const Call& call, Value x, const Value& weight,
                  const Value& bias, size_t weight_input);

}  // namespace fxjit::onnx
