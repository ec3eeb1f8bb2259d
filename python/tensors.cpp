#include "python/tensors.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "python/borrowed.h"
#include "python/dtypes.h"
#include "python/torch_exchange.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

constexpr int64_t kWidest = 16;  // Bytes of an element.

using AnyArray = nb::ndarray<nb::ro>;
using WritableArray = nb::ndarray<>;

// An array before it is known to be one that fxjit takes.
struct Memory {
  void* data = nullptr;
  int device = 0;
  nb::dlpack::dtype dtype;
  int rank = 0;
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;  // Null: row-major.
  // How much lies around it: the elements before `data`, and all bytes from
  // there on. Of 0 bytes nothing is known.
  int64_t offset = 0;
  size_t storage_bytes = 0;
};

std::string class_of(nb::handle object) {
  return nb::cast<std::string>(nb::getattr(object.type(), "__name__"));
}

Dims strides_of(const Memory& memory, const Dims& sizes, const char* where) {
  if (!memory.strides) return contiguous_strides(sizes);
  Dims strides = sizes;
  for (int d = 0; d < memory.rank; ++d) {
    strides[d] = memory.strides[d];
    if (strides[d] < 0)
      throw ValueError(std::string(where) +
                       ": an array with a negative stride; pass a copy");
  }
  return strides;
}

// Elements from the first to behind the last.
int64_t reach_of(const Dims& sizes, const Dims& strides, const char* where) {
  int64_t last = 0;
  for (int d = 0; d < sizes.size(); ++d) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(sizes[d] - 1, 0),
                               int64_t{strides[d]}, &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        last >= std::numeric_limits<int64_t>::max() / kWidest)
      throw ValueError(std::string(where) + ": strides beyond any memory");
  }
  return last + 1;
}

// `borrow(data, bytes)` makes the storage.
template <typename Borrow>
Tensor tensor_of_memory(const Memory& memory, const char* where,
                        const Borrow& borrow) {
  if (memory.device != nb::device::cpu::value)
    throw TypeError(
        std::string(where) +
        ": expected an array on the CPU, got one of another device");
  const std::optional<DType> dtype = dtype_of(memory.dtype);
  if (!dtype)
    throw TypeError(std::string(where) + ": an array of " +
                    lacking(memory.dtype));
  if (memory.rank > kMaxRank)
    throw TypeError(std::string(where) + ": an array of " +
                    std::to_string(memory.rank) + " dims; there may be " +
                    std::to_string(kMaxRank));
  Dims sizes(memory.rank, 0);
  for (int d = 0; d < memory.rank; ++d) {
    if (memory.sizes[d] < 0)
      throw ValueError(std::string(where) + ": an array with a negative size");
    sizes[d] = memory.sizes[d];
  }
  const Dims strides = strides_of(memory, sizes, where);
  const int64_t reach = reach_of(sizes, strides, where);
  if (numel(sizes) == 0) return Tensor::empty(sizes, *dtype);
  if (!memory.data)
    throw TypeError(std::string(where) + ": an array without memory");
  const size_t item = dtype_size(*dtype);
  const auto before = static_cast<size_t>(memory.offset) * item;
  const size_t bytes = std::max(before + static_cast<size_t>(reach) * item,
                                memory.storage_bytes);
  return Tensor::view(borrow(static_cast<char*>(memory.data) - before, bytes),
                      sizes, *dtype, strides, memory.offset);
}

// Frees the array with the interpreter's lock, whichever thread is the last.
template <typename Array>
std::shared_ptr<void> keep(Array array) {
  return {new Array(std::move(array)), [](void* kept) {
            const nb::gil_scoped_acquire lock;
            delete static_cast<Array*>(kept);
          }};
}

template <typename Array>
Tensor tensor_of_array(Array array, const char* where) {
  const Memory memory{const_cast<void*>(static_cast<const void*>(array.data())),
                      array.device_type(),
                      array.dtype(),
                      static_cast<int>(array.ndim()),
                      array.shape_ptr(),
                      array.stride_ptr()};
  constexpr bool kReadOnly = std::is_same_v<Array, AnyArray>;
  return tensor_of_memory(memory, where, [&](void* data, size_t bytes) {
    return Storage::borrow(data, bytes, keep(array), kReadOnly);
  });
}

