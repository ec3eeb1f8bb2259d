#include "src/io/safetensors_names.h"

#include <string>
#include <utility>

#include "fxjit/error.h"

namespace fxjit::io {
namespace {

constexpr std::pair<std::string_view, DType> kNames[] = {
    {"F32", DType::f32},   {"F64", DType::f64}, {"F16", DType::f16},
    {"BF16", DType::bf16}, {"I8", DType::i8},   {"U8", DType::u8},
    {"I16", DType::i16},   {"I32", DType::i32}, {"I64", DType::i64},
    {"BOOL", DType::boolean},
    {"C64", DType::c64},
    {"F8_E4M3", DType::f8e4m3},
    {"F8_E5M2", DType::f8e5m2}};

}  // namespace

std::string_view safetensors_name(DType dtype) {
  for (const auto& [name, known] : kNames)
    if (known == dtype) return name;
  throw NotImplementedError("safetensors: " + std::string(dtype_name(dtype)) +
                            " has no name");
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  for (const auto& [known, dtype] : kNames)
    if (known == name) return dtype;
  return std::nullopt;
}

}  // namespace fxjit::io
