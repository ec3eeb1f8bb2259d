#include "python/weight_check.h"

#include <algorithm>
#include <cstring>

#include "fxjit/error.h"
#include "python/torch_exchange.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

int64_t version_of(nb::handle tensor) {
  static PyObject* const kVersion = PyUnicode_InternFromString("_version");
  const nb::object version =
      nb::steal(PyObject_GetAttr(tensor.ptr(), kVersion));
  if (!version.is_valid()) {
    PyErr_Clear();  // Inference tensors refuse to tell.
    return -1;
  }
  return PyLong_AsLongLong(version.ptr());
}

uint64_t word_at(const std::byte* place, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, place, bytes);
  return word;
}

const std::byte* data_of(const dlpack::Tensor& seen) {
  return static_cast<const std::byte*>(seen.data) + seen.byte_offset;
}

// Elements of a tensor without gaps; others are looked at from their beginning.
size_t bytes_of(const dlpack::Tensor& seen) {
  size_t elements = 1, reach = 1;
  for (int32_t d = 0; d < seen.ndim; ++d) {
    const auto size = static_cast<size_t>(seen.shape[d]);
    elements *= size;
    if (size > 0 && seen.strides)
      reach += (size - 1) * static_cast<size_t>(seen.strides[d]);
  }
  if (!seen.strides) reach = elements;
  return std::min(elements, reach) * (seen.dtype.bits / 8);
}

}  // namespace

WeightCheck::Weight WeightCheck::weight_of(size_t position, nb::handle tensor) {
  constexpr size_t kWord = sizeof(uint64_t);
  Weight weight{position, nb::borrow(tensor), exchange_of(tensor), nullptr,
                version_of(tensor), nullptr, 0, 0};
  if (!weight.api) return weight;
  const dlpack::Tensor seen = view_of_object(*weight.api, tensor, "a weight");
  weight.data = data_of(seen);
  const size_t bytes = bytes_of(seen);
  weight.sampled = std::min(bytes, kWord);
  if (bytes == 0) return weight;
  const size_t middle = (bytes - weight.sampled) / 2 / kWord * kWord;
  weight.sample = weight.data + middle;
  weight.word = word_at(weight.sample, weight.sampled);
  return weight;
}

WeightCheck::Mark WeightCheck::mark_of(nb::handle tensor) {
  const Weight weight = weight_of(0, tensor);
  return {weight.version, weight.word};
}

std::pair<size_t, size_t> WeightCheck::sample_of(nb::handle tensor) {
  const Weight weight = weight_of(0, tensor);
  if (!weight.sample) return {0, 0};
  return {static_cast<size_t>(weight.sample - weight.data), weight.sampled};
}

bool WeightCheck::changed(const Weight& weight, nb::handle now) {
  if (!now.is(weight.tensor)) return true;
  if (weight.version >= 0 && version_of(now) != weight.version) return true;
  if (!weight.api) return false;
  const dlpack::Tensor seen = view_of_object(*weight.api, now, "a weight");
  if (data_of(seen) != weight.data) return true;
  return weight.sample && word_at(weight.sample, weight.sampled) != weight.word;
}

WeightCheck::WeightCheck(const std::vector<size_t>& positions, nb::list args) {
  for (const size_t position : positions)
    weights_.push_back(weight_of(position, args[position]));
}

bool WeightCheck::changed(nb::list args) const {
  for (const Weight& weight : weights_) {
    if (weight.position >= args.size())
      throw InternalError("torch.compile: fewer arguments than weights");
    const nb::handle now = NB_LIST_GET_ITEM(
        args.ptr(), static_cast<Py_ssize_t>(weight.position));
    if (changed(weight, now)) return true;
  }
  return false;
}

}  // namespace fxjit::python
