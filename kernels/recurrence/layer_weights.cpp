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
                           packing.pack(static_cast<const float*>(from),
                                        reinterpret_cast<float*>(to));
                         },
                         true});
}

}  // namespace

int64_t StepPacking::columns() const {
  return units * (work == StepWork::lstm ? 4 : work == StepWork::gru ? 3 : 1);
}

int64_t StepPacking::floats() const {
  return ahead ? packed_input_floats(columns(), depth, level)
               : packed_step_floats(work, units, depth, level);
}

void StepPacking::pack(const float* from, float* to) const {
  if (ahead) return pack_input_weights(columns(), depth, level, from, to);
  pack_step_weights(work, order, units, depth, level, from, to);
}

std::vector<int64_t> StepPacking::key() const {
  if (ahead) return {columns(), depth, static_cast<int64_t>(level)};
  return {static_cast<int64_t>(work),
          units,
          depth,
          static_cast<int64_t>(level),
          order.place[0],
          order.place[1],
          order.place[2],
          order.place[3]};
}

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
  packings_[at(direction)].pack(
      static_cast<const float*>(call.operands[at(place_ + direction)]), own);
  return own;
}

}  // namespace fxjit::kernels
