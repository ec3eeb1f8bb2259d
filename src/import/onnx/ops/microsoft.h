// The domain of ONNX Runtime's own ops, for the files that hold them.
#pragma once

#include <string_view>

namespace fxjit::onnx {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

}  // namespace fxjit::onnx
