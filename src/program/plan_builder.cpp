#include "src/program/plan_builder.h"

#include <algorithm>

#include "src/tensor/tensor_memory.h"

namespace fxjit::program {
namespace {

// Smaller weights are read from the second-level cache, which is faster than
// they are unpacked.
constexpr int64_t kLeastNarrowedBytes = int64_t{2} << 20;
// Less is done before unpacking pays.
constexpr int64_t kLeastOfMany = int64_t{128} << 10;

}  // namespace

int RegionCall::result_index(const fx::Node& node) const {
  const auto at = std::find(result_nodes.begin(), result_nodes.end(), &node);
  return at == result_nodes.end() ? -1
                                  : static_cast<int>(at - result_nodes.begin());
}

int64_t extent_bytes(const Tensor& val) {
  if (val.numel() == 0) return 0;
  int64_t last = 0;
  for (int d = 0; d < val.dim(); ++d)
    last += (val.sizes()[d] - 1) * val.strides()[d];
  return (last + 1) * static_cast<int64_t>(val.item_size());
}

Placed PlanBuilder::allocate(const Tensor& val) {
  Buffer buffer;
  buffer.home = Home::arena;
  buffer.bytes = extent_bytes(val);
  program_.buffers.push_back(buffer);
  return {static_cast<int32_t>(program_.buffers.size() - 1), 0, val, {}};
}

Placed PlanBuilder::place_constant(const Tensor& tensor) {
  auto [entry, fresh] = constants_.try_emplace(tensor.id(), -1);
  if (fresh) {
    Buffer buffer;
    buffer.home = Home::constant;
    buffer.bytes = extent_bytes(tensor);
    buffer.index = static_cast<int32_t>(program_.constants.size());
    program_.constants.push_back(tensor);
    program_.buffers.push_back(buffer);
    entry->second = static_cast<int32_t>(program_.buffers.size() - 1);
  }
  const Tensor& kept =
      program_.constants[program_.buffers[entry->second].index];
  return {entry->second, 0,
          Tensor::meta(kept.sizes(), kept.dtype(), kept.strides()), kept};
}

namespace {

PackedWeight weight_of(const std::vector<Tensor>& pieces, bool batched) {
  PackedWeight weight;
  weight.batched = batched;
  if (batched) weight.key = "batch ";
  for (const Tensor& piece : pieces) {
    weight.key += memory_key(piece);
    weight.pieces.push_back({piece});
    weight.depth = piece.size(0);
    weight.columns = batched ? piece.size(1) : weight.columns + piece.size(1);
  }
  return weight;
}

}  // namespace

OperandRef PlanBuilder::pack(const std::vector<Tensor>& pieces, bool batched) {
  return place_packed(weight_of(pieces, batched));
}

bool PlanBuilder::is_narrowed(int64_t bytes) const {
  return bytes >= kLeastNarrowedBytes ||
         (bytes >= kLeastOfMany && weight_bytes_ > options_.cache_bytes);
}

OperandRef PlanBuilder::pack_for_few(const std::vector<Tensor>& pieces,
                                     int64_t rows, WeightFormat& format) {
  PackedWeight weight = weight_of(pieces, false);
  const int64_t bytes =
      packed_bytes(WeightFormat::f32, weight.depth, weight.columns,
                   tile_shape(options_.level).width());
  if (options_.codings && is_narrowed(bytes))
    weight.coding = options_.codings(weight, rows);
  format = weight.coding.format;
  if (format != WeightFormat::f32)
    weight.key = std::string(weight_format_name(format)) + " " + weight.key;
  return place_packed(std::move(weight));
}

OperandRef PlanBuilder::pack_winograd(const Tensor& weight, int64_t tile) {
  PackedWeight packed;
  packed.key = "winograd " + std::to_string(tile) + " " + memory_key(weight);
  packed.pieces.push_back({weight});
  packed.winograd_tile = tile;
  return place_packed(std::move(packed));
}

OperandRef PlanBuilder::place_packed(PackedWeight weight) {
  auto [entry, fresh] = packed_.try_emplace(weight.key, -1);
  if (fresh) {
    Buffer buffer;
    buffer.home = Home::packed;
    buffer.index = static_cast<int32_t>(program_.packed.size());
    program_.packed.push_back(std::move(weight));
    program_.buffers.push_back(buffer);
    entry->second = static_cast<int32_t>(program_.buffers.size() - 1);
  }
  return {entry->second, 0};
}

namespace {

// The reasons of the region's inputs, at the operands that lie in their buffers.
std::vector<passes::Apart> apart_of(const std::vector<OperandRef>& operands,
                                    const RegionCall& call) {
  std::vector<passes::Apart> apart;
  if (call.region.apart.empty()) return apart;
  size_t next = 0;
  for (const fx::Node* input : call.region.graph->placeholders()) {
    const passes::Apart why = call.region.apart[next++];
    if (why == passes::Apart::none) continue;
    const int32_t buffer = call.inputs.at(input).buffer;
    const auto at = std::find_if(
        operands.begin(), operands.end(),
        [&](const OperandRef& ref) { return ref.buffer == buffer; });
    if (at == operands.end()) continue;
    apart.resize(operands.size(), passes::Apart::none);
    apart[static_cast<size_t>(at - operands.begin())] = why;
  }
  return apart;
}

}  // namespace

void PlanBuilder::add_step(StepBody body, std::vector<OperandRef> operands,
                           const RegionCall& call) {
  Step step;
  step.body = std::move(body);
  step.operands = std::move(operands);
  step.label = call.label;
  step.nodes = call.region.nodes;
  step.apart = apart_of(step.operands, call);
  program_.steps.push_back(std::move(step));
}

}  // namespace fxjit::program
