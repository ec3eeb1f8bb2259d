// Tensor: a handle to a strided view of a reference-counted block of memory.
// Copying a Tensor shares the data. A tensor without storage ("meta") has a
// shape and a type only; shape inference runs on such tensors.
//
// All but `defined`, `is_meta`, `is` and `id` need a defined tensor. Sizes must
// not be negative and their product fit int64: UserError otherwise.
//
// Thread-safety: handles and storage counts are safe to copy and destroy from
// any thread; writing elements needs the caller's own ordering.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fxjit/dims.h"
#include "fxjit/dtype.h"
#include "fxjit/half.h"

namespace fxjit {

// A block of bytes with an owner. Never resized.
class Storage {
  struct Key {};  // Storages are made by the functions below.

 public:
  // Owns fresh memory aligned to 64 bytes, not initialised.
  static std::shared_ptr<Storage> allocate(size_t bytes);
  // Refers to memory kept alive by `owner` (a mapping, a user's buffer).
  static std::shared_ptr<Storage> borrow(void* data, size_t bytes,
                                         std::shared_ptr<void> owner,
                                         bool read_only = false);
  // Read-only bytes that `make` writes when they are asked for. `make` gives
  // the same bytes each time and may be called by several threads at once.
  static std::shared_ptr<Storage> deferred(
      size_t bytes, std::function<void(std::byte* out)> make);
  explicit Storage(Key) {}
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Deferred bytes are made by the first call and kept from then on:
  // RuntimeError when there is no memory for them.
  std::byte* data() const {
    std::byte* const data = data_.load(std::memory_order_acquire);
    return data || !make_ ? data : made();
  }
  size_t bytes() const { return bytes_; }
  // Whether `data` would have to make the bytes. Who reads them only once calls
  // `make_into`, which writes them to memory of the caller's and keeps nothing.
  bool is_deferred() const { return make_ && !data_.load(); }
  void make_into(std::byte* out) const { make_(out); }
  // Tells the bytes of living storages apart, without making deferred ones.
  const void* identity() const;
  bool read_only() const { return read_only_; }

  // Called with a byte range that will not be read soon (a mapped file gives
  // its pages back). Empty by default.
  std::function<void(size_t offset, size_t bytes)> release_pages;

 private:
  std::byte* made() const;

  friend class Tensor;
  mutable std::atomic<std::byte*> data_ = nullptr;
  size_t bytes_ = 0;
  std::function<void(std::byte*)> make_;
  std::shared_ptr<void> owner_;
  bool owned_ = false;
  bool read_only_ = false;
};

class Tensor {
 public:
  Tensor() = default;  // Undefined: `defined()` is false.

  // Contiguous, not initialised.
  static Tensor empty(const Dims& sizes, DType dtype = DType::f32);
  // Shape and type only.
  static Tensor meta(const Dims& sizes, DType dtype);
  static Tensor meta(const Dims& sizes, DType dtype, const Dims& strides,
                     Size offset = 0);
  // A view of `storage`; offset and strides in elements. Throws UserError when
  // it would reach outside the storage.
  static Tensor view(std::shared_ptr<Storage> storage, const Dims& sizes,
                     DType dtype, const Dims& strides, Size offset);
  static Tensor zeros(const Dims& sizes, DType dtype = DType::f32);
  static Tensor full(const Dims& sizes, double value, DType dtype = DType::f32);
  // Copies `values` (row-major) into a new tensor. UserError unless there are
  // as many as the sizes say.
  static Tensor from(std::span<const float> values, const Dims& sizes);
  static Tensor from(std::span<const int64_t> values, const Dims& sizes);
  // Uses the caller's memory; `owner` is kept until the last view is gone.
  static Tensor wrap(void* data, const Dims& sizes, DType dtype,
                     std::shared_ptr<void> owner = nullptr);

  bool defined() const { return impl_ != nullptr; }
  bool is_meta() const { return impl_ && !impl_->storage; }
  const Dims& sizes() const { return impl_->sizes; }
  const Dims& strides() const { return impl_->strides; }
  Size size(int64_t d) const { return sizes()[wrap_dim(d, dim())]; }
  Size stride(int64_t d) const { return strides()[wrap_dim(d, dim())]; }
  Size offset() const { return impl_->offset; }
  int dim() const { return impl_->sizes.size(); }
  DType dtype() const { return impl_->dtype; }
  Size numel() const { return fxjit::numel(impl_->sizes); }
  size_t item_size() const { return dtype_size(dtype()); }
  bool is_contiguous() const;
  const std::shared_ptr<Storage>& storage() const { return impl_->storage; }

  // First element; null for meta tensors.
  void* data() const;
  // As long as it lives, the memory is this tensor's: the owner of read-only
  // memory, which several storages may share, else the storage. Null for meta.
  std::shared_ptr<const void> keeper() const;
  template <typename T>
  T* data_as() const {
    return static_cast<T*>(data());
  }

  // The same memory seen with another shape.
  Tensor as_strided(const Dims& sizes, const Dims& strides, Size offset) const;
  // A contiguous copy unless already contiguous.
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor to(DType dtype) const;
  // Element-wise copy with broadcasting and conversion. RuntimeError when the
  // sizes do not broadcast, UserError when they do, but to other sizes.
  void copy_from(const Tensor& source) const;

  // Any element as double / int64; for tests, printing and 0-d values.
  double at(std::initializer_list<int64_t> index) const;
  double item() const;
  // Row-major elements converted to float / int64.
  std::vector<float> to_floats() const;
  std::vector<int64_t> to_ints() const;

  // Same view object: identity as Python's `is`.
  bool is(const Tensor& other) const { return impl_ == other.impl_; }
  const void* id() const { return impl_.get(); }
  // How many Tensors and Values are this view object.
  long use_count() const { return impl_.use_count(); }

  std::string describe() const;  // "float32[2, 3]"

 private:
  friend class Value;
  struct Impl {
    std::shared_ptr<Storage> storage;
    Dims sizes;
    Dims strides;
    Size offset = 0;  // In elements.
    DType dtype = DType::f32;
  };
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace fxjit
