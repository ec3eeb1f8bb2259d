#include "fxjit/dtype.h"

#include "fxjit/error.h"
#include "src/tensor/dtype_words.h"
#include "src/tensor/visit.h"

namespace fxjit {
namespace {

struct NamedDType {
  std::string_view name;
  DType dtype;
};

// The first entry per dtype is its name, later ones are torch's aliases.
constexpr NamedDType kNames[] = {
    {"float32", DType::f32},
    {"float64", DType::f64},
    {"float16", DType::f16},
    {"bfloat16", DType::bf16},
    {"int8", DType::i8},
    {"uint8", DType::u8},
    {"int16", DType::i16},
    {"int32", DType::i32},
    {"int64", DType::i64},
    {"bool", DType::boolean},
    {"complex64", DType::c64},
    {"complex128", DType::c128},
    {"float8_e4m3fn", DType::f8e4m3},
    {"float8_e5m2", DType::f8e5m2},
    {"cfloat", DType::c64},
    {"cdouble", DType::c128},
    {"float", DType::f32},
    {"double", DType::f64},
    {"half", DType::f16},
    {"short", DType::i16},
    {"int", DType::i32},
    {"long", DType::i64},
};

// In the order of DType.
constexpr DTypeWords kWords[kDTypeCount] = {
    {"f32", "Float", "float"},
    {"f64", "Double", "double"},
    {"f16", "Half", "c10::Half"},
    {"bf16", "BFloat16", "c10::BFloat16"},
    {"i8", "Char", "signed char"},
    {"u8", "Byte", "unsigned char"},
    {"i16", "Short", "short int"},
    {"i32", "Int", "int"},
    {"i64", "Long", "long int"},
    {"b8", "Bool", "bool"},
    {"c64", "ComplexFloat", "c10::complex<float>"},
    {"c128", "ComplexDouble", "c10::complex<double>"},
    {"f8e4m3fn", "Float8_e4m3fn", "c10::Float8_e4m3fn"},
    {"f8e5m2", "Float8_e5m2", "c10::Float8_e5m2"},
};

int integer_bits(DType dtype) {
  return static_cast<int>(dtype_size(dtype)) * 8;
}

DType promote_integers(DType a, DType b) {
  if (a == DType::u8 || b == DType::u8) {
    const DType other = a == DType::u8 ? b : a;
    return other == DType::i8 ? DType::i16 : other;
  }
  return integer_bits(a) >= integer_bits(b) ? a : b;
}

}  // namespace

void refuse_complex(DType dtype) {
  throw NotImplementedError(std::string(dtype_name(dtype)) +
                            " is not supported");
}

size_t dtype_size(DType dtype) {
  if (is_complex(dtype)) return 2 * dtype_size(part_type(dtype));
  return visit_dtype(
      dtype, [](auto type) { return sizeof(typename decltype(type)::type); });
}

std::string_view dtype_name(DType dtype) {
  for (const NamedDType& entry : kNames)
    if (entry.dtype == dtype) return entry.name;
  throw InternalError("dtype_name: unknown dtype");
}

const DTypeWords& dtype_words(DType dtype) {
  return kWords[static_cast<size_t>(dtype)];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  constexpr std::string_view kPrefix = "torch.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (const NamedDType& entry : kNames)
    if (entry.name == name) return entry.dtype;
  return std::nullopt;
}

bool is_floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 ||
         dtype == DType::bf16 || is_float8(dtype);
}

bool is_float8(DType dtype) {
  return dtype == DType::f8e4m3 || dtype == DType::f8e5m2;
}

bool is_integral(DType dtype) {
  return !is_floating(dtype) && dtype != DType::boolean && !is_complex(dtype);
}

bool is_complex(DType dtype) {
  return dtype == DType::c64 || dtype == DType::c128;
}

DType part_type(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b))
    throw RuntimeError(
        "Promotion for Float8 Types is not supported, attempted to promote " +
        std::string(dtype_words(a).of_class) + " and " +
        dtype_words(b).of_class);
  if (is_complex(a) || is_complex(b))
    return part_type(a) == DType::f64 || part_type(b) == DType::f64
               ? DType::c128
               : DType::c64;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (!is_floating(a)) return promote_integers(a, b);
  if (a == DType::f64 || b == DType::f64) return DType::f64;
  return DType::f32;  // Includes f16 with bf16: neither holds the other.
}

}  // namespace fxjit
