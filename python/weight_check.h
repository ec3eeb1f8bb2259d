// Whether the weights that a compiled graph holds are still those that its
// caller passes.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "python/dlpack.h"

namespace fxjit::python {

// Sees, for each weight, another object in its place, the same object with
// other memory, a change that PyTorch counted (in-place functions), and any
// change of the 8 bytes in its middle, which most of what PyTorch does not
// count (writes by .data and by NumPy) changes as well. Needs the interpreter's
// lock.
class WeightCheck {
 public:
  // The tensors of `args` at `positions`; keeps them.
  WeightCheck(const std::vector<size_t>& positions, nanobind::list args);
  bool changed(nanobind::list args) const;

  // What is seen of a tensor beside its place: PyTorch's count of changes, -1
  // where there is none, and the bytes in its middle.
  struct Mark {
    int64_t version;
    uint64_t word;
  };
  static Mark mark_of(nanobind::handle tensor);
  // Where these bytes begin behind the tensor's first element, and how many
  // they are.
  static std::pair<size_t, size_t> sample_of(nanobind::handle tensor);

 private:
  struct Weight {
    size_t position;
    nanobind::object tensor;
    const dlpack::ExchangeApi* api;  // Null: no memory that can be looked at.
    const std::byte* data;
    int64_t version;  // -1: not counted (tensors made in inference mode).
    const std::byte* sample;  // Null: empty.
    size_t sampled;           // Bytes, at most 8.
    uint64_t word;
  };
  static Weight weight_of(size_t position, nanobind::handle tensor);
  static bool changed(const Weight& weight, nanobind::handle now);

  std::vector<Weight> weights_;
};

}  // namespace fxjit::python
