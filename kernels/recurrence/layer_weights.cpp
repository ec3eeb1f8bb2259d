#include "kernels/recurrence/layer_weights.h"

#include <algorithm>

namespace fxjit::kernels {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

weights::Block packed(const CallRequest& request, int64_t place,
                      const StepPacking& packing) {
  const Tensor& weight = request.constants[at(place)];
  if (!weight.defined() || !weight.is_contiguous()) return nullptr;
  return request.packed(at(place),
                        {packing.ahead ? weights::Reader::recurrence_ahead
                                       : weights::Reader::recurrence,
                         packing.key(), at(packing.floats()) * sizeof(float),
                         [&](const void* from, std::byte* to) {
                           packing.pack(from, reinterpret_cast<float*>(to));
                         },
                         packing.numbers == StepNumbers::f32});
}

}  // namespace

LayerWeights::LayerWeights(const CallRequest& request, int64_t place,
                           std::vector<StepPacking> packings)
    : place_(place), packings_(std::move(packings)) {
  for (const StepPacking& packing : packings_)
    blocks_.push_back(packed(request, place++, packing));
}

void LayerWeights::lay_out(Room& room) {
  int64_t floats = 0;
  for (size_t d = 0; d < blocks_.size(); ++d)
    if (!blocks_[d]) floats = std::max(floats, packings_[d].floats());
  own_ = room.add(floats);
}

bool LayerWeights::holds(int64_t operand) const {
  const int64_t direction = operand - place_;
  return direction >= 0 && direction < static_cast<int64_t>(blocks_.size()) &&
         blocks_[at(direction)];
}

const float* LayerWeights::of(const program::StepCall& call,
                              int64_t direction) const {
  if (const weights::Block& block = blocks_[at(direction)])
    return reinterpret_cast<const float*>(block->data());
  float* own = reinterpret_cast<float*>(call.scratch) + own_;
  packings_[at(direction)].pack(call.operands[at(place_ + direction)], own);
  return own;
}

}  // namespace fxjit::kernels