Tensor tensor_of_torch(const dlpack::ExchangeApi& api, nb::handle given,
                       const char* where, Extent extent) {
  const nb::object object = resolved(given);
  const dlpack::Tensor seen = view_of_object(api, object, where);
  const PlaceInStorage place =
      extent == Extent::storage ? place_in_storage(object) : PlaceInStorage();
  const Memory memory{static_cast<char*>(seen.data) + seen.byte_offset,
                      seen.device.device_type,
                      seen.dtype,
                      seen.ndim,
                      seen.shape,
                      seen.strides,
                      place.offset,
                      place.storage_bytes};
  return tensor_of_memory(memory, where, [&](void* data, size_t bytes) {
    return borrow_from(object, data, bytes);
  });
}

// The same bits as numbers of another type of the same size.
Tensor as_type(const Tensor& tensor, DType dtype) {
  return Tensor::view(tensor.storage(), tensor.sizes(), dtype, tensor.strides(),
                      tensor.offset());
}

// An array of a type that NumPy has from the package ml_dtypes, which gives no
// array of such numbers but one of their bits.
std::optional<Tensor> tensor_of_float8(nb::handle array, std::string_view type,
                                       const char* where) {
  const auto dtype = dtype_from_name(type);
  if (!dtype || !is_float8(*dtype)) return std::nullopt;
  return as_type(tensor_of(array.attr("view")("uint8"), where), *dtype);
}

nb::object array_of_float8(const Tensor& tensor) {
  const std::string_view name = dtype_name(tensor.dtype());
  return array_of(as_type(tensor, DType::u8), ArrayKind::numpy)
      .attr("view")(numpy_type(name));
}

}  // namespace

nb::object numpy_type(std::string_view name) {
  const nb::str text(name.data(), name.size());
  if (!name.starts_with("float8")) return text;
  try {
    return nb::module_::import_("ml_dtypes").attr(text);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ModuleNotFoundError)) throw;
    throw TypeError("a result of " + std::string(name) +
                    ", which NumPy has from the package ml_dtypes: install "
                    "it, or pass PyTorch's tensors");
  }
}

bool is_array(nb::handle object) {
  return exchange_of(object) || nb::hasattr(object, "__dlpack__") ||
         PyObject_CheckBuffer(object.ptr());
}

ArrayKind kind_of(nb::handle array) {
  if (exchange_of(array)) return ArrayKind::torch;
  const nb::handle type = array.type();
  const auto module = nb::cast<std::string>(nb::getattr(type, "__module__"));
  return module.starts_with("torch") ? ArrayKind::torch : ArrayKind::numpy;
}

std::string type_name_of(nb::handle array) {
  if (!nb::hasattr(array, "dtype")) return "";
  const nb::object type = array.attr("dtype");
  const auto text = nb::cast<std::string>(nb::str(nb::handle(type)));
  return text.starts_with("torch.") ? text.substr(6) : text;
}

Tensor tensor_of(nb::handle object, const char* where, Extent extent) {
  if (const auto* const api = exchange_of(object))
    return tensor_of_torch(*api, object, where, extent);
  nb::object array = nb::borrow(object);
  // Parameters give their memory without their gradient.
  if (kind_of(object) == ArrayKind::torch &&
      nb::cast<bool>(object.attr("requires_grad")))
    array = object.attr("detach")();
  WritableArray writable;
  if (nb::try_cast<WritableArray>(array, writable, /*convert=*/false))
    return tensor_of_array(std::move(writable), where);
  AnyArray readable;
  if (nb::try_cast<AnyArray>(array, readable, /*convert=*/false))
    return tensor_of_array(std::move(readable), where);
  const std::string type = type_name_of(object);
  if (const auto made = tensor_of_float8(array, type, where)) return *made;
  throw TypeError(std::string(where) + ": a " + class_of(object) +
                  (type.empty() ? "" : " of dtype " + type) +
                  " that gives no array of this machine's memory");
}

nb::object array_of(const Tensor& tensor, ArrayKind kind) {
  if (kind == ArrayKind::torch)
    if (nb::object made = torch_tensor_of(tensor)) return made;
  if (kind == ArrayKind::numpy && is_float8(tensor.dtype()))
    return array_of_float8(tensor);
  if (kind == ArrayKind::numpy && tensor.dtype() == DType::bf16)
    throw TypeError("a result of " + std::string(dtype_name(tensor.dtype())) +
                    ", which NumPy lacks: pass PyTorch's tensors to get them");
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
