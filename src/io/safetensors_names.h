// How .safetensors files write dtypes. Used by reader and writer.
#pragma once

#include <optional>
#include <string_view>

#include "fxjit/dtype.h"

namespace fxjit::io {

inline constexpr std::string_view kMetadataKey = "__metadata__";

std::string_view safetensors_name(DType dtype);
std::optional<DType> safetensors_dtype(std::string_view name);

}  // namespace fxjit::io
