#include "python/tensors.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

struct Type {
  DType dtype;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};

constexpr std::array<Type, kDTypeCount> kTypes{{
    {DType::f32, nb::dlpack::dtype_code::Float, 32},
    {DType::f64, nb::dlpack::dtype_code::Float, 64},
    {DType::f16, nb::dlpack::dtype_code::Float, 16},
    {DType::bf16, nb::dlpack::dtype_code::Bfloat, 16},
    {DType::i8, nb::dlpack::dtype_code::Int, 8},
    {DType::u8, nb::dlpack::dtype_code::UInt, 8},
    {DType::i16, nb::dlpack::dtype_code::Int, 16},
    {DType::i32, nb::dlpack::dtype_code::Int, 32},
    {DType::i64, nb::dlpack::dtype_code::Int, 64},
    {DType::boolean, nb::dlpack::dtype_code::Bool, 8},
    {DType::c64, nb::dlpack::dtype_code::Complex, 64},
    {DType::c128, nb::dlpack::dtype_code::Complex, 128},
}};

constexpr int64_t kWidest = 16;  // Bytes of an element.

std::optional<DType> dtype_of(nb::dlpack::dtype type) {
  for (const Type& known : kTypes)
    if (static_cast<uint8_t>(known.code) == type.code &&
        known.bits == type.bits && type.lanes == 1)
      return known.dtype;
  return std::nullopt;
}

nb::dlpack::dtype dlpack_type(DType dtype) {
  for (const Type& known : kTypes)
    if (known.dtype == dtype)
      return {static_cast<uint8_t>(known.code), known.bits, 1};
  throw InternalError("python: a dtype without a DLPack type");
}

using AnyArray = nb::ndarray<nb::ro>;
using WritableArray = nb::ndarray<>;

// Frees the array with the interpreter's lock, whichever thread is the last.
template <typename Array>
std::shared_ptr<void> keep(Array array) {
  return {new Array(std::move(array)), [](void* kept) {
            const nb::gil_scoped_acquire lock;
            delete static_cast<Array*>(kept);
          }};
}

std::string class_of(nb::handle object) {
  return nb::cast<std::string>(nb::getattr(object.type(), "__name__"));
}

template <typename Array>
Tensor view_of(Array array, const char* where) {
  if (array.device_type() != nb::device::cpu::value)
    throw TypeError(
        std::string(where) +
        ": expected an array on the CPU, got one of another device");
  const std::optional<DType> dtype = dtype_of(array.dtype());
  if (!dtype)
    throw TypeError(std::string(where) +
                    ": an array of a type that fxjit lacks");
  Dims sizes(static_cast<int>(array.ndim()), 0), strides = sizes;
  int64_t last = 0;
  for (int d = 0; d < sizes.size(); ++d) {
    const auto at = static_cast<size_t>(d);
    sizes[d] = static_cast<int64_t>(array.shape(at));
    strides[d] = array.stride(at);
    if (strides[d] < 0)
      throw ValueError(std::string(where) +
                       ": an array with a negative stride; pass a copy");
    int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(sizes[d] - 1, 0), strides[d],
                               &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        last >= std::numeric_limits<int64_t>::max() / kWidest)
      throw ValueError(std::string(where) + ": strides beyond any memory");
  }
  if (numel(sizes) == 0) return Tensor::empty(sizes, *dtype);
  const size_t bytes = static_cast<size_t>(last + 1) * dtype_size(*dtype);
  void* const data = const_cast<void*>(static_cast<const void*>(array.data()));
  constexpr bool kReadOnly = std::is_same_v<Array, AnyArray>;
  return Tensor::view(
      Storage::borrow(data, bytes, keep(std::move(array)), kReadOnly), sizes,
      *dtype, strides, 0);
}

}  // namespace

bool is_array(nb::handle object) {
  return nb::hasattr(object, "__dlpack__") ||
         PyObject_CheckBuffer(object.ptr());
}

ArrayKind kind_of(nb::handle array) {
  const nb::handle type = array.type();
  const auto module = nb::cast<std::string>(nb::getattr(type, "__module__"));
  return module.starts_with("torch") ? ArrayKind::torch : ArrayKind::numpy;
}

Tensor tensor_of(nb::handle object, const char* where) {
  nb::object array = nb::borrow(object);
  // Parameters give their memory without their gradient.
  if (kind_of(object) == ArrayKind::torch &&
      nb::cast<bool>(object.attr("requires_grad")))
    array = object.attr("detach")();
  WritableArray writable;
  if (nb::try_cast<WritableArray>(array, writable, /*convert=*/false))
    return view_of(std::move(writable), where);
  AnyArray readable;
  if (nb::try_cast<AnyArray>(array, readable, /*convert=*/false))
    return view_of(std::move(readable), where);
  throw TypeError(std::string(where) + ": a " + class_of(object) +
                  " that gives no array of this machine's memory");
}

nb::object array_of(const Tensor& tensor, ArrayKind kind) {
  if (kind == ArrayKind::numpy && tensor.dtype() == DType::bf16)
    throw TypeError(
        "a result of bfloat16, which NumPy lacks: pass PyTorch's "
        "tensors to get them");
  const nb::capsule owner(new Tensor(tensor), [](void* kept) noexcept {
    delete static_cast<Tensor*>(kept);
  });
  std::vector<size_t> sizes;
  std::vector<int64_t> strides;
  for (int d = 0; d < tensor.dim(); ++d) {
    sizes.push_back(static_cast<size_t>(tensor.size(d)));
    strides.push_back(tensor.stride(d));
  }
  const auto make = [&](auto tag) {
    return nb::cast(nb::ndarray<decltype(tag)>(
        tensor.data(), sizes.size(), sizes.data(), owner, strides.data(),
        dlpack_type(tensor.dtype())));
  };
  return kind == ArrayKind::torch ? make(nb::pytorch()) : make(nb::numpy());
}

}  // namespace fxjit::python
