// Reading and copying elements of strided tensors, with conversion.
#include <cstring>

#include "fxjit/tensor.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"
#include "src/tensor/visit.h"

namespace fxjit {
namespace {

void require_data(const Tensor& tensor, const char* what) {
  if (!tensor.defined())
    throw UserError(std::string(what) + ": expected a tensor, got undefined");
  if (tensor.is_meta())
    throw UserError(std::string(what) + ": expected a tensor with data, got " +
                    tensor.describe() + " without storage");
}

template <typename To, typename From>
void copy_rows(const LoopNest<2>& nest, To* to, const From* from) {
  nest.for_each_row([&](const auto& offsets, const auto& steps, int64_t n) {
    To* out = to + offsets[0];
    const From* in = from + offsets[1];
    if (steps[0] == 1 && steps[1] == 1) {
      if constexpr (std::is_same_v<To, From>) {
        std::memcpy(out, in, static_cast<size_t>(n) * sizeof(To));
        return;
      }
      for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      out[i * steps[0]] = convert<To>(in[i * steps[1]]);
  });
}

template <typename T>
std::vector<T> read_all(const Tensor& source) {
  require_data(source, "read");
  std::vector<T> values(static_cast<size_t>(source.numel()));
  if (values.empty()) return values;
  const LoopNest<2> nest(
      source.sizes(), {contiguous_strides(source.sizes()), source.strides()});
  visit_dtype(source.dtype(), [&](auto type) {
    copy_rows(nest, values.data(),
              source.data_as<typename decltype(type)::type>());
  });
  return values;
}

double read_double(const Tensor& source, int64_t element) {
  return visit_dtype(source.dtype(), [&](auto type) {
    return convert<double>(
        source.data_as<typename decltype(type)::type>()[element]);
  });
}

// The real (0) or imaginary (1) parts of a complex tensor.
Tensor part_of(const Tensor& tensor, int64_t part) {
  return Tensor::view(tensor.storage(), tensor.sizes(),
                      part_type(tensor.dtype()), strides_of_parts(tensor),
                      2 * tensor.offset() + part);
}

void copy_parts(const Tensor& to, const Tensor& from) {
  if (!is_complex(to.dtype()))
    throw NotImplementedError("copy_from: " + from.describe() + " to " +
                              to.describe() +
                              " would lose its imaginary parts");
  const bool both = is_complex(from.dtype());
  part_of(to, 0).copy_from(both ? part_of(from, 0) : from);
  part_of(to, 1).copy_from(both ? part_of(from, 1)
                                : Tensor::zeros({}, part_type(to.dtype())));
}

}  // namespace

void Tensor::copy_from(const Tensor& source) const {
  require_data(*this, "copy_from");
  require_data(source, "copy_from");
  if (storage()->read_only())
    throw UserError("copy_from: expected writable memory, got read-only " +
                    describe());
  if (!(broadcast_shapes(sizes(), source.sizes()) == sizes()))
    throw UserError("copy_from: expected a source that broadcasts to " +
                    describe() + ", got " + source.describe());
  if (numel() == 0) return;
  if (is_complex(dtype()) || is_complex(source.dtype()))
    return copy_parts(*this, source);
  const LoopNest<2> nest(
      sizes(), {strides(),
                broadcast_strides(source.sizes(), source.strides(), sizes())});
  visit_dtype(dtype(), [&](auto to) {
    visit_dtype(source.dtype(), [&](auto from) {
      copy_rows(nest, data_as<typename decltype(to)::type>(),
                source.data_as<typename decltype(from)::type>());
    });
  });
}

double Tensor::at(std::initializer_list<int64_t> index) const {
  require_data(*this, "at");
  if (static_cast<int>(index.size()) != dim())
    throw IndexError("at: expected " + std::to_string(dim()) + " indices for " +
                     describe() + ", got " + std::to_string(index.size()));
  int64_t element = 0;
  int d = 0;
  for (int64_t i : index) {
    const int64_t size = sizes()[d];
    if (i < -size || i >= size)
      throw IndexError("at: index " + std::to_string(i) +
                       " is out of bounds for dimension " + std::to_string(d) +
                       " with size " + std::to_string(size));
    element += (i < 0 ? i + size : i) * strides()[d++];
  }
  return read_double(*this, element);
}

double Tensor::item() const {
  require_data(*this, "item");
  if (numel() != 1)
    throw RuntimeError("a Tensor with " + std::to_string(numel()) +
                       " elements cannot be converted to Scalar");
  return read_double(*this, 0);
}

std::vector<float> Tensor::to_floats() const { return read_all<float>(*this); }

std::vector<int64_t> Tensor::to_ints() const {
  return read_all<int64_t>(*this);
}

}  // namespace fxjit
