#include "src/compile/bound_outputs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/error.h"
#include "src/compile/tensor_bytes.h"
#include "src/support/memory/aligned_block.h"
#include "src/tensor/memory_order.h"

namespace fxjit {
namespace {

std::string described(DType dtype, const Dims& sizes) {
  return Tensor::meta(sizes, dtype).describe();
}

[[noreturn]] void refuse(size_t number, const std::string& why) {
  throw UserError("output " + std::to_string(number) + ": " + why);
}

void check_count(size_t expected, size_t got) {
  if (expected == got) return;
  throw UserError("expected " + std::to_string(expected) +
                  " outputs to write to, got " + std::to_string(got));
}

void check_one(size_t number, DType dtype, const Dims& sizes,
               const Tensor& bound) {
  if (bound.dtype() == dtype && bound.sizes() == sizes) return;
  refuse(number, "expected memory for " + described(dtype, sizes) + ", got " +
                     bound.describe());
}

bool same_place(const Tensor& a, const Tensor& b) {
  return a.data() == b.data() && a.strides() == b.strides();
}

}  // namespace

void check_bound_outputs(std::span<const Tensor> bound) {
  for (size_t i = 0; i < bound.size(); ++i) {
    const Tensor& t = bound[i];
    if (t.is_meta()) refuse(i, "expected a tensor with data");
    if (t.storage()->read_only()) refuse(i, "its memory is read only");
    if (!elements_are_apart(t)) refuse(i, "its elements share memory");
    for (size_t j = 0; j < i; ++j)
      if (overlap(t, bound[j]))
        refuse(i, "it shares memory with output " + std::to_string(j));
  }
}

void check_bound_outputs(std::span<const Tensor> bound,
                         const program::Program& program) {
  check_count(program.outputs.size(), bound.size());
  for (size_t i = 0; i < bound.size(); ++i)
    check_one(i, program.outputs[i].spec.dtype, program.outputs[i].spec.sizes,
              bound[i]);
}

bool can_write_straight(const Tensor& bound,
                        const program::Program::Output& output,
                        const program::Buffer& buffer,
                        std::span<const Value> inputs) {
  if (output.copy >= 0 || output.byte_offset != 0 ||
      output.spec.strides != bound.strides())
    return false;
  const Bytes bytes = bytes_of(bound);
  if (bytes.end - bytes.begin != buffer.bytes) return false;
  // Kernels take outputs of their own to begin at such an address.
  if (reinterpret_cast<uintptr_t>(bytes.begin) %
          support::AlignedBlock::kAlignment !=
      0)
    return false;
  bool apart = true;
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      apart = apart && !(leaf.is_tensor() && overlap(leaf.as_tensor(), bound));
    });
  return apart;
}

Value copy_to_bound(const Value& result, std::span<const Tensor> bound) {
  std::vector<const Tensor*> given;
  visit_leaves(result, [&](const Value& leaf) {
    if (leaf.is_tensor()) given.push_back(&leaf.as_tensor());
  });
  check_count(given.size(), bound.size());
  for (size_t i = 0; i < bound.size(); ++i)
    check_one(i, given[i]->dtype(), given[i]->sizes(), bound[i]);
  // A result may be a view of an input that another output overwrites.
  std::vector<Tensor> sources;
  for (size_t i = 0; i < given.size(); ++i) {
    bool hurt = false;
    for (size_t j = 0; j < bound.size(); ++j)
      hurt |= overlap(*given[i], bound[j]) &&
              !(i == j && same_place(*given[i], bound[j]));
    sources.push_back(hurt ? given[i]->clone() : *given[i]);
  }
  for (size_t i = 0; i < bound.size(); ++i)
    if (!same_place(sources[i], bound[i])) bound[i].copy_from(sources[i]);
  size_t next = 0;
  return map_leaves(result, [&](const Value& leaf) -> Value {
    return leaf.is_tensor() ? Value(bound[next++]) : leaf;
  });
}

}  // namespace fxjit
