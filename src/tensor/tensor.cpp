#include "fxjit/tensor.h"

#include <cstring>

#include "src/tensor/concat.h"
#include "src/tensor/visit.h"

namespace fxjit {
namespace {

size_t checked_bytes(const Dims& sizes, DType dtype) {
  for (Size size : sizes)
    if (size < 0)
      throw UserError("tensor: expected sizes of at least 0, got " +
                      sizes.str());
  size_t bytes = 0;
  const Size count = numel(sizes);
  if (!count.is_number()) return 0;  // Of a meta tensor.
  if (__builtin_mul_overflow(static_cast<size_t>(count), dtype_size(dtype),
                             &bytes))
    throw UserError("tensor: " + sizes.str() + " overflows the address space");
  return bytes;
}

// Tensors with memory have numbers: named sizes are specialised.
void specialise(Dims& dims) {
  for (Size& size : dims)
    if (!size.is_number()) size = int64_t{size};
}

[[noreturn]] void view_outside(const Storage& storage, const Dims& sizes,
                               const Dims& strides, Size offset) {
  throw UserError(concat("view: sizes ", sizes, ", strides ", strides,
                         ", offset ", offset, " reach outside a storage of ",
                         storage.bytes(), " bytes"));
}

// Sizes and strides are numbers.
void check_view(const Storage& storage, const Dims& sizes, DType dtype,
                const Dims& strides, Size offset) {
  if (sizes.size() != strides.size())
    throw UserError("view: expected as many strides as sizes, got " +
                    strides.str() + " for " + sizes.str());
  bool empty = false, reaches = true;
  int64_t first = offset, last = offset;
  size_t bytes = dtype_size(dtype);
  for (int d = 0; d < sizes.size(); ++d) {
    const int64_t size = sizes[d].word(), stride = strides[d].word();
    if (size <= 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
      checked_bytes(sizes, dtype);  // Throws, unless a size is 0.
      empty = true;
      continue;
    }
    int64_t reach = 0;
    int64_t& bound = stride < 0 ? first : last;
    reaches = reaches && !__builtin_mul_overflow(size - 1, stride, &reach) &&
              !__builtin_add_overflow(bound, reach, &bound);
  }
  if (empty) return;
  if (!reaches) view_outside(storage, sizes, strides, offset);
  const int64_t capacity =
      static_cast<int64_t>(storage.bytes() / dtype_size(dtype));
  if (first < 0 || last >= capacity)
    view_outside(storage, sizes, strides, offset);
}

template <typename T>
Tensor copy_of(std::span<const T> values, const Dims& sizes, DType dtype) {
  Tensor result = Tensor::empty(sizes, dtype);
  if (static_cast<int64_t>(values.size()) != result.numel())
    throw UserError(concat("Tensor::from: expected ", result.numel(),
                           " values for ", sizes, ", got ", values.size()));
  if (!values.empty())
    std::memcpy(result.data(), values.data(), values.size_bytes());
  return result;
}

}  // namespace

Tensor Tensor::empty(const Dims& sizes, DType dtype) {
  Tensor result = meta(sizes, dtype);
  specialise(result.impl_->sizes);
  specialise(result.impl_->strides);
  result.impl_->storage =
      Storage::allocate(checked_bytes(result.sizes(), dtype));
  return result;
}

Tensor Tensor::meta(const Dims& sizes, DType dtype) {
  checked_bytes(sizes, dtype);
  return meta(sizes, dtype, contiguous_strides(sizes));
}

Tensor Tensor::meta(const Dims& sizes, DType dtype, const Dims& strides,
                    Size offset) {
  auto impl = std::make_shared<Impl>();
  impl->sizes = sizes;
  impl->strides = strides;
  impl->offset = offset;
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor Tensor::view(std::shared_ptr<Storage> storage, const Dims& sizes,
                    DType dtype, const Dims& strides, Size offset) {
  if (!storage) throw UserError("view: expected a storage, got none");
  Tensor result = meta(sizes, dtype, strides, int64_t{offset});
  Impl& impl = *result.impl_;
  specialise(impl.sizes);
  specialise(impl.strides);
  check_view(*storage, impl.sizes, dtype, impl.strides, impl.offset);
  impl.storage = std::move(storage);
  return result;
}

Tensor Tensor::zeros(const Dims& sizes, DType dtype) {
  Tensor result = empty(sizes, dtype);
  std::memset(result.data(), 0, result.storage()->bytes());
  return result;
}

Tensor Tensor::full(const Dims& sizes, double value, DType dtype) {
  if (is_complex(dtype)) return full(sizes, value, part_type(dtype)).to(dtype);
  Tensor result = empty(sizes, dtype);
  visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T* data = result.data_as<T>();
    std::fill(data, data + result.numel(), convert<T>(value));
  });
  return result;
}

Tensor Tensor::from(std::span<const float> values, const Dims& sizes) {
  return copy_of(values, sizes, DType::f32);
}

Tensor Tensor::from(std::span<const int64_t> values, const Dims& sizes) {
  return copy_of(values, sizes, DType::i64);
}

Tensor Tensor::wrap(void* data, const Dims& sizes, DType dtype,
                    std::shared_ptr<void> owner) {
  Tensor result = meta(sizes, dtype);
  const size_t bytes = checked_bytes(sizes, dtype);
  if (!data && bytes)
    throw UserError("Tensor::wrap: expected memory for " + result.describe() +
                    ", got null");
  result.impl_->storage = Storage::borrow(data, bytes, std::move(owner));
  return result;
}

bool Tensor::is_contiguous() const {
  Size expected = 1;
  for (int d = dim() - 1; d >= 0; --d) {
    if (sizes()[d] == 0) return true;
    if (sizes()[d] != 1 && strides()[d] != expected) return false;
    if (mul_overflow(expected, sizes()[d], &expected)) return false;
  }
  return true;
}

void* Tensor::data() const {
  if (!impl_ || !impl_->storage) return nullptr;
  return impl_->storage->data() +
         impl_->offset * static_cast<int64_t>(item_size());
}

std::shared_ptr<const void> Tensor::keeper() const {
  if (!impl_ || !impl_->storage) return nullptr;
  const Storage& storage = *impl_->storage;
  if (storage.read_only_ && storage.owner_) return storage.owner_;
  return impl_->storage;
}

Tensor Tensor::as_strided(const Dims& sizes, const Dims& strides,
                          Size offset) const {
  if (is_meta()) return meta(sizes, dtype(), strides, offset);
  return view(storage(), sizes, dtype(), strides, offset);
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  if (is_meta()) return meta(sizes(), dtype());
  Tensor result = empty(sizes(), dtype());
  result.copy_from(*this);
  return result;
}

Tensor Tensor::to(DType target) const {
  if (target == dtype()) return *this;
  if (is_meta()) return meta(sizes(), target);
  Tensor result = empty(sizes(), target);
  result.copy_from(*this);
  return result;
}

std::string Tensor::describe() const {
  if (!defined()) return "undefined";
  return std::string(dtype_name(dtype())) + sizes().str();
}

}  // namespace fxjit
